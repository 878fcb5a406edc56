import { isTurnDue, nextTurn } from "../streams/turn.ts";
import type { StreamBody } from "./answer.ts";

/** A body's parts, one by one. */
export interface Parts {
  /** The next part, or undefined at the end. */
  readonly next: () => Promise<Uint8Array | undefined>;
  /** Nobody reads any further: what makes the parts is told, also while it is waited for. */
  readonly cancel: () => void;
}

/** Begins to read a body. A `ReadableStream` is read by a reader: its iterator could not be told while it waits. */
export function readParts({ parts, request }: StreamBody): Parts {
  // Whoever sends the parts does so from wherever its client made room, which is not the request's context.
  const run = <A>(work: () => A): A => (request === undefined ? work() : request.run(work));
  if (parts instanceof ReadableStream) {
    const reader = (parts as ReadableStream<Uint8Array>).getReader();
    return {
      next: async () => {
        if (isTurnDue()) await nextTurn();
        return (await run(() => reader.read())).value;
      },
      cancel: () => void reader.cancel().catch(() => {}),
    };
  }
  const iterator = parts[Symbol.asyncIterator]();
  return {
    next: async () => {
      if (isTurnDue()) await nextTurn();
      const { done, value } = await run(() => iterator.next());
      return done === true ? undefined : value;
    },
    // What a producer raises when it is told has nobody left to be told of it.
    cancel: () => void Promise.resolve(iterator.return?.()).catch(() => {}),
  };
}
