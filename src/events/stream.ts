import { shouldYield, yieldToEventLoop } from "../async.ts";
import { isBytes, ownBytes } from "../http/bytes.ts";
import { isNodeStream, iteratorOf } from "../node-stream.ts";
import { InvalidAnswerError } from "../refusals.ts";

interface StreamParts extends AsyncIterable<Uint8Array> {
  /** Settles once the producer has ended, if the iterator's `return` does not wait for it. Never rejects. */
  readonly produced?: Promise<void> | undefined;
}

/** A streamed body. */
export interface StreamBody {
  readonly kind: "stream";
  readonly parts: StreamParts;
  /** The length in bytes, if known: it becomes `Content-Length`, and never more is sent. */
  readonly length?: number;
  /** The content type for a client that asks which events are text. */
  readonly typeWithTextKinds?: string;
  /** Ends a body that made its first part before the head and is not sent. */
  readonly abandon?: () => void;
  /** The body whose parts it reads, as one in another coding does. */
  readonly source?: StreamBody;
  /** Called before the first part is read. Throws for a second request. */
  readonly begin?: (request: StreamRequest) => void;
  /** Ends a body that a producer makes, as though that had returned. */
  readonly stop?: () => void;
  /** The same where the server stops, which the end of the body says. Only a body that has such an end has this. */
  readonly stopWithServer?: () => void;
  /** Writes the parts to a sink of the listener; `parts` is then not read. */
  readonly writeTo?: (sink: StreamSink) => StreamWriting;
}

/** Where a body writes its parts. */
export interface StreamSink {
  /** Returns false if the buffer is full. */
  write(part: Uint8Array): boolean;
  /** Resolves with true once there is room again; with false if the client has gone or reads nothing. */
  room(): Promise<boolean>;
  /** The body is complete. */
  end(): void;
  /** The producer threw. */
  fail(thrown: unknown): void;
}

/** A body that writes to a sink. */
export interface StreamWriting {
  /** The client has gone. Settles once its producer has ended, unless the body reports that itself; never rejects. */
  cancel(): void | Promise<void>;
}

/** How the sending of a streamed body ended. */
export type StreamEnd =
  | "finished"
  | "client gone"
  | "client stopped reading"
  /** The server stopped: the body is cut. */
  | "server stopped"
  /** The server stopped, and the body is whole: it says so at its end. */
  | "stopped"
  /** Fewer, or more, bytes than its length. */
  | "short"
  | "long"
  /** The producer threw. */
  | "failed";

/** The request of a streamed body. */
export interface StreamRequest {
  /** Runs work in the request's context: its log lines have the request's id. */
  run<A>(work: () => A): A;
  /** The application did something that its route does not declare. */
  undeclared(did: string): void;
  /** The producer may outlast the stream: `over` settles once it has ended, and never rejects. Called before `ended`. */
  producing(over: Promise<void>): void;
  /** Called once. */
  ended(how: StreamEnd, thrown?: unknown): void;
}

/** Reads a body's parts. */
export interface Parts {
  /** Resolves with the next part that has bytes, or undefined at the end. Rejects if the producer fails or a part is not bytes. */
  readonly next: () => Promise<Uint8Array | undefined>;
  /**
   * Stops the producer, also during a pending `next`. Resolves once it has ended: a generator has left its `finally`, an
   * event producer has returned. Never rejects.
   */
  readonly cancel: () => Promise<void>;
}

// A stream or generator can be read once, so it can be the body of one response only.
const taken = /* @__PURE__ */ new WeakSet<object>();

/** Whether the parts are the body of another response, are being read, or are closed. */
export function isTaken(parts: StreamBody["parts"]): boolean {
  return whyTaken(parts) !== undefined;
}

/** Why no response can have the parts; undefined where one can. */
export function whyTaken(parts: StreamBody["parts"]): string | undefined {
  if (taken.has(parts)) return readAlready;
  if (parts instanceof ReadableStream) return parts.locked ? readAlready : undefined;
  if (!isNodeStream(parts)) return undefined;
  if (parts.readableDidRead) return readAlready;
  return parts.readable ? undefined : "a stream that was closed before it was read";
}

const readAlready = "a stream that is read already";

/**
 * Takes the parts for one response and opens their iterator, unless they are a `ReadableStream`. So an iterable that throws
 * at once is a 500 and not a truncated stream. Throws if the parts are already taken or not iterable.
 */
export function take(parts: StreamBody["parts"]): AsyncIterator<Uint8Array> | undefined {
  const why = whyTaken(parts);
  if (why !== undefined) throw new InvalidAnswerError(why);
  if (parts instanceof ReadableStream) {
    taken.add(parts);
    return undefined;
  }
  const iterator: unknown = iteratorOf(parts);
  if (typeof iterator !== "object" || iterator === null || typeof (iterator as Partial<Parts>).next !== "function") {
    throw new InvalidAnswerError("a stream whose async iterator has no next()");
  }
  if (taken.has(iterator)) throw new InvalidAnswerError(readAlready);
  taken.add(isNodeStream(parts) ? parts : iterator);
  return iterator as AsyncIterator<Uint8Array>;
}

/**
 * Starts to read a body. Never throws: `next` rejects instead.
 *
 * @param iterator What `take` gave for its parts.
 * @param request The request in whose context the parts are made.
 */
export function readParts(
  { parts }: Pick<StreamBody, "parts">,
  iterator?: AsyncIterator<Uint8Array>,
  request?: StreamRequest,
): Parts {
  try {
    return iteratedParts(parts, iterator ?? iteratorOf(parts), request);
  } catch (thrown) {
    // The application read the stream after it had returned it.
    return { next: () => Promise.reject(thrown), cancel: () => Promise.resolve() };
  }
}

function iteratedParts(
  parts: StreamParts,
  iterator: AsyncIterator<Uint8Array>,
  request: StreamRequest | undefined,
): Parts {
  let isCancelled = false;
  const cancel = once(async () => {
    isCancelled = true;
    await iterator.return?.();
    await parts.produced;
  });
  return { next: () => nextOf(request, () => (isCancelled ? ended : iterator.next())), cancel };
}

const ended: Promise<IteratorResult<never, undefined>> = /* @__PURE__ */ Promise.resolve({
  done: true,
  value: undefined,
});

// The listener calls this from a "drain" event, outside the request's context.
async function nextOf(
  request: StreamRequest | undefined,
  read: () => Promise<IteratorResult<unknown>>,
): Promise<Uint8Array | undefined> {
  for (;;) {
    // A producer may make empty parts without an end.
    if (shouldYield()) await yieldToEventLoop();
    const { done, value } = await (request === undefined ? read() : request.run(read));
    if (done === true) return undefined;
    if (!isBytes(value)) throw new InvalidAnswerError("a stream with a part that is no bytes");
    if (value.byteLength > 0) return ownBytes(value);
  }
}

/** The response is over: an error of the producer has no place to go. */
function once(cancel: () => Promise<void>): Parts["cancel"] {
  let cancelled: Promise<void> | undefined;
  return () => (cancelled ??= cancel().catch(() => {}));
}
