import type { IncomingMessage } from "node:http";
import { connectionOf } from "./connection.ts";
import type { Reading } from "./connection.ts";
import { discardLimit } from "./linger.ts";
import type { Deadline, Sweep, Waiting } from "../../src/app/sweep.ts";
import { guarded } from "../../src/logging/last-net.ts";

/** Takes what is left of a body off the wire, and drops it. */
export class Dropping implements Reading {
  readonly request: IncomingMessage;
  readonly #limit: number;
  readonly #done: () => void;
  readonly #deadline: Deadline;
  readonly #heardPart: (part: Buffer) => void;
  readonly #heardEnd: () => void;
  #dropped = 0;

  /** `done` is called once: at the body's end, past `limit` bytes of it, or where no more comes in the time for it. */
  constructor(request: IncomingMessage, limit: number, wait: (waiting: Waiting) => Deadline, done: () => void) {
    this.request = request;
    this.#limit = limit;
    this.#done = done;
    this.#deadline = wait(this);
    this.#heardPart = guarded(request.socket, (part: Buffer) => this.#drop(part));
    this.#heardEnd = guarded(request.socket, () => this.#finish());
  }

  start(): void {
    this.request.on("data", this.#heardPart).on("end", this.#heardEnd).resume();
    connectionOf(this.request.socket).reads(this);
  }

  fail(): void {
    this.#finish();
  }

  expire(): void {
    this.#finish();
  }

  #drop(part: Buffer): void {
    this.#dropped += part.byteLength;
    this.#deadline.arrived(part.byteLength);
    if (this.#dropped > this.#limit) this.#finish();
  }

  #finish(): void {
    this.#deadline.clear();
    connectionOf(this.request.socket).hasRead(this);
    this.request.off("data", this.#heardPart).off("end", this.#heardEnd).pause();
    this.#done();
  }
}

/**
 * Drops a body that nobody reads while its answer is made or streamed. Node reads nothing of a socket while a body waits to be
 * read, and a socket that is not read tells neither a FIN nor a RST: the handler would wait for a client that has gone, and
 * hold the connection, for ever. Past `discardLimit` bytes as many again are read after each look of the sweep, so that who
 * sends on and on is read slowly.
 */
export class Draining implements Reading, Waiting {
  readonly request: IncomingMessage;
  dropped = 0;
  readonly #sweep: Sweep;
  /** Bytes to drop before the next look. */
  #allowed = discardLimit;
  #pause: Deadline | undefined = undefined;
  readonly #heardPart: (part: Buffer) => void;
  readonly #heardEnd: () => void;

  constructor(request: IncomingMessage, sweep: Sweep) {
    this.request = request;
    this.#sweep = sweep;
    this.#heardPart = guarded(request.socket, (part: Buffer) => this.#drop(part));
    this.#heardEnd = guarded(request.socket, () => this.stop());
  }

  start(): void {
    this.request.on("data", this.#heardPart).on("end", this.#heardEnd);
    connectionOf(this.request.socket).reads(this);
    if (this.#pause === undefined) this.request.resume();
  }

  /** Leaves the rest to others. */
  stop(): void {
    this.#pause?.clear();
    this.#pause = undefined;
    connectionOf(this.request.socket).hasRead(this);
    this.request.off("data", this.#heardPart).off("end", this.#heardEnd).pause();
  }

  fail(): void {
    this.stop();
  }

  expire(): void {
    this.#pause = undefined;
    this.#allowed = discardLimit;
    this.request.resume();
  }

  #drop(part: Buffer): void {
    this.dropped += part.byteLength;
    this.#allowed -= part.byteLength;
    if (this.#allowed > 0) return;
    this.request.pause();
    this.#pause ??= this.#sweep.time(0, this);
  }
}
