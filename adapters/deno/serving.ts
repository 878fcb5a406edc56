import { inBackground } from "../../src/logging/background.ts";
import type { Address, DenoRuntime, DenoServeOptions, DenoServer, Handler } from "./runtime.ts";

declare const Deno: DenoRuntime;

/** A server of Deno's, which is ended in one of two ways. */
export class Serving {
  readonly #server: DenoServer;
  readonly #aborting = new AbortController();
  /** Its last connection has gone. */
  isOver = false;
  #isEnding = false;

  constructor(options: Omit<DenoServeOptions, "signal">, handler: Handler) {
    this.#server = Deno.serve({ ...options, signal: this.#aborting.signal }, handler);
    const over = (): void => {
      this.isOver = true;
    };
    inBackground(this.#server.finished.then(over, over));
  }

  get addr(): Address {
    return this.#server.addr;
  }

  /** Refuses new connections, and lets what is on the others come to its end. Nobody can close those any more. */
  shutdown(): void {
    if (this.#isEnding || this.isOver) return;
    this.#isEnding = true;
    // What it rejects with is told by `finished`, too.
    this.#server.shutdown().catch(() => {});
  }

  /** Closes every connection. Behind `shutdown`, or a second time, Deno would raise where nobody can catch it. */
  abort(): void {
    if (this.#isEnding || this.isOver) return;
    this.#isEnding = true;
    this.#aborting.abort();
  }

  /** Lets the process end while it listens. */
  unref(): void {
    this.#server.unref();
  }
}
