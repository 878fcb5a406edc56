import { isObject } from "../arguments.ts";

/** The `Background`s whose last server could not start, and those that have had a server. */
const unstarted = new WeakSet<object>();
const started = new WeakSet<object>();
/** Whether the program of a pool has thrown, and neither another one nor a server has started since. */
let hasProgramFailed = false;

/** Notes whether the server of a program could start. `background` is its option, which may be wrong. */
export function noteStart(background: unknown, hasFailed: boolean): void {
  if (!hasFailed) hasProgramFailed = false;
  if (!isObject(background)) return;
  if (hasFailed) unstarted.add(background);
  else {
    unstarted.delete(background);
    started.add(background);
  }
}

/** Notes that the program of a pool has begun, or has thrown, which may be before it called `serve`. */
export function noteProgram(hasFailed: boolean): void {
  hasProgramFailed = hasFailed;
}

/**
 * Whether the server of a `Background` could not start. The program closes what its work uses then, so that the work raises, too: the error
 * of the start is to be the first thing that is read.
 */
export function hasFailedStart(background: object): boolean {
  return unstarted.has(background) || (hasProgramFailed && !started.has(background));
}
