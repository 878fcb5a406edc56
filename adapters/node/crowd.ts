import { say } from "../../src/app/listener-log.ts";
import { guarded } from "../../src/logging/last-net.ts";

const lineEveryMs = 60_000;

/** The connections that are closed since there are `maxConnections` already: a warn line counts them, one a minute at the most. */
export class Crowd {
  readonly #maxConnections: number;
  #closed = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections;
  }

  closed(): void {
    this.#closed++;
    if (this.#timer === undefined) this.#say();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #say(): void {
    say("warn", `connections closed past maxConnections (${this.#maxConnections}): ${this.#closed}`);
    this.#closed = 0;
    const sayMore = guarded(undefined, () => {
      this.#timer = undefined;
      if (this.#closed > 0) this.#say();
    });
    this.#timer = setTimeout(sayMore, lineEveryMs).unref();
  }
}
