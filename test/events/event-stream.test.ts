/** An event stream that writes itself to a listener's sink (contract 6.7; facts 6.2). */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StreamSink } from "../../src/events/stream.ts";
import { EventStream } from "../../src/events/event-stream.ts";
import { PulledStream } from "../../src/events/readable.ts";
import { gate } from "../support/gate.ts";
import { OpenStream } from "../../src/events/open-stream.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const noop = (): void => {};

/** A connection that accepts this number of chunks, and no more until the test allows it. */
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

  hasEnded = false;
  end(): void {
    this.hasEnded = true;
  }

  fail(): void {}
}

it("waits once for space for a keep-alive, as for an event, so that a client that does not read is noticed", async () => {
  const sink = new Sink(3);
  const stream = new EventStream(() => new Promise(() => {}), undefined, 1000);
  stream.writeTo(sink);
  await vi.advanceTimersByTimeAsync(2000);
  expect([sink.written.length, sink.waiting.length]).toEqual([2, 0]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([sink.written.length, sink.waiting.length]).toEqual([3, 1]);
  // There is space again: it continues.
  sink.left = 2;
  sink.waiting.shift()?.(true);
  await vi.advanceTimersByTimeAsync(1000);
  expect([sink.written.length, sink.waiting.length]).toEqual([4, 0]);
  await stream.return();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([sink.written.length, vi.getTimerCount()]).toEqual([4, 0]);
});

it("that was stopped before it began ends its answer without running its producer", () => {
  const sink = new Sink(3);
  const producer = vi.fn(() => Promise.resolve());
  const stream = new EventStream(producer, undefined, 1000);
  stream.stop();
  stream.writeTo(sink);
  expect([sink.hasEnded, sink.written, producer.mock.calls.length, vi.getTimerCount()]).toEqual([true, [], 0, 0]);
});

describe("the first bytes of a stream that the runtime pulls", () => {
  const pulled = (parts: AsyncIterable<Uint8Array>): ReadableStreamDefaultReader<Uint8Array> => {
    const quiet = {
      stopsAtLength: false,
      making: noop,
      made: noop,
      cancelled: () => "client gone" as const,
      ended: noop,
    } as const;
    const opening = new TextEncoder().encode(":\n\n");
    return new PulledStream(new OpenStream({ kind: "stream", parts }), quiet, opening).readable.getReader();
  };
  const textOf = async (reading: Promise<{ readonly value?: Uint8Array | undefined }>): Promise<string> => {
    await vi.advanceTimersByTimeAsync(1);
    return new TextDecoder().decode((await reading).value);
  };

  it("are sent once, before a slow first chunk, and not before each chunk", async () => {
    const ready = gate();
    const reader = pulled(
      (async function* () {
        await ready.passed;
        yield new TextEncoder().encode("one");
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield new TextEncoder().encode("two");
      })(),
    );
    expect(await textOf(reader.read())).toBe(":\n\n");
    const first = reader.read();
    await vi.advanceTimersByTimeAsync(10);
    ready.open();
    expect([await textOf(first), await textOf(reader.read())]).toEqual(["one", "two"]);
  });

  it("are not sent when the first chunk is ready at once", async () => {
    async function* parts(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode("one");
    }
    expect(await textOf(pulled(parts()).read())).toBe("one");
  });
});
