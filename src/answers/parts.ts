import { isTurnDue, nextTurn } from "../streams/turn.ts";
import type { StreamBody } from "./answer.ts";

/** A body's parts, one by one. */
export interface Parts {
  /** The next part, or undefined at the end. */
  readonly next: () => Promise<Uint8Array | undefined>;
  /**
   * Nobody reads any further: what makes the parts is told, also while it is waited for. Resolves once it has ended: a
   * generator has left its `finally`, a producer of events has returned. Never rejects.
   */
  readonly cancel: () => Promise<void>;
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
      cancel: once(() => reader.cancel()),
    };
  }
  const iterator = parts[Symbol.asyncIterator]();
  return {
    next: async () => {
      if (isTurnDue()) await nextTurn();
      const { done, value } = await run(() => iterator.next());
      return done === true ? undefined : value;
    },
    cancel: once(async () => {
      await iterator.return?.();
      await parts.produced;
    }),
  };
}

function once(cancel: () => Promise<void>): Parts["cancel"] {
  let cancelled: Promise<void> | undefined;
  // What a producer raises when it is told has nobody left to be told of it.
  return () => (cancelled ??= cancel().catch(() => {}));
}
