import type { IncomingMessage } from "node:http";
import { connectionOf } from "./connection.ts";
import type { Reading } from "./connection.ts";
import type { Deadline, Waiting } from "../../src/app/sweep.ts";
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
