import type { StreamEnd, StreamRequest } from "../answers/answer.ts";
import { within } from "../logging/context.ts";
import { log } from "../logging/writer.ts";
import type { AskedExchange } from "./asked.ts";
import { failureOf } from "./failure.ts";
import type { Failure } from "./failure.ts";
import { logUndeclared } from "./request-log.ts";

const source = "framework.http";

// What is wrong with a body is the application's bug, and its answer on the wire is not whole.
const wrong: { readonly [End in StreamEnd]?: string } = {
  short: "sent less than the length it was given, so its connection is closed",
  long: "sent more than the length it was given, so its connection is closed",
  failed: "failed, so its connection is closed",
};

const asItIs: Failure = { level: "error", why: "", fields: {} };

/** A streamed body and its request: whose context it is made in, and how its sending ended. */
export class SentStream implements StreamRequest {
  readonly #asked: AskedExchange;
  readonly #startedAt = performance.now();
  #isOver = false;

  constructor(asked: AskedExchange) {
    this.#asked = asked;
  }

  run<A>(work: () => A): A {
    return within(this.#asked, work);
  }

  undeclared(did: string): void {
    const asked = this.#asked;
    const what = `${asked.route?.route.pattern ?? asked.path} ${did}`;
    asked.exchange.undeclared?.(what);
    logUndeclared(asked, what);
  }

  ended(how: StreamEnd, thrown?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { path, context } = this.#asked;
    const said = wrong[how];
    if (said !== undefined) {
      const { level, why, fields } = how === "failed" ? failureOf(thrown) : asItIs;
      log({
        level,
        source,
        message: `stream on ${path} ${said}${why}`,
        fields: { "url.path": path, ...fields },
        context,
      });
      return;
    }
    const duration = Math.round((performance.now() - this.#startedAt) * 1e6);
    const fields = { "url.path": path, duration, "framework.stream.ended": how };
    log({ level: "info", source, message: `stream on ${path} ended: ${how}`, fields, context });
  }
}
