import type { IncomingMessage } from "node:http";
import type { BodyFailure } from "../../src/inputs/body-source.ts";
import { connectionOf, tooSlow } from "./connection.ts";
import type { Reading } from "./connection.ts";
import type { Deadline, Sweep } from "../../src/app/sweep.ts";
import { guarded } from "../../src/logging/last-net.ts";

type Read = Uint8Array | BodyFailure | undefined;

/**
 * A body read part by part: by its events, between two of which the request is paused. Its own iterator costs a part
 * more, and leaves a request that does not flow again for whoever drops the rest.
 */
export class BodyParts implements Reading {
  readonly request: IncomingMessage;
  received = 0;
  readonly #deadline: Deadline;
  #asked: ((read: Read) => void) | undefined = undefined;
  readonly #heardPart: (part: Buffer) => void;
  readonly #heardEnd: () => void;
  #isOver = false;
  /** What it came to, once it is over. */
  failure: BodyFailure | undefined = undefined;

  constructor(request: IncomingMessage, sweep: Sweep) {
    this.request = request;
    this.#deadline = sweep.body(this);
    this.#deadline.rest();
    this.#heardPart = guarded(request.socket, (part: Buffer) => this.#take(part));
    this.#heardEnd = guarded(request.socket, () => this.#end());
    request.on("data", this.#heardPart).on("end", this.#heardEnd);
    connectionOf(request.socket).reads(this);
  }

  /** The next part. Time in which nobody asks for one is not the client's. */
  read(): Promise<Read> {
    if (this.#isOver) return Promise.resolve(this.failure);
    return new Promise((resolve) => {
      this.#asked = resolve;
      this.#deadline.goOn();
      this.request.resume();
    });
  }

  expire(): void {
    this.fail(tooSlow);
  }

  fail(failure: BodyFailure): void {
    this.failure ??= failure;
    this.#end();
  }

  /** Leaves the rest to others: for whoever still reads, it is at its end. */
  release(): void {
    this.#end();
    this.request.off("data", this.#heardPart).off("end", this.#heardEnd);
  }

  #take(part: Buffer): void {
    this.received += part.byteLength;
    this.request.pause();
    this.#deadline.arrived(part.byteLength);
    this.#deadline.rest();
    this.#answer(part);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.request.pause();
    this.#deadline.clear();
    connectionOf(this.request.socket).hasRead(this);
    this.#answer(this.failure);
  }

  #answer(read: Read): void {
    this.#asked?.(read);
    this.#asked = undefined;
  }
}
