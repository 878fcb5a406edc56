/** Limits that a socket checks itself on a runtime that does not: no backpressure, own pings, no message limit. */
import { describe, expect, it, vi } from "vitest";
import { error } from "../../src/result.ts";
import { text } from "../../src/sockets/socket.ts";
import { OpenSocket } from "../../src/sockets/open-socket.ts";
import type { SocketListener, SocketTransport } from "../../src/exchange/transport.ts";

/** A runtime's socket, and the calls that it received. */
class Link implements SocketTransport {
  heard: SocketListener | undefined = undefined;
  readonly closes: (readonly [code: number | undefined, reason: string])[] = [];
  isTerminated = false;
  /** The result of a send. */
  room: boolean | Promise<boolean> = true;

  start(heard: SocketListener): void {
    this.heard = heard;
  }
  send(): boolean | Promise<boolean> {
    return this.room;
  }
  close(code: number | undefined, reason: string): void {
    this.closes.push([code, reason]);
  }
  terminate(): void {
    this.isTerminated = true;
    this.heard?.lost("the connection ended");
  }
}

class Paused extends Link {
  isPaused = false;
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
}

class Pinged extends Link {
  pings = 0;
  ping(): void {
    this.pings++;
  }
}

class Moving extends Pinged {
  moved = 0;
  progress(): number {
    return this.moved;
  }
}

function opened(link: Link, setting: { readonly maxMessage?: number; readonly keepAliveMs?: number } = {}) {
  const { maxMessage = 1000, keepAliveMs = 15_000 } = setting;
  const warn = (): void => {};
  return new OpenSocket<string, string>(link, { client: text, server: text, maxMessage, keepAliveMs, warn });
}

describe("a socket: messages", () => {
  it.each([
    ["of letters", "x".repeat(10), "x".repeat(11)],
    ["of characters of two bytes", "é".repeat(5), `${"é".repeat(5)}x`],
    ["of characters of three", `${"€".repeat(3)}x`, `${"€".repeat(3)}xx`],
  ])("accepts a message %s up to its limit, and closes with 1009 for a longer one", async (_of, fits, isLonger) => {
    const link = new Link();
    const socket = opened(link, { maxMessage: 10 });
    link.heard?.message(fits);
    expect(await socket.receive()).toEqual({ ok: true, value: fits });
    expect(link.closes).toEqual([]);
    link.heard?.message(isLonger);
    expect(link.closes).toEqual([[1009, "a message longer than 10 bytes"]]);
  });

  it("queues one megabyte next to a message when it cannot stop reading, and closes with 1013 above it", async () => {
    const link = new Link();
    const socket = opened(link, { maxMessage: 65_536 });
    for (let i = 0; i < 16; i++) link.heard?.message("x".repeat(65_536));
    expect(link.closes).toEqual([]);
    // A message that its handler has read frees its space.
    await socket.receive();
    link.heard?.message("x".repeat(65_536));
    expect(link.closes).toEqual([]);
    link.heard?.message("x".repeat(65_536));
    expect(link.closes).toEqual([[1013, "more messages than this socket can hold"]]);
    link.heard?.message("dropped");
    link.heard?.closed(1013, "");
    let taken = 0;
    for (let received = await socket.receive(); received.ok; received = await socket.receive()) taken++;
    expect(taken).toBe(17);
  });

  it("drops messages after its end, when the runtime cannot end the connection", async () => {
    const link = new Link();
    const socket = opened(link);
    link.heard?.message("before");
    link.heard?.lost("nothing written was taken for 30s");
    link.heard?.message("after");
    expect(await socket.receive()).toEqual({ ok: true, value: "before" });
    expect(await socket.receive()).toEqual(error({ kind: "lost", detail: "nothing written was taken for 30s" }));
  });

  it("counts empty messages too", () => {
    const link = new Link();
    opened(link, { maxMessage: 1 });
    for (let i = 0; i < 20_000; i++) link.heard?.message("");
    expect(link.closes).toHaveLength(1);
  });
});

