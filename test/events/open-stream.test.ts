/** A streamed body while it is sent: whatever ends it first, it ends once, its producer is stopped, and its length is kept. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OpenStream } from "../../src/events/open-stream.ts";
import { PulledStream } from "../../src/events/readable.ts";
import type { StreamEnd, StreamRequest } from "../../src/events/stream.ts";
import { gate } from "../support/gate.ts";
import { played } from "../models/seeds.ts";

const noop = (): void => {};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How a body ended, and whether its producer has left. */
class Told implements StreamRequest {
  readonly ends: (readonly [StreamEnd, unknown])[] = [];
  stopped = 0;
  left = 0;
  undeclared = noop;

  run<A>(work: () => A): A {
    return work();
  }
  producing(over: Promise<void>): void {
    this.stopped++;
    over.then(() => this.left++, noop);
  }
  ended(how: StreamEnd, thrown?: unknown): void {
    this.ends.push([how, thrown]);
  }
}

const raised = new Error("s3cret");

/** Parts of these lengths, each after its gate; it raises at the end where `fails`. */
async function* made(lengths: readonly number[], fails: boolean, ready: Promise<unknown>): AsyncGenerator<Uint8Array> {
  for (const length of lengths) {
    await ready;
    yield new Uint8Array(length);
  }
  await ready;
  if (fails) throw raised;
}

function sum(lengths: readonly number[]): number {
  return lengths.reduce((all, one) => all + one, 0);
}

/** How a body of this length ends, where its client takes all of it. */
function endOf(lengths: readonly number[], length: number | undefined, fails: boolean): StreamEnd {
  if (length !== undefined && sum(lengths) > length) return "long";
  if (fails) return "failed";
  return length !== undefined && sum(lengths) < length ? "short" : "finished";
}

/** Takes the parts as a listener does that writes, and as one whose runtime pulls. Each answers the bytes that were sent. */
const senders: { readonly [name: string]: (stream: OpenStream) => Promise<number> } = {
  written: async (stream) => {
    let bytes = 0;
    stream.sentBy({ ended: noop });
    await stream.sendTo((part) => {
      bytes += part.byteLength;
      return true;
    });
    return bytes;
  },
  "written by a client that is awaited": async (stream) => {
    let bytes = 0;
    await stream.sendTo(async (part) => {
      await turn();
      bytes += part.byteLength;
      return true;
    });
    return bytes;
  },
  pulled: async (stream) => pulled(stream, undefined),
  "pulled in pieces": async (stream) => pulled(stream, 3),
};

async function pulled(stream: OpenStream, longestPart: number | undefined): Promise<number> {
  let bytes = 0;
  const events = {
    stopsAtLength: false,
    making: noop,
    made: noop,
    cancelled: () => "client gone" as const,
    ended: noop,
  };
  const { readable } = new PulledStream(stream, longestPart === undefined ? events : { ...events, longestPart });
  try {
    for await (const part of readable) bytes += part.byteLength;
  } catch {
    // It was cut.
  }
  return bytes;
}

describe.each(Object.keys(senders))("a body that is %s", (name) => {
  const send = senders[name] as (stream: OpenStream) => Promise<number>;
  const bodies = fc.record({
    lengths: fc.array(fc.nat(8), { maxLength: 4 }),
    length: fc.option(fc.nat(20), { nil: undefined }),
    fails: fc.boolean(),
  });

  it("has no more bytes than its length, and one end, by what it made", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async ({ lengths, length, fails }) => {
        const told = new Told();
        const parts = made(lengths, fails, Promise.resolve());
        const stream = new OpenStream({ kind: "stream", parts, ...(length === undefined ? {} : { length }) }, told);
        const bytes = await send(stream);
        await turn();
        const how = endOf(lengths, length, fails);
        expect(told.ends).toEqual([[how, how === "failed" ? raised : undefined]]);
        expect([stream.how, bytes]).toEqual([how, Math.min(sum(lengths), length ?? Infinity)]);
        expect([told.stopped, told.left]).toEqual(how === "finished" ? [0, 0] : [1, 1]);
      }),
      played(60),
    );
  });

  it.each<StreamEnd>(["client gone", "client stopped reading", "server stopped"])(
    "ends once as `%s` while a part is awaited, and what comes later is not sent",
    async (how) => {
      const told = new Told();
      const ready = gate();
      const stream = new OpenStream({ kind: "stream", parts: made([1, 2], true, ready.passed), length: 9 }, told);
      const sending = send(stream);
      await turn();
      stream.end(how);
      stream.end("failed", raised);
      expect(await sending).toBe(0);
      expect([told.ends, told.left]).toEqual([[[how, undefined]], 0]);
      ready.open();
      await turn();
      expect([told.ends.length, told.stopped, told.left]).toEqual([1, 1, 1]);
    },
  );
});

describe("the client of a body", () => {
  it("has the last word, also where its producer ends or raises after that is known", async () => {
    for (const fails of [false, true]) {
      const told = new Told();
      const stream = new OpenStream({ kind: "stream", parts: made([1], fails, Promise.resolve()) }, told);
      stream.sentBy({ lost: () => "client stopped reading", ended: noop });
      await stream.sendTo(() => true);
      expect(told.ends).toEqual([["client stopped reading", fails ? raised : undefined]]);
    }
  });

  it("may go while the end of a whole body is sent", async () => {
    const told = new Told();
    const stream = new OpenStream({ kind: "stream", parts: made([1], false, Promise.resolve()) }, told);
    expect(
      await stream.sendTo(
        () => true,
        async () => false,
      ),
    ).toEqual({ how: "client gone" });
    expect(told.ends).toEqual([["client gone", undefined]]);
  });

  it("gets no part where it has gone before the first one", async () => {
    const told = new Told();
    let began = false;
    const parts = (async function* () {
      began = true;
      yield new Uint8Array(1);
    })();
    const stream = new OpenStream({ kind: "stream", parts }, told);
    stream.end("client gone");
    expect(await stream.sendTo(() => true)).toEqual({ how: "client gone" });
    expect([began, told.ends, told.stopped]).toEqual([false, [["client gone", undefined]], 1]);
  });

  it("that raises at its end leaves the line of the request", () => {
    const told = new Told();
    const stream = new OpenStream({ kind: "stream", parts: made([], false, Promise.resolve()) }, told);
    stream.sentBy({
      ended: () => {
        throw raised;
      },
    });
    stream.finish();
    expect(told.ends).toEqual([["finished", undefined]]);
  });
});

it("a body that writes itself is stopped where it ended before it could be", () => {
  const told = new Told();
  let cancels = 0;
  const writeTo = (sink: { end(): void; fail(thrown: unknown): void }): { cancel(): void } => {
    sink.fail(raised);
    return { cancel: () => void cancels++ };
  };
  const stream = new OpenStream({ kind: "stream", parts: made([], false, Promise.resolve()), writeTo }, told);
  stream.writeTo({
    write: () => true,
    room: async () => true,
    end: noop,
    fail: (thrown) => stream.end("failed", thrown),
  });
  expect([told.ends, cancels]).toEqual([[["failed", raised]], 1]);
});
