/** The body of a standard `Request` in the listeners of Bun and Deno: each wait for it has a time limit, and so has a drain. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isFailure } from "../../src/inputs/body-source.ts";
import { Deadlines } from "../../src/server/deadlines.ts";
import { timedBodyOf } from "../../src/server/timed-body.ts";
import type { TimedBody } from "../../src/server/timed-body.ts";
import { played } from "../models/seeds.ts";

beforeEach(() => void vi.useFakeTimers());
let sweep: Deadlines;
afterEach(() => {
  sweep.stop();
  vi.useRealTimers();
});

/** A body of a request, and the chunks that its client sends. */
function sent(length: number | undefined, pieceBytes = 0) {
  sweep = new Deadlines({ bodyTimeoutMs: 1000, minBodyRate: 100, sendTimeoutMs: 1000, minSendRate: 100 });
  sweep.start();
  let wire: ReadableStreamDefaultController<Uint8Array> | undefined;
  const cancelled = vi.fn();
  const stream = new ReadableStream<Uint8Array>({ start: (to) => void (wire = to), cancel: cancelled });
  const framing = length === undefined ? ["transfer-encoding", "chunked"] : ["content-length", String(length)];
  const headers = new Headers([framing as [string, string]]);
  const request = new Request("http://h/", { method: "POST", headers, body: stream, duplex: "half" });
  const reading = { deadlines: sweep, pieceBytes, unread: 0 };
  const body = timedBodyOf(request, "POST", reading) as TimedBody;
  return {
    body,
    reading,
    cancelled,
    send: (bytes: number) => wire?.enqueue(new Uint8Array(bytes)),
    end: () => wire?.close(),
    breaks: () => wire?.error(new Error("lost")),
  };
}

/** The result of a read, as a number or a word. */
const told = (read: Awaited<ReturnType<TimedBody["read"]>>) =>
  read === undefined ? "end" : "kind" in read ? read.detail : read.byteLength;

describe("a slow body", () => {
  it.each([
    ["at its rate", 100, 60, "end"],
    ["below its rate", 80, 60, "the body stopped arriving"],
  ])("%s: read for as long as it arrives at that rate", async (_how, bytes, seconds, ended) => {
    const { body, reading, send, end } = sent(undefined);
    let last: unknown = 0;
    for (let second = 0; second < seconds && typeof last === "number"; second++) {
      const read = body.read();
      await vi.advanceTimersByTimeAsync(1000);
      send(bytes);
      last = told(await read);
    }
    if (last === bytes) end();
    expect(told(await body.read())).toBe(ended);
    // No read waits for it any more.
    await vi.advanceTimersByTimeAsync(60_000);
    expect([reading.unread, body.isReading]).toEqual([0, false]);
  });

  it("is not timed while no code reads it", async () => {
    const { body, send, end } = sent(undefined);
    send(10);
    expect(told(await body.read())).toBe(10);
    await vi.advanceTimersByTimeAsync(3_600_000);
    send(10);
    expect(told(await body.read())).toBe(10);
    end();
    expect(told(await body.read())).toBe("end");
  });
});

