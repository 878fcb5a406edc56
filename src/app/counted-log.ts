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

  /** Logs what was counted since the last line: the process may end before the next one. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#counted > 0) this.#write();
  }

  #write(): void {
    logListener(this.#level, `${this.#message}: ${this.#counted}`);
    this.#counted = 0;
  }

  #log(): void {
    this.#write();
    const logMore = guarded(undefined, () => {
      this.#timer = undefined;
      if (this.#counted > 0) this.#log();
    });
    const timer = setTimeout(logMore, lineEveryMs);
    unrefTimer(timer);
    this.#timer = timer;
  }
}
