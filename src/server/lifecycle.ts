import type { OpenedSocket } from "../app/exchange.ts";
import { attempt } from "../logging/raised.ts";
import type { ListenableTransport } from "../sockets/socket.ts";
import type { PulledStream } from "./stream.ts";

const everyMs = 10;

/** Waits until something is so, and for `ms` at the most; true where it came to be. */
export async function until(isSo: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (!isSo()) {
    const left = end - performance.now();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, Math.min(everyMs, left));
    });
  }
  return true;
}

/** A server's end: it comes once, however often it is asked for, and can be waited for by whoever did not ask. */
export class Stopping {
  readonly stopped: Promise<number>;
  readonly #end: () => void;
  #begun = false;

  constructor(stop: () => Promise<number>) {
    let end = (): void => {};
    this.stopped = new Promise((resolve) => {
      end = () => resolve(stop());
    });
    this.#end = end;
  }

  begin(): Promise<number> {
    if (!this.#begun) this.#end();
    this.#begun = true;
    return this.stopped;
  }
}

/** The streams of events that are being sent, which end when the server or its app stops. */
export class EventStreams {
  readonly #open = new Set<PulledStream>();
  /** One that begins from now on was asked for before, and ends at once. */
  hasEnded = false;

  add(feed: PulledStream): void {
    this.#open.add(feed);
  }

  remove(feed: PulledStream): void {
    this.#open.delete(feed);
  }

  end(): void {
    this.hasEnded = true;
    for (const feed of this.#open) feed.end("connection closed");
  }
}

/** The sockets that a server has open: the requests that opened them are in flight until their handlers are done. */
export class OpenSockets {
  readonly #open = new Set<ListenableTransport>();
  #isStopping = false;
  #whenNone: (() => void) | undefined = undefined;

  get size(): number {
    return this.#open.size;
  }

  /** Has a socket's handler speak on a link, to the end of both. */
  async track(opened: OpenedSocket, link: ListenableTransport): Promise<void> {
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
