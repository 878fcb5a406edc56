/** What a socket bounds by itself, over a runtime that does not: one that reads on, that pings by itself, that has no limit. */
import { describe, expect, it, vi } from "vitest";
import { error } from "../../src/result.ts";
import { text } from "../../src/sockets/socket.ts";
import type { SocketListener, SocketTransport } from "../../src/sockets/socket.ts";
import { OpenSocket } from "../../src/sockets/open-socket.ts";

/** A runtime's socket, and what is done with it. */
class Link implements SocketTransport {
  heard: SocketListener | undefined = undefined;
  readonly closes: (readonly [code: number | undefined, reason: string])[] = [];
  isTerminated = false;
  /** What a send comes to. */
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
  ])("takes a message %s up to its limit, and closes with 1009 for a longer one", async (_of, fits, isLonger) => {
    const link = new Link();
    const socket = opened(link, { maxMessage: 10 });
    link.heard?.message(fits);
    expect(await socket.receive()).toEqual({ ok: true, value: fits });
    expect(link.closes).toEqual([]);
    link.heard?.message(isLonger);
    expect(link.closes).toEqual([[1009, "a message longer than 10 bytes"]]);
  });

  it("that cannot stop reading holds a megabyte beside a message, and closes with 1013 past it", async () => {
    const link = new Link();
    const socket = opened(link, { maxMessage: 65_536 });
    for (let i = 0; i < 16; i++) link.heard?.message("x".repeat(65_536));
    expect(link.closes).toEqual([]);
    // What its handler has taken makes room.
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

  it("keeps nothing of what comes after its end, where the runtime cannot end the connection", async () => {
    const link = new Link();
    const socket = opened(link);
    link.heard?.message("before");
    link.heard?.lost("nothing written was taken for 30s");
    link.heard?.message("after");
    expect(await socket.receive()).toEqual({ ok: true, value: "before" });
    expect(await socket.receive()).toEqual(error({ kind: "lost", detail: "nothing written was taken for 30s" }));
  });

  it("counts messages with nothing in them, too", () => {
    const link = new Link();
    opened(link, { maxMessage: 1 });
    for (let i = 0; i < 20_000; i++) link.heard?.message("");
    expect(link.closes).toHaveLength(1);
  });
});

describe("a socket: its end", () => {
  it("of a runtime that pings by itself waits for no pong", () => {
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
    // Told by what was seen of its client, and not by the end that was made of it.
    return expect(socket.ended).resolves.toEqual({ kind: "lost", detail: "nothing heard for 0.2s" });
  });

  it("is not that of a client to which a long message is on its way, or from which one comes", async () => {
    vi.useFakeTimers();
    const link = new Moving();
    const socket = opened(link, { keepAliveMs: 100 });
    for (let i = 0; i < 10; i++) {
      link.moved++;
      vi.advanceTimersByTime(100);
    }
    expect(link.isTerminated).toBe(false);
    // Twice without: what moves may do so in large steps.
    vi.advanceTimersByTime(100);
    expect(link.isTerminated).toBe(false);
    vi.advanceTimersByTime(100);
    vi.useRealTimers();
    expect(link.isTerminated).toBe(true);
    expect(await socket.ended).toEqual({ kind: "lost", detail: "nothing heard for 0.2s" });
  });

  it("that had no room for a message says why, once that is known", async () => {
    const link = new Link();
    const socket = opened(link);
    link.room = Promise.resolve(false);
    const sent = socket.send("x");
    await Promise.resolve();
    link.heard?.lost("nothing written was taken");
    expect(await sent).toEqual(error({ kind: "lost", detail: "nothing written was taken" }));
  });

  it("that it closed itself ended with its own code and reason, sent once, whatever it is answered", async () => {
    const link = new Link();
    const socket = opened(link);
    const closed = socket.close({ code: 4001, reason: "enough" });
    // As every socket is once its handler has returned.
    const again = socket.close();
    link.heard?.closed(4001, "");
    await Promise.all([closed, again]);
    expect(link.closes).toEqual([[4001, "enough"]]);
    expect(await socket.receive()).toEqual(error({ kind: "closed", code: 4001, reason: "enough" }));
  });
});

describe("a socket: its close, and its silence", () => {
  it("that its client closed is not closed again", async () => {
    const link = new Link();
    const socket = opened(link);
    link.heard?.closed(4001, "theirs");
    await socket.close({ code: 4002 });
    expect(link.closes).toEqual([]);
    expect(await socket.receive()).toEqual(error({ kind: "closed", code: 4001, reason: "theirs" }));
  });

  it("whose client answers pings and is silent otherwise stays open; the first that it does not answer is its last", () => {
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

  it("whose close is not answered is ended after a second", async () => {
    vi.useFakeTimers();
    const link = new Link();
    const closed = opened(link).close();
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    await closed;
    expect(link.isTerminated).toBe(true);
  });
});
