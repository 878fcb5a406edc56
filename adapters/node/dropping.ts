import type { IncomingMessage } from "node:http";
import { connectionOf } from "./connection.ts";
import type { Reading } from "./connection.ts";
import type { Deadline, Waiting } from "../../src/app/sweep.ts";

/** Takes what is left of a body off the wire, and drops it. */
export class Dropping implements Reading {
  readonly request: IncomingMessage;
  readonly #limit: number;
  readonly #done: () => void;
  readonly #deadline: Deadline;
  #dropped = 0;

  /** `done` is called once: at the body's end, past `limit` bytes of it, or where no more comes in the time for it. */
  constructor(request: IncomingMessage, limit: number, wait: (waiting: Waiting) => Deadline, done: () => void) {
    this.request = request;
    this.#limit = limit;
    this.#done = done;
    this.#deadline = wait(this);
  }

  start(): void {
    this.request.on("data", this.#drop).on("end", this.#finish).resume();
    connectionOf(this.request.socket).reads(this);
  }

  fail(): void {
    this.#finish();
  }

  expire(): void {
    this.#finish();
  }

  readonly #drop = (part: Buffer): void => {
    this.#dropped += part.byteLength;
    this.#deadline.arrived(part.byteLength);
    if (this.#dropped > this.#limit) this.#finish();
  };

  readonly #finish = (): void => {
    this.#deadline.clear();
    connectionOf(this.request.socket).hasRead(this);
    this.request.off("data", this.#drop).off("end", this.#finish).pause();
    this.#done();
  };
}
