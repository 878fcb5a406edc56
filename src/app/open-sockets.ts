import { attempt } from "../logging/last-net.ts";
import type { HeardLink } from "../streams/sockets/link.ts";
import type { OpenedSocket } from "./exchange.ts";

/** The sockets that a server has open: the requests that opened them are in flight until their handlers are done. */
export class OpenSockets {
  readonly #open = new Set<HeardLink>();
  #isStopping = false;
  #whenNone: (() => void) | undefined = undefined;

  get size(): number {
    return this.#open.size;
  }

  /** Has a socket's handler speak on a link, to the end of both. */
  async speak(opened: OpenedSocket, link: HeardLink): Promise<void> {
    this.#open.add(link);
    try {
      const spoken = opened.open(link);
      // Asked for while the server ran, and opened when it did not any more.
      if (this.#isStopping) link.heard?.stopping();
      await spoken;
    } finally {
      this.#open.delete(link);
      if (this.#open.size === 0) this.#whenNone?.();
    }
  }

  /** Tells every socket that the server stops, one that is yet to open included. */
  stop(): void {
    this.#isStopping = true;
    for (const link of this.#open) attempt(link, () => link.heard?.stopping());
  }

  /** Resolves once no handler speaks on one any more. */
  ended(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#whenNone = resolve));
  }

  /** Ends every connection there still is, whoever speaks on it. */
  cut(): void {
    for (const link of this.#open) attempt(undefined, () => link.terminate());
  }
}
