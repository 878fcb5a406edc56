import { shouldYield, yieldToEventLoop } from "../async.ts";
import { isBytes, ownBytes } from "../http/bytes.ts";
import { Unwritable } from "../refusals.ts";

/** The parts of a body, one by one. */
interface StreamParts extends AsyncIterable<Uint8Array> {
  /** Of parts whose iterator returns before what makes them has: settles once that has ended. Never rejects. */
  readonly produced?: Promise<void> | undefined;
}

/** A body made while it is sent. */
export interface StreamBody {
  readonly parts: StreamParts;
  /** Bytes, where it is known before: then the answer is framed by it, and never a byte longer. */
  readonly length?: number;
  /** Its content type for a client that asks which of its events are text. */
  readonly typeWithTextKinds?: string;
  /** What makes the parts of an async iterable, from when the answer is made ready to be sent. */
  readonly iterator?: AsyncIterator<Uint8Array> | undefined;
  /** The request it answers, from when the answer is made ready to be sent. */
  readonly request?: StreamRequest;
  /** Told of the request before its first part is asked for. Throws for a second request. */
  readonly begin?: (request: StreamRequest) => void;
  /** Has it write its parts itself as it makes them, where whoever sends it has a sink; `parts` is then not read. */
  readonly writeTo?: (sink: StreamSink) => StreamWriting;
}

/** What a body writes itself to: the parts are sent in the order they are written. */
export interface StreamSink {
  /** False where the client has to take some of it before there is room for more. */
  write(part: Uint8Array): boolean;
  /** Whether there came to be room again; false where the client went, or takes nothing. */
  room(): Promise<boolean>;
  /** All of it is written. */
  end(): void;
  /** What makes it raised. */
  fail(thrown: unknown): void;
}

/** A body that writes itself. */
export interface StreamWriting {
  /** Nobody reads any further. */
  cancel(): void;
}

/** How the sending of a streamed body ended. */
export type StreamEnd =
  | "finished"
  | "client gone"
  | "client stopped reading"
  /** The server stopped. */
  | "connection closed"
  /** Less, or more, than the length it was given. */
  | "short"
  | "long"
  /** What makes it raised. */
  | "failed";

/** What a streamed body, and whoever sends it, has of its request. */
export interface StreamRequest {
  /** Runs work as part of the request: what it logs carries the request's id. */
  run<A>(work: () => A): A;
  /** The application did what its route had not declared. */
  undeclared(did: string): void;
  /** Said once, by whoever sends it; with what was raised, where it failed. */
  ended(how: StreamEnd, thrown?: unknown): void;
}

/** A body's parts, one by one. */
export interface Parts {
  /** The next part, or undefined at the end. Rejects where what makes the parts fails, and for a part that is no bytes. */
  readonly next: () => Promise<Uint8Array | undefined>;
  /**
   * Nobody reads any further: what makes the parts is told, also while it is waited for. Resolves once it has ended: a
   * generator has left its `finally`, a producer of events has returned. Never rejects.
   */
  readonly cancel: () => Promise<void>;
}

// A stream, a generator: what was read for one answer has nothing left for another, or half of it.
const taken = /* @__PURE__ */ new WeakSet<object>();

/** Whether an answer is made of these parts already, or somebody else reads them. */
export function isTaken(parts: StreamBody["parts"]): boolean {
  if (taken.has(parts)) return true;
  if (parts instanceof ReadableStream) return parts.locked;
  return isNodeStream(parts) && (parts.readableDidRead || !parts.readable);
}

/** A stream of Node's is read once, though it gives any number of iterators. */
function isNodeStream(parts: object): parts is { readonly readableDidRead: boolean; readonly readable: boolean } {
  return "readableDidRead" in parts;
}

/**
 * Takes parts for one answer: what makes them, where that is no stream of the platform's. An iterable that throws at once is
 * so a 500, and no stream that is cut. Throws where the parts are another answer's, or none.
 */
export function take(parts: StreamBody["parts"]): AsyncIterator<Uint8Array> | undefined {
  if (isTaken(parts)) throw new Unwritable("a stream that is read already");
  if (parts instanceof ReadableStream) {
    taken.add(parts);
    return undefined;
  }
  const iterator: unknown = parts[Symbol.asyncIterator]();
  if (typeof iterator !== "object" || iterator === null || typeof (iterator as Partial<Parts>).next !== "function") {
    throw new Unwritable("a stream whose async iterator is none");
  }
  if (taken.has(iterator)) throw new Unwritable("a stream that is read already");
  taken.add(isNodeStream(parts) ? parts : iterator);
  return iterator as AsyncIterator<Uint8Array>;
}

/**
 * Begins to read a body. A `ReadableStream` is read by a reader: its iterator could not be told while it waits. Never
 * throws: what keeps it from being read is what `next` rejects with.
 */
export function readParts(body: StreamBody): Parts {
  try {
    return body.parts instanceof ReadableStream ? platformParts(body, body.parts.getReader()) : iteratedParts(body);
  } catch (thrown) {
    // The application took it after it had answered with it.
    return { next: () => Promise.reject(thrown), cancel: () => Promise.resolve() };
  }
}

function platformParts({ request }: StreamBody, reader: ReadableStreamDefaultReader<Uint8Array>): Parts {
  return { next: () => nextOf(request, () => reader.read()), cancel: once(() => reader.cancel()) };
}

function iteratedParts({ parts, iterator = parts[Symbol.asyncIterator](), request }: StreamBody): Parts {
  const cancel = once(async () => {
    await iterator.return?.();
    await parts.produced;
  });
  return { next: () => nextOf(request, () => iterator.next()), cancel };
}

// Whoever sends the parts does so from wherever its client made room, which is not the request's context.
async function nextOf(
  request: StreamBody["request"],
  read: () => Promise<IteratorResult<unknown>>,
): Promise<Uint8Array | undefined> {
  if (shouldYield()) await yieldToEventLoop();
  const { done, value } = await (request === undefined ? read() : request.run(read));
  if (done === true) return undefined;
  if (!isBytes(value)) throw new Unwritable("a stream with a part that is no bytes");
  return ownBytes(value);
}

function once(cancel: () => Promise<void>): Parts["cancel"] {
  let cancelled: Promise<void> | undefined;
  // What a producer raises when it is told has nobody left to be told of it.
  return () => (cancelled ??= cancel().catch(() => {}));
}
