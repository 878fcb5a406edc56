import type { Dep, Place, Read } from "./dep.ts";

/**
 * Needs one value to decide what to read next. What that is cannot be known before, so it is opaque to the API
 * document, and a path parameter it reads is checked only when the request comes.
 */
export function bind<A, B, R extends string, Q extends string, W, X>(
  dep: Dep<A, R, W>,
  next: (value: A) => Dep<B, Q, X>,
): Dep<B, R | Q, W> {
  const compile = (_place: Place, [slot = 0]: readonly number[]): Read => {
    const asker = {};
    return (_asked, values, reading) => reading.late(asker, () => next(values[slot] as A));
  };
  return { node: { from: [dep], opaque: true, binds: true, compile } };
}
