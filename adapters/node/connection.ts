import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { BodyFailure } from "../../src/inputs/body-source.ts";
import { guarded } from "../../src/logging/last-net.ts";
import { isBun } from "./node-version.ts";

const key: unique symbol = Symbol("connection");

export const endedEarly: BodyFailure = { kind: "unreadable", detail: "the body ended early" };
export const tooSlow: BodyFailure = { kind: "unreadable", detail: "the body stopped arriving" };

/** A socket that a server of `node:http` took. */
export interface WatchedSocket extends Socket {
  [key]?: Connection;
}

/** Whoever takes a request's body from its connection. */
export interface Reading {
  readonly request: IncomingMessage;
  /** No more of it will come. */
  fail(failure: BodyFailure): void;
}

/** Whoever takes a body that no stream is made of: its parts, and then its end. */
export interface Taking {
  take(part: Buffer): void;
  end(): void;
}

/** What is known of one open connection beside what Node tells. */
export class Connection {
  readonly socket: Socket;
  readonly #unixPath: string | undefined;
  /** No request of it has come. */
  isFresh = true;
  /** An answer ends it, or a refused head: nothing that comes behind is taken for a request (RFC 9112 §9.6). */
  closing = false;
  /** Why what comes on it is no HTTP any more; nothing of it is read. */
  fault: BodyFailure | undefined = undefined;
  /** Its client took nothing of an answer for too long, which ends it. */
  stoppedReading = false;
  #hasEnded = false;
  #reading: Reading | undefined = undefined;
  /** Who else takes a body: one that was read late, with others behind it. */
  #others: Set<Reading> | undefined = undefined;
  /** Who takes the body that is coming, as the parser hands it over. */
  taking: Taking | undefined = undefined;
  /**
   * How many answers are being made. A number and not they, here as below: kept until the next request, each would
   * outlive its youth, and be the old generation's to collect.
   */
  #made = 0;
  /** How many answers that come to an end are not taken whole yet: every one but a stream of events. */
  #sent = 0;
  /** How many streams are being written. */
  streams = 0;
  #whenIdle: (() => void) | undefined = undefined;

  constructor(socket: Socket, unixPath: string | undefined) {
    this.socket = socket;
    this.#unixPath = unixPath;
  }

  get peer(): string {
    if (this.#unixPath !== undefined) return `unix:${this.#unixPath}`;
    const address = this.socket.remoteAddress ?? "";
    // An IPv4 peer of a socket that takes both families.
    return address.startsWith("::ffff:") ? address.slice(7) : address;
  }

  /** Whether any of a head may have come. Bun counts no byte of what its parser takes: there, it may. */
  get mayHaveBegun(): boolean {
    return this.socket.bytesRead > 0 || isBun;
  }

  /** Whether nobody waits for an answer on it. */
  get isIdle(): boolean {
    return this.#made === 0 && this.#sent === 0 && this.streams === 0;
  }

  /** How many answers that come to an end its client has not taken whole. */
  get unsent(): number {
    return this.#sent;
  }

  /** Ends the connection, by `act`, once nobody waits for an answer on it; the first that is to end it does. */
  whenIdle(act: () => void): void {
    if (this.isIdle) act();
    else this.#whenIdle ??= act;
  }

  /** An answer is being made, until `made`. */
  makes(): void {
    this.#made++;
  }

  made(): void {
    this.#made--;
    this.#settle();
  }

  /** An answer that comes to an end is written, and the client has not taken it yet. */
  sends(response: ServerResponse): void {
    this.#sent++;
    response.once(
      "close",
      guarded(this.socket, () => {
        this.#sent--;
        this.#settle();
      }),
    );
  }

  /** A stream is written, until `streamed`. */
  begins(): void {
    this.streams++;
  }

  streamed(): void {
    this.streams--;
    this.#settle();
  }

  #settle(): void {
    if (!this.isIdle) return;
    const act = this.#whenIdle;
    this.#whenIdle = undefined;
    act?.();
  }

  /** The reading that a fault on the wire would be the end of: one whose body has not come whole. */
  get unfinished(): Reading | undefined {
    if (this.#reading?.request.complete === false) return this.#reading;
    for (const reading of this.#others ?? []) if (!reading.request.complete) return reading;
    return undefined;
  }

  reads(reading: Reading): void {
    const { request } = reading;
    if (request.destroyed || (this.#hasEnded && !request.complete)) reading.fail(endedEarly);
    else if (this.fault !== undefined && !request.complete) reading.fail(this.fault);
    else if (this.#reading === undefined) this.#reading = reading;
    else (this.#others ??= new Set()).add(reading);
  }

  hasRead(reading: Reading): void {
    if (this.#reading === reading) this.#reading = undefined;
    else this.#others?.delete(reading);
  }

  /** Its client sends no more. */
  ended(): void {
    this.#hasEnded = true;
    this.unfinished?.fail(endedEarly);
  }

  /** Nor is what came of a body to be had any more. */
  closed(): void {
    this.#reading?.fail(endedEarly);
    for (const reading of this.#others ?? []) reading.fail(endedEarly);
  }
}

export function isWatched(socket: WatchedSocket): boolean {
  return socket[key] !== undefined;
}

/** A watched socket's connection. */
export function connectionOf(socket: WatchedSocket): Connection {
  return socket[key] as Connection;
}

/** Has it found by its socket. */
export function keepBySocket(connection: Connection): void {
  const socket: WatchedSocket = connection.socket;
  socket[key] = connection;
}
