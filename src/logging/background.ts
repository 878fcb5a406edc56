import { current } from "./context.ts";
import { logRaised } from "./last-net.ts";

/**
 * Runs work that nobody awaits, to its end. A rejected promise without a handler ends the process on Node and Deno, so a
 * rejection here becomes an error line.
 */
export function inBackground(work: PromiseLike<unknown> | undefined | void): void {
  work?.then(undefined, (thrown: unknown) => logRaised("work in the background raised", thrown, current()));
}
