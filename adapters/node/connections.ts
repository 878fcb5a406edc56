import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { BodyFailure } from "../../src/inputs/body-source.ts";

const key: unique symbol = Symbol("connection");

export const endedEarly: BodyFailure = { kind: "unreadable", detail: "the body ended early" };
export const tooSlow: BodyFailure = { kind: "unreadable", detail: "the body stopped arriving" };

interface WatchedSocket extends Socket {
  [key]?: Connection;
}

/** Whoever takes a request's body from its connection. */
export interface Reading {
  readonly request: IncomingMessage;
  /** No more of it will come. */
  fail(failure: BodyFailure): void;
}

/** What is known of one open connection beside what Node tells. */
export class Connection {
  readonly socket: Socket;
  /** An answer ends it, or a refused head: nothing that comes behind is taken for a request (RFC 9112 §9.6). */
  closing = false;
  /** Why what comes on it is no HTTP any more; nothing of it is read. */
  fault: BodyFailure | undefined = undefined;
  #reading: Reading | undefined = undefined;
  /**
   * How many answers are being made, or wait to be taken. A number and not they: kept until the next request, each
   * would outlive its youth, and be the old generation's to collect.
   */
  #awaited = 0;
  #whenIdle: (() => void) | undefined = undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Whether nobody waits for an answer on it. */
  get isIdle(): boolean {
    return this.#awaited === 0;
  }

  /** Ends the connection, by `act`, once nobody waits for an answer on it. */
  whenIdle(act: () => void): void {
    if (this.isIdle) act();
    else this.#whenIdle = act;
  }

  /** An answer is awaited, until `answered`. */
  awaits(): void {
    this.#awaited++;
  }

  answered(): void {
    this.#awaited--;
    if (this.isIdle) this.#whenIdle?.();
  }

  /** An answer is written that the client has not taken yet. */
  sending(response: ServerResponse): void {
    this.awaits();
    response.once("close", () => this.answered());
  }

  /** The reading that a fault on the wire would be the end of: one whose body has not come whole. */
  get reading(): Reading | undefined {
    return this.#reading?.request.complete === false ? this.#reading : undefined;
  }

  reads(reading: Reading): void {
    if (reading.request.destroyed) reading.fail(endedEarly);
    else if (this.fault !== undefined && !reading.request.complete) reading.fail(this.fault);
    else this.#reading = reading;
  }

  hasRead(reading: Reading): void {
    if (this.#reading === reading) this.#reading = undefined;
  }

  closed(): void {
    this.#reading?.fail(endedEarly);
  }
}

/** The open connections of a server. */
export class Connections {
  readonly #open = new Set<Connection>();

  /** Watches a connection to its end: one listener for each, where a request's own would cost each of them 0.9 µs. */
  readonly watch = (socket: WatchedSocket): void => {
    const connection = new Connection(socket);
    socket[key] = connection;
    this.#open.add(connection);
    // Every answer that waits on it may listen for its end.
    socket.setMaxListeners(0);
    socket.once("close", () => {
      this.#open.delete(connection);
      connection.closed();
    });
  };

  /** Closes those nobody waits on, also those that never sent a whole head: Node 20 would wait for them. */
  closeIdle(): void {
    for (const { isIdle, closing, socket } of this.#open) if (isIdle && !closing) socket.destroy();
  }
}

/** A watched socket's connection. */
export function connectionOf(socket: WatchedSocket): Connection {
  return (socket[key] ??= new Connection(socket));
}
