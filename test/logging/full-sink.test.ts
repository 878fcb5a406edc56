/** Log lines whose reader does not read are queued: the same number in each outage, and the others are counted. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Log } from "usher-http";
import { batch, byLines, useSink } from "../../src/logging/writer.ts";
import { messages } from "../support/logs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("is filled, emptied, and filled again with as many lines", () => {
  let isOpen = true;
  let taken = 0;
  const sink = batch({
    format: "json",
    write: (bytes) => {
      if (!isOpen) return 0;
      for (const byte of bytes) if (byte === 0x0a) taken++;
      return bytes.byteLength;
    },
    pause: () => {},
  });
  const line = "x".repeat(9999);
  const kept: number[] = [];
  for (let round = 0; round < 3; round++) {
    isOpen = false;
    for (let i = 0; i < 2000; i++) sink.write(line);
    vi.advanceTimersByTime(100);
    isOpen = true;
    taken = 0;
    vi.advanceTimersByTime(100);
    kept.push(taken);
    expect(messages("warn").map(String).at(-1)).toMatch(new RegExp(`^dropped ${2000 - taken} lines`));
    expect(messages("warn")).toHaveLength(round + 1);
    // With enough space it drops none.
    for (let i = 0; i < 2000; i++) {
      sink.write(line);
      if (i % 10 === 0) vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(100);
    expect(taken).toBe((kept[round] as number) + 2000);
    expect(vi.getTimerCount()).toBe(0);
  }
  // 16 MiB, and the chunk that receives the newest lines.
  expect(kept[0]).toBeGreaterThan(16_777_216 / 10_000);
  expect(kept[0]).toBeLessThan(16_777_216 / 10_000 + 20);
  expect(new Set(kept).size).toBe(1);
});

it("queues nothing for a reader that is gone, and as many lines for a new one", () => {
  let reader: "reads" | "is full" | "is gone" = "reads";
  let taken = 0;
  const sink = batch({
    format: "json",
    write: (bytes) => {
      if (reader === "is gone") throw new Error("EPIPE");
      if (reader === "is full") return 0;
      for (const byte of bytes) if (byte === 0x0a) taken++;
      return bytes.byteLength;
    },
    pause: () => {},
  });
  for (let round = 0; round < 3; round++) {
    reader = "is full";
    // 10 MB: two rounds of them would be too many.
    for (let i = 0; i < 1000; i++) sink.write("x".repeat(9999));
    vi.advanceTimersByTime(100);
    reader = "is gone";
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBe(0);
  }
  reader = "reads";
  sink.write("again");
  vi.advanceTimersByTime(100);
  expect([taken, messages("warn")]).toEqual([1, []]);
});

it("waits with one timer, for any number of concurrent lines", () => {
  let writes = 0;
  const sink = batch({ format: "json", write: (bytes) => (writes++, bytes.byteLength) });
  const timers: number[] = [];
  for (let i = 0; i < 100; i++) {
    sink.write("x".repeat(9999));
    timers.push(vi.getTimerCount());
  }
  expect(writes).toBeGreaterThan(10);
  expect(timers).toEqual(Array.from({ length: 100 }, () => 1));
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
});

it("reports the number of dropped lines also when the process ends earlier", () => {
  let isOpen = false;
  const taken: string[] = [];
  const sink = batch({
    format: "json",
    write: (bytes) => {
      if (!isOpen) return 0;
      taken.push(new TextDecoder().decode(bytes));
      return bytes.byteLength;
    },
    pause: () => void (isOpen = true),
  });
  useSink(sink);
  Log.setup();
  for (let i = 0; i < 2000; i++) sink.write("x".repeat(9999));
  sink.finish();
  useSink({ write: (line) => console.error(line), format: "json" });
  const lines = taken.join("").split("\n");
  const kept = lines.filter((line) => line.startsWith("x")).length;
  expect(kept).toBeLessThan(2000);
  expect(lines.slice(kept)).toEqual([expect.stringContaining(`dropped ${2000 - kept} lines`), ""]);
});

it("writes what another listener of the exit logs, and waits once for a reader that does not read", () => {
  let [isOpen, taken, pauses] = [true, "", 0];
  const sink = batch({
    format: "json",
    write: (bytes) => {
      if (isOpen) taken += new TextDecoder().decode(bytes);
      return isOpen ? bytes.byteLength : 0;
    },
    pause: (ms) => void (pauses++, vi.advanceTimersByTime(ms)),
  });
  sink.write("before");
  sink.finish();
  sink.write("at the exit");
  sink.write("x".repeat(100_000));
  sink.write("last");
  expect(taken).toBe(`before\nat the exit\n${"x".repeat(100_000)}\nlast\n`);
  isOpen = false;
  sink.write("unread");
  const waited = pauses;
  for (let i = 0; i < 10; i++) sink.write("unread too");
  expect([waited > 0, pauses]).toEqual([true, waited]);
});

it("writes many lines at once again where the process runs on, as after an error on Deno that the program takes", () => {
  const writes: string[] = [];
  const write = (bytes: Uint8Array) => (writes.push(new TextDecoder().decode(bytes)), bytes.byteLength);
  const sink = batch({ format: "json", write });
  sink.finish();
  sink.write("one");
  vi.advanceTimersByTime(1);
  for (const line of ["two", "three"]) sink.write(line);
  vi.advanceTimersByTime(100);
  expect(writes).toEqual(["one\n", "two\nthree\n"]);
});

it("holds of a long line that waits its own bytes alone", () => {
  let held = 0;
  const sink = batch({ format: "json", write: ({ buffer, byteLength }) => ((held = buffer.byteLength), byteLength) });
  sink.write("x".repeat(100_000));
  vi.advanceTimersByTime(100);
  expect(held).toBe(100_001);
});

it("writes to a pipe whole lines that it takes at once, and continues where it was full", () => {
  const lines = Array.from({ length: 500 }, (_, i) => `${i} ${"x".repeat(i)}`);
  lines.splice(100, 0, "long ".repeat(2000));
  let [room, written] = [0, ""];
  const sizes: number[] = [];
  const write = byLines((bytes) => {
    if (room-- <= 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    sizes.push(bytes.byteLength);
    written += new TextDecoder().decode(bytes);
    expect(written.endsWith("\n")).toBe(true);
    return bytes.byteLength;
  });
  const sink = batch({ format: "json", write });
  for (const line of lines) sink.write(line);
  for (let i = 0; i < 100; i++) {
    room = i % 3;
    vi.advanceTimersByTime(10);
  }
  expect(written).toBe(lines.map((line) => `${line}\n`).join(""));
  expect(sizes.filter((size) => size > 4096)).toEqual([10_001]);
  expect(sizes.length).toBeLessThan(60);
});
