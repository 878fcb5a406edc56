import { unrefTimer } from "../async.ts";
import type { OpenedSocket } from "../app/exchange.ts";
import { attempt } from "../logging/raised.ts";
import type { PulledStream } from "../events/readable.ts";
import type { ListenableTransport } from "../exchange/transport.ts";
import { lingerMs } from "./lingering.ts";

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

/**
 * What is open on a server, and ends when the server or its app stops: streams, sockets, taken connections. Each kind has a list of its
 * own, because a stop tells each in its own way. It waits for sockets and taken connections, and for streams by their connections alone.
 */
export class OpenThings<A> {
  readonly #open = new Set<A>();
  readonly #stopOne: (one: A) => void;
  #isStopping = false;
  #whenNone: (() => void) | undefined = undefined;

  /** @param stopOne Called for each when the server stops. What it throws is logged, and does not keep the others open. */
  constructor(stopOne: (one: A) => void) {
    this.#stopOne = stopOne;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether what opens from now on has to stop at once. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  add(one: A): void {
    this.#open.add(one);
  }

  remove(one: A): void {
    this.#open.delete(one);
    if (this.#open.size === 0) this.#whenNone?.();
  }

  stop(): void {
    this.#isStopping = true;
    this.each(this.#stopOne);
  }

  each(act: (one: A) => void): void {
    for (const one of this.#open) attempt(undefined, act, one);
  }

  /** Resolves once none is open. */
  ended(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#whenNone = resolve));
  }
}

/** The open event streams. One that begins while the server stops ends at once. */
export class EventStreams extends OpenThings<PulledStream> {
  constructor() {
    super((stream) => this.stopOne(stream));
  }

  /** Ends one while the server stops. */
  stopOne(stream: PulledStream): void {
    stream.stopWithServer((cut) => unrefTimer(setTimeout(cut, lingerMs)));
  }
}

/** The open sockets of a server. Their requests are in flight until their handlers end. */
export class OpenSockets extends OpenThings<ListenableTransport> {
  constructor() {
    super((transport) => attempt(transport, () => transport.listener?.stopping()));
  }

  /** Runs a socket's handler on a connection, to the end of both. */
  async track(opened: OpenedSocket, transport: ListenableTransport): Promise<void> {
    this.add(transport);
    try {
      const ended = opened.open(transport);
      // It was requested while the server ran, and opened while it stops.
      if (this.isStopping) transport.listener?.stopping();
      await ended;
    } finally {
      this.remove(transport);
    }
  }

  /** Ends every open connection. */
  cut(): void {
    this.each((transport) => transport.terminate());
  }
}