describe("a socket: its end", () => {
  it("on a runtime that pings by itself does not wait for a pong", () => {
    vi.useFakeTimers();
    const link = new Link();
    opened(link, { keepAliveMs: 100 });
    vi.advanceTimersByTime(1000);
    expect(link.isTerminated).toBe(false);
    const other = new Pinged();
    const socket = opened(other, { keepAliveMs: 100 });
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    expect([other.pings, other.isTerminated]).toEqual([1, true]);
    // The reason is the client's silence, not the close that the server then sent.
    return expect(socket.ended).resolves.toEqual({ kind: "lost", detail: "nothing heard for 0.2s" });
  });

  it("is not caused by silence while a long message is sent or received", async () => {
    vi.useFakeTimers();
    const link = new Moving();
    const socket = opened(link, { keepAliveMs: 100 });
    for (let i = 0; i < 10; i++) {
      link.moved++;
      vi.advanceTimersByTime(100);
    }
    expect(link.isTerminated).toBe(false);
    // Twice the time: data may move in large steps.
    vi.advanceTimersByTime(100);
    expect(link.isTerminated).toBe(false);
    vi.advanceTimersByTime(100);
    vi.useRealTimers();
    expect(link.isTerminated).toBe(true);
    expect(await socket.ended).toEqual({ kind: "lost", detail: "nothing heard for 0.2s" });
  });

  it("after a message did not fit has that as its reason, when it is known", async () => {
    const link = new Link();
    const socket = opened(link);
    link.room = Promise.resolve(false);
    const sent = socket.send("x");
    await Promise.resolve();
    link.heard?.lost("nothing written was taken");
    expect(await sent).toEqual(error({ kind: "lost", detail: "nothing written was taken" }));
  });

  it("that it started itself has its own code and reason, sent once, whatever the client answers", async () => {
    const link = new Link();
    const socket = opened(link);
    const closed = socket.close({ code: 4001, reason: "enough" });
    // As every socket does after its handler has returned.
    const again = socket.close();
    link.heard?.closed(4001, "");
    await Promise.all([closed, again]);
    expect(link.closes).toEqual([[4001, "enough"]]);
    expect(await socket.receive()).toEqual(error({ kind: "closed", code: 4001, reason: "enough" }));
  });
});

describe("a socket: its close, and its client's silence", () => {
  it("does not close again after its client closed it", async () => {
    const link = new Link();
    const socket = opened(link);
    link.heard?.closed(4001, "theirs");
    await socket.close({ code: 4002 });
    expect(link.closes).toEqual([]);
    expect(await socket.receive()).toEqual(error({ kind: "closed", code: 4001, reason: "theirs" }));
  });

  it.each(["a close", "a loss"])("ends every receive that waits, by %s", async (how) => {
    const link = new Link();
    const socket = opened(link);
    const waiting = [socket.receive(), socket.receive(), socket.receive()];
    if (how === "a close") link.heard?.closed(4001, "theirs");
    else link.heard?.lost("gone");
    const kinds = (await Promise.all(waiting)).map((read) => (read.ok ? "message" : read.error.kind));
    expect(new Set(kinds)).toEqual(new Set([how === "a close" ? "closed" : "lost"]));
    expect(kinds.length).toBe(3);
  });

  it("reads on once it closes, as the client's answer is behind messages that no handler takes", async () => {
    const link = new Paused();
    const socket = opened(link);
    link.heard?.message("one");
    expect(link.isPaused).toBe(true);
    const closed = socket.close();
    expect(link.isPaused).toBe(false);
    link.heard?.closed(1000, "");
    await closed;
  });

  it("stays open while its client answers pings, and ends at the first ping without an answer", () => {
    vi.useFakeTimers();
    const link = new Pinged();
    opened(link, { keepAliveMs: 100 });
    for (let pings = 1; pings <= 5; pings++) {
      vi.advanceTimersByTime(100);
      expect([link.pings, link.isTerminated]).toEqual([pings, false]);
      link.heard?.frame();
    }
    vi.advanceTimersByTime(200);
    expect([link.pings, link.isTerminated]).toEqual([6, true]);
    vi.useRealTimers();
  });

  it("ends one second after a close that is not answered", async () => {
    vi.useFakeTimers();
    const link = new Link();
    const closed = opened(link).close();
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    await closed;
    expect(link.isTerminated).toBe(true);
  });
});
