import { current } from "./context.ts";
import { describeRaised } from "./raised.ts";
import { log } from "./writer.ts";

/**
 * Runs work that nobody awaits, to its end. A rejected promise without a handler ends the process on Node and Deno, so a
 * rejection here becomes an error line.
 */
export function inBackground(work: PromiseLike<unknown> | undefined | void): void {
  if (work === undefined) return;
  work.then(undefined, (thrown: unknown) => {
    const { kind, stack } = describeRaised(thrown);
    const fields = { "error.kind": kind, "error.stack": stack };
    log({
      level: "error",
      source: "framework.http",
      message: "work in the background raised",
      fields,
      context: current(),
    });
  });
}