describe("the rest of a body", () => {
  it.each([
    ["nothing was read of it", 0, 1000],
    ["a part was", 1, 900],
    ["three were", 3, 700],
  ])("where %s", async (_what, parts, left) => {
    const { body, send } = sent(1000);
    for (let i = 0; i < parts; i++) {
      send(100);
      await body.read();
    }
    expect(body.left).toBe(left);
  });

  it("has no time limit after it arrived, and no number without a length", async () => {
    const whole = sent(100);
    whole.send(100);
    whole.end();
    for (let i = 0; i < 2; i++) await whole.body.read();
    expect(whole.body.left).toBe(0);
    expect(sent(undefined).body.left).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ["is dropped up to its limit", 0],
    ["is dropped up to its limit behind what was read", 5],
  ])("%s", async (_what, parts) => {
    const { body, send } = sent(undefined);
    for (let i = 0; i < parts; i++) {
      send(100);
      await body.read();
    }
    const dropped = vi.fn();
    void body.drop(250, 1000).then(dropped);
    for (let i = 0; i < 2; i++) {
      send(100);
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(dropped).not.toHaveBeenCalled();
    send(100);
    await vi.advanceTimersByTimeAsync(0);
    expect(dropped).toHaveBeenCalledTimes(1);
    // Its time limit has ended with it.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(body.isLost).toBe(false);
  });

  it("is drained for at most its time limit", async () => {
    const { body, send, cancelled, reading } = sent(undefined);
    const dropped = vi.fn();
    void body.drop(250, 500).then(dropped);
    send(100);
    await vi.advanceTimersByTimeAsync(400);
    expect(dropped).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(300);
    expect(dropped).toHaveBeenCalledTimes(1);
    // The pending read is awaited, and its chunk is dropped as well.
    expect([cancelled.mock.calls.length, reading.unread]).toEqual([0, 1]);
    send(100);
    await vi.advanceTimersByTimeAsync(0);
    expect([cancelled.mock.calls.length, reading.unread]).toEqual([1, 0]);
  });
});

describe("the rest of an upload whose client sends on", () => {
  it.each([
    ["is dropped for longer than the time limit, to its end", 100_000, 30, false],
    ["is given up after five times the limit", 100_000, 80, true],
    ["is given up where less than 64 KiB come in that time", 3000, 30, true],
  ])("%s", async (_what, bytes, parts, isLost) => {
    const { body, send, end } = sent(undefined);
    const dropped = vi.fn();
    void body.drop(2 ** 24, 500).then(dropped);
    for (let i = 0; i < parts && dropped.mock.calls.length === 0; i++) {
      send(bytes);
      await vi.advanceTimersByTimeAsync(50);
    }
    if (!isLost) end();
    await vi.advanceTimersByTimeAsync(0);
    expect([dropped.mock.calls.length, body.isLost]).toEqual([1, isLost]);
  });
});

describe("a body that is dropped", () => {
  const late = "the request was answered before its body was read";

  it("is not read by others meanwhile, whose end would make it look complete", async () => {
    const { body, send, end } = sent(undefined);
    const dropped = vi.fn();
    void body.drop(1000, 500).then(dropped);
    expect(told(await body.read())).toBe(late);
    send(100);
    await vi.advanceTimersByTimeAsync(0);
    expect(told(await body.read())).toBe(late);
    expect(dropped).not.toHaveBeenCalled();
    end();
    await vi.advanceTimersByTimeAsync(0);
    expect(dropped).toHaveBeenCalledTimes(1);
    expect([told(await body.read()), body.isLost, body.left]).toEqual([late, false, 0]);
  });

  it("fails the read that waits", async () => {
    const { body, reading, send, end } = sent(100);
    const read = body.read();
    const dropped = vi.fn();
    void body.drop(1000, 500).then(dropped);
    expect(told(await read)).toBe(late);
    send(100);
    end();
    await vi.advanceTimersByTimeAsync(0);
    expect([dropped.mock.calls.length, reading.unread]).toEqual([1, 0]);
  });

  it.each([
    ["up to a limit", (body: TimedBody) => body.release(), late],
    ["until it breaks", (_body: TimedBody, breaks: () => void) => breaks(), "the body ended early"],
  ])("%s fails a read after it", async (_how, ends, detail) => {
    const { body, send, breaks } = sent(undefined);
    void body.drop(50, 500);
    send(100);
    await vi.advanceTimersByTimeAsync(0);
    void body.drop(50, 500);
    ends(body, breaks);
    await vi.advanceTimersByTimeAsync(0);
    expect([told(await body.read()), body.isReading]).toEqual([detail, false]);
  });
});

describe("a body whose request is answered", () => {
  it("fails the pending read and each later one, and is cancelled after the pending one", async () => {
    const { body, reading, cancelled, send } = sent(100);
    const read = body.read();
    body.release();
    const late = "the request was answered before its body was read";
    expect([told(await read), told(await body.read()), body.isReading]).toEqual([late, late, false]);
    expect(cancelled).not.toHaveBeenCalled();
    send(10);
    await vi.advanceTimersByTimeAsync(0);
    expect(cancelled).toHaveBeenCalledOnce();
    expect(reading.unread).toBe(0);
  });

  it("is cancelled at once without a pending read", async () => {
    const { body, cancelled, send } = sent(100);
    send(10);
    expect(told(await body.read())).toBe(10);
    body.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(cancelled).toHaveBeenCalledOnce();
  });

  it("that breaks ends the read of it, which waits no more", async () => {
    const { body, reading, breaks } = sent(100);
    const read = body.read();
    expect(reading.unread).toBe(1);
    breaks();
    expect(told(await read)).toBe("the body ended early");
    expect(reading.unread).toBe(0);
  });

  it("is unchanged if nothing of it was read", async () => {
    const { body, send } = sent(100);
    body.release();
    expect(body.left).toBe(100);
    send(100);
    expect(told(await body.read())).toBe(100);
  });
});

it("a body that other code has read is reported as unreadable", async () => {
  sweep = new Deadlines({ bodyTimeoutMs: 1000, minBodyRate: 100, sendTimeoutMs: 1000, minSendRate: 100 });
  const request = new Request("http://h/", { method: "POST", headers: { "content-length": "1" }, body: "a" });
  request.body?.getReader();
  const body = timedBodyOf(request, "POST", { deadlines: sweep, pieceBytes: 0, unread: 0 }) as TimedBody;
  const read = await body.read();
  expect([read, await body.read()]).toEqual([{ kind: "unreadable", detail: expect.any(String) }, read]);
  expect(body.isLost).toBe(true);
});

const steps = ["read", "whole", "drop", "send", "send nothing", "end", "break", "wait", "release", "cut"] as const;

it("a body gives each reader what it asks for, once, in any sequence", async () => {
  const anyPlay = fc.asyncProperty(
    fc.array(fc.constantFrom(...steps), { maxLength: 16 }),
    fc.constantFrom(undefined, 20, 40),
    fc.constantFrom(0, 100),
    async (order, length, pieceBytes) => {
      const { body, reading, cancelled, send, end, breaks } = sent(length, pieceBytes);
      let [asked, answered] = [0, 0];
      let [hasDropped, isOver, isWhole] = [false, false, false];
      const wrong: string[] = [];
      const gets = (read: Awaited<ReturnType<TimedBody["read"]>>): void => {
        answered++;
        if (read === undefined && !isWhole) wrong.push("an end");
        if (read !== undefined && !isFailure(read) && read.byteLength === 0) wrong.push("an empty part");
      };
      const wire = (act: () => void): void => {
        if (!isOver && cancelled.mock.calls.length === 0) act();
      };
      const acts: { readonly [step in (typeof steps)[number]]: () => void } = {
        read() {
          asked++;
          void body.read().then(gets);
        },
        whole() {
          asked++;
          body.whole(1000, { take: () => true, done: () => answered++ });
        },
        // A listener drops a body once.
        drop() {
          if (hasDropped) return;
          hasDropped = true;
          asked++;
          void body.drop(25, 500).then(() => answered++);
        },
        send: () => wire(() => send(10)),
        "send nothing": () => wire(() => send(0)),
        end: () =>
          wire(() => {
            isOver = true;
            isWhole = true;
            end();
          }),
        break: () =>
          wire(() => {
            isOver = true;
            breaks();
          }),
        wait: () => vi.advanceTimersByTime(700),
        release: () => body.release(),
        cut: () => sweep.cut(),
      };
      for (const step of order) {
        acts[step]();
        await vi.advanceTimersByTimeAsync(0);
      }
      body.release();
      acts.end();
      await vi.advanceTimersByTimeAsync(0);
      // No deadline runs any more.
      await vi.advanceTimersByTimeAsync(60_000);
      sweep.stop();
      expect([answered, reading.unread, body.isReading, wrong]).toEqual([asked, 0, false, []]);
    },
  );
  await fc.assert(anyPlay, played(300));
});
