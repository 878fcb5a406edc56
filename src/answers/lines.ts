import { isTaken, take } from "../events/stream.ts";
import type { StreamBody } from "../events/stream.ts";
import { awaitErrors, iteratorOf, letGo } from "../node-stream.ts";
import { InvalidAnswerError, none } from "../refusals.ts";
import type { Answer } from "../exchange/answer.ts";

// nginx would otherwise hold lines back until it has many.
const headers = /* @__PURE__ */ Object.freeze([["x-accel-buffering", "no"]] as const);

/** The answer of JSON lines: 200; the values are asked for once its head is sent. */
export function linesAnswer(values: unknown, write: (value: unknown) => string): Answer {
  if (!isAsyncIterable(values)) throw new InvalidAnswerError("JSON lines without an async iterable of their values");
  awaitErrors(values);
  const body: StreamBody = {
    kind: "stream",
    parts: { [Symbol.asyncIterator]: () => new Lines(taken(values), write) },
    abandon: () => {
      if (!isTaken(values as AsyncIterable<Uint8Array>)) letGo(values);
    },
  };
  return { status: 200, contentType: "application/x-ndjson", headers, cookies: none, body, closes: false };
}

function isAsyncIterable(values: unknown): values is AsyncIterable<unknown> {
  return typeof (values as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] === "function";
}

/** Throws for values that another response sends. */
function taken(values: AsyncIterable<unknown>): AsyncIterator<unknown> {
  // A `ReadableStream` has no iterator yet.
  return take(values as AsyncIterable<Uint8Array>) ?? iteratorOf(values);
}

const end = { done: true, value: undefined } as const;
const encoder = /* @__PURE__ */ new TextEncoder();

/** The lines of values, a part each. */
class Lines implements AsyncIterator<Uint8Array, undefined> {
  readonly #values: AsyncIterator<unknown>;
  readonly #write: (value: unknown) => string;

  constructor(values: AsyncIterator<unknown>, write: (value: unknown) => string) {
    this.#values = values;
    this.#write = write;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { done, value } = await this.#values.next();
    if (done === true) return end;
    return { done: false, value: encoder.encode(`${this.#write(value)}\n`) };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#values.return?.();
    return end;
  }
}
