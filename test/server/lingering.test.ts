/** How long a client that sends behind the last response of its connection is read (RFC 9112 §9.6). */
import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { Lingering, discardLimit, lingerBytes, lingerOn } from "../../src/server/lingering.ts";

/** The seconds that a client gets that sends these bytes in each of them. */
function secondsOf(bytesInSecond: readonly number[]): number {
  const lingering = new Lingering();
  let seconds = 0;
  for (const bytes of bytesInSecond) {
    seconds++;
    lingering.takes(bytes);
    if (!lingering.continues()) return seconds;
  }
  return Number.POSITIVE_INFINITY;
}

const fast = discardLimit + 1;

it.each<readonly [what: string, bytesInSecond: readonly number[], seconds: number]>([
  ["sends nothing", [0, 0], 1],
  ["sends little", [discardLimit, fast], 1],
  ["sends fast", [fast, fast, fast, fast, fast, fast], 5],
  ["stops", [fast, fast, 0, fast], 3],
  ["sends as fast as it can", Array<number>(6).fill(lingerBytes), 5],
])("a client that %s gets %j seconds", (_what, bytesInSecond, seconds) => {
  expect(secondsOf(bytesInSecond)).toBe(seconds);
});

it("reads 8 MiB in a second, and as much in the next one", () => {
  const lingering = new Lingering();
  for (let second = 0; second < 2; second++) {
    expect(lingering.takes(lingerBytes - 1)).toBe(true);
    expect(lingering.takes(1)).toBe(false);
    expect(lingering.continues()).toBe(true);
  }
});

/** A socket of `node:net`, as far as lingering goes: what happens to it is noted in order. */
class NotedSocket extends EventEmitter {
  readonly notes: string[] = [];
  readableEnded = false;
  writableFinished = false;
  /** What ends the second that runs; undefined if none does. */
  expire: (() => void) | undefined = undefined;

  constructor() {
    super();
    // Of the parser.
    this.on("data", () => this.notes.push("parsed"));
  }

  linger(): void {
    lingerOn(this, (expire) => {
      this.notes.push("waits");
      this.expire = expire;
      return () => {
        this.notes.push("waits no more");
        this.expire = undefined;
      };
    });
  }

  end(): void {
    this.notes.push("ended");
  }

  pause(): void {
    this.notes.push("paused");
  }

  resume(): void {
    this.notes.push("resumed");
    this.emit("resume");
  }

  destroy(): void {
    this.notes.push("destroyed");
  }

  sends(byteLength: number): void {
    this.emit("data", { byteLength });
  }

  /** The notes since the last call. */
  noted(): readonly string[] {
    return this.notes.splice(0);
  }
}

describe("a connection that is closed in two steps", () => {
  const lingering = (given: Partial<NotedSocket> = {}): NotedSocket => {
    const socket = Object.assign(new NotedSocket(), { writableFinished: true, ...given });
    socket.linger();
    return socket;
  };
  const began = ["waits", "ended", "paused", "resumed"];

  it("is destroyed after a second in which its client sends little, of which the parser sees nothing", () => {
    const socket = lingering();
    socket.sends(100);
    expect(socket.noted()).toEqual(began);
    socket.expire?.();
    expect(socket.noted()).toEqual(["waits no more", "destroyed"]);
  });

  it("is destroyed after five seconds in which its client sends on", () => {
    const socket = lingering();
    expect(socket.noted()).toEqual(began);
    for (let second = 1; second < 5; second++) {
      socket.sends(fast);
      socket.expire?.();
      expect(socket.noted()).toEqual(["waits", "resumed"]);
    }
    socket.sends(fast);
    socket.expire?.();
    expect(socket.noted()).toEqual(["waits no more", "destroyed"]);
  });

  it("reads no more than 8 MiB in a second", () => {
    const socket = lingering();
    socket.sends(lingerBytes - 1);
    expect(socket.noted()).toEqual(began);
    socket.sends(1);
    expect(socket.noted()).toEqual(["paused"]);
  });

  it.each(["end", "close"])("is destroyed at once with the %s of its client's side", (event) => {
    const socket = lingering();
    socket.emit(event);
    expect(socket.noted()).toEqual([...began, "waits no more", "destroyed"]);
  });

  it("is destroyed at once if its client's side has ended before", () => {
    expect(lingering({ readableEnded: true }).noted()).toEqual([...began, "waits no more", "destroyed"]);
  });

  it("is destroyed once its response is written", () => {
    const socket = lingering({ writableFinished: false });
    socket.emit("end");
    expect(socket.noted()).toEqual([...began, "waits no more"]);
    socket.emit("finish");
    expect(socket.noted()).toEqual(["destroyed"]);
  });
});
