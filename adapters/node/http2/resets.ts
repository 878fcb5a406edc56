/**
 * Every end of a stream with an error code is here, and in a later turn. In a callback of nghttp2, which `stream` and `data` events, promises
 * and `nextTick` run in, Node would write at once, which nghttp2 does not allow while it reads: it frees what it still uses.
 */
import type { ServerHttp2Stream } from "node:http2";
import { caught, guarded } from "../../../src/doors/logging.ts";

/** Resets a stream with a code. Node ends its response first, where it has begun. */
export function closeLater(stream: ServerHttp2Stream, code: number): void {
  setImmediate(
    guarded(undefined, () => {
      if (!stream.closed) stream.close(code);
    }),
  );
}

/**
 * Resets a stream (INTERNAL_ERROR), so that its client sees that the response is not whole. Node's `close` with an error code ends
 * the response first, and the client takes it for whole.
 */
export function cutLater(stream: ServerHttp2Stream): void {
  setImmediate(guarded(undefined, () => stream.destroy(new Error("reset"))));
}

/** Destroys a stream: with a reset where it is open. */
export function destroyLater(stream: ServerHttp2Stream): void {
  setImmediate(guarded(undefined, () => stream.destroy()));
}

/**
 * Destroys a stream that is read or written part by part once its client resets it. After a reset without an error Node waits until
 * all that arrived is read, and Node 20 to 24 until the last write ends, which may never happen: neither the stream nor its
 * connection would close.
 */
export function endWithReset(stream: ServerHttp2Stream): void {
  // Node emits it while it closes the stream.
  stream.once("aborted", () => destroyLater(stream));
}

/** A listener that never throws: its stream is reset in its place. */
export function guardedBy<Given extends readonly unknown[]>(
  stream: ServerHttp2Stream,
  listener: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    try {
      listener(...given);
    } catch (thrown) {
      caughtBy(thrown, stream);
    }
  };
}

/** Resets the stream whose event threw, and logs the error: without a code its client would take what was sent for the whole. */
export function caughtBy(thrown: unknown, stream: ServerHttp2Stream): void {
  caught(thrown, { destroy: () => cutLater(stream) });
}
