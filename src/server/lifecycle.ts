import type { OpenedSocket } from "../app/exchange.ts";
import { attempt } from "../logging/raised.ts";
import type { ListenableTransport } from "../sockets/socket.ts";
import type { PulledStream } from "../events/readable.ts";

const everyMs = 10;

/** Waits until a condition is true, at most `ms`. Returns whether it became true. */
export async function until(isTrue: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (!isTrue()) {
    const left = end - performance.now();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, Math.min(everyMs, left));
    });
  }
  return true;
}

/** The open event streams, which end when the server or its app stops. */
export class EventStreams {
  readonly #open = new Set<PulledStream>();
  /** A stream that begins from now on ends at once. */
  hasEnded = false;

  add(stream: PulledStream): void {
    this.#open.add(stream);
  }

  remove(stream: PulledStream): void {
    this.#open.delete(stream);
  }

  end(): void {
    this.hasEnded = true;
    for (const stream of this.#open) stream.end("connection closed");
  }
}

/** The open sockets of a server. Their requests are in flight until their handlers end. */
export class OpenSockets {
  readonly #open = new Set<ListenableTransport>();
  #isStopping = false;
  #whenNone: (() => void) | undefined = undefined;

  get size(): number {
    return this.#open.size;
  }

  /** Runs a socket's handler on a connection, to the end of both. */
  async track(opened: OpenedSocket, transport: ListenableTransport): Promise<void> {
    this.#open.add(transport);
    try {
      const ended = opened.open(transport);
      // It was requested while the server ran, and opened while it stops.
      if (this.#isStopping) transport.listener?.stopping();
      await ended;
    } finally {
      this.#open.delete(transport);
      if (this.#open.size === 0) this.#whenNone?.();
    }
  }

  /** Notifies every socket that the server stops, including those that are still to open. */
  stop(): void {
    this.#isStopping = true;
    for (const transport of this.#open) attempt(transport, () => transport.listener?.stopping());
  }

  /** Resolves once no handler runs. */
  ended(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#whenNone = resolve));
  }

  /** Ends every open connection. */
  cut(): void {
    for (const transport of this.#open) attempt(undefined, () => transport.terminate());
  }
}
