import { isBytes, ownBytes } from "../codecs/bytes.ts";
import { isTurnDue, nextTurn } from "../streams/turn.ts";
import type { StreamBody } from "./answer.ts";
import { Unwritable } from "./unwritable.ts";

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
  if (isTurnDue()) await nextTurn();
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
