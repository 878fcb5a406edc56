import { isObject } from "../arguments.ts";

/** The `Background`s whose last server could not start. */
const unstarted = new WeakSet<object>();

/** Notes whether the server of a program could start. `background` is its option, which may be wrong. */
export function noteStart(background: unknown, hasFailed: boolean): void {
  if (!isObject(background)) return;
  if (hasFailed) unstarted.add(background);
  else unstarted.delete(background);
}

/**
 * Whether the server of a `Background` could not start. The program closes what its work uses then, so that the work raises, too: the error
 * of the start is to be the first thing that is read.
 */
export function hasFailedStart(background: object): boolean {
  return unstarted.has(background);
}
