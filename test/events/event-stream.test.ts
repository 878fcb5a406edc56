/** An event stream that writes itself to a listener's sink (contract 6.7; facts 6.2). */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { StreamSink } from "../../src/events/stream.ts";
import { EventStream } from "../../src/events/event-stream.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A connection that takes so many parts and no more, until it is made to. */
class Sink implements StreamSink {
  readonly written: string[] = [];
  readonly waiting: ((hasRoom: boolean) => void)[] = [];
  left: number;

  constructor(left: number) {
    this.left = left;
  }

  write(part: Uint8Array): boolean {
    this.written.push(new TextDecoder().decode(part));
    return --this.left > 0;
  }

  room(): Promise<boolean> {
    return new Promise((resolve) => void this.waiting.push(resolve));
  }

  end(): void {}

  fail(): void {}
}

it("waits for room for a keep-alive as for an event, once, so that a client that takes nothing is noticed", async () => {
  const sink = new Sink(3);
  const stream = new EventStream(() => new Promise(() => {}), undefined, 1000);
  stream.writeTo(sink);
  await vi.advanceTimersByTimeAsync(2000);
  expect([sink.written.length, sink.waiting.length]).toEqual([2, 0]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([sink.written.length, sink.waiting.length]).toEqual([3, 1]);
  // There is room again: it goes on.
  sink.left = 2;
  sink.waiting.shift()?.(true);
  await vi.advanceTimersByTimeAsync(1000);
  expect([sink.written.length, sink.waiting.length]).toEqual([4, 0]);
  await stream.return();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([sink.written.length, vi.getTimerCount()]).toEqual([4, 0]);
});
