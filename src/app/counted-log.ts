import { logListener } from "./failures.ts";
import { unrefTimer } from "../async.ts";
import { guarded } from "../logging/raised.ts";

const lineEveryMs = 60_000;

/** Logs how often something happened: at most one line a minute. */
export class CountedLog {
  readonly #level: "info" | "warn";
  readonly #message: string;
  #counted = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(level: "info" | "warn", message: string) {
    this.#level = level;
    this.#message = message;
  }

  count(): void {
    this.#counted++;
    if (this.#timer === undefined) this.#log();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #log(): void {
    logListener(this.#level, `${this.#message}: ${this.#counted}`);
    this.#counted = 0;
    const logMore = guarded(undefined, () => {
      this.#timer = undefined;
      if (this.#counted > 0) this.#log();
    });
    const timer = setTimeout(logMore, lineEveryMs);
    unrefTimer(timer);
    this.#timer = timer;
  }
}
