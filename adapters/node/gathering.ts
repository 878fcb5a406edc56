import type { IncomingMessage } from "node:http";
import { joined, noRoom, tooLarge } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver } from "../../src/inputs/body-source.ts";
import type { Deadline, Sweep, Waiting } from "../../src/app/sweep.ts";
import { guarded } from "../../src/logging/last-net.ts";
import { connectionOf, tooSlow } from "./connection.ts";
import type { Reading, Taking } from "./connection.ts";
import { leaveToStream, takePushed } from "./spared-stream.ts";

const noBytes = new Uint8Array();

/** One body being read whole: as the parser hands its parts over or, where it does not, by the events of its stream. */
export class Gathering implements Reading, Taking, Waiting {
  readonly request: IncomingMessage;
  received = 0;
  failure: BodyFailure | undefined = undefined;
  readonly #limit: number;
  readonly #receiver: BodyReceiver;
  readonly #deadline: Deadline;
  /** Most bodies are one part: a list of it would have room made for seventeen. */
  #first: Buffer | undefined = undefined;
  #others: Buffer[] | undefined = undefined;
  #isOver = false;

  constructor(request: IncomingMessage, sweep: Sweep, limit: number, receiver: BodyReceiver) {
    this.request = request;
    this.#limit = limit;
    this.#receiver = receiver;
    this.#deadline = sweep.body(this);
  }

  /** @param isOurs Nobody else hears what the request tells as a stream. */
  start(isOurs: boolean): void {
    const { request } = this;
    if (!isOurs || !takePushed(request, this)) {
      const { socket } = request;
      const take = guarded(socket, (part: Buffer) => this.take(part));
      const end = guarded(socket, () => this.end());
      request.on("data", take).on("end", end);
    }
    connectionOf(request.socket).reads(this);
  }

  take(part: Buffer): void {
    if (this.#isOver) return;
    this.received += part.byteLength;
    this.#deadline.arrived(part.byteLength);
    if (this.received > this.#limit) this.fail(tooLarge);
    else if (!this.#receiver.take(part.byteLength)) this.fail(noRoom);
    else if (this.#first === undefined) this.#first = part;
    else (this.#others ??= []).push(part);
  }

  end(): void {
    this.#finish(this.#taken());
  }

  // What is left on the wire is the writer's to drop.
  fail(failure: BodyFailure): void {
    if (this.#isOver) return;
    this.failure = failure;
    leaveToStream(this.request, this);
    this.request.pause();
    this.#finish(failure);
  }

  expire(): void {
    this.fail(tooSlow);
  }

  #taken(): Uint8Array {
    const first = this.#first ?? noBytes;
    return this.#others === undefined ? first : joined([first, ...this.#others], this.received);
  }

  #finish(read: Uint8Array | BodyFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline.clear();
    connectionOf(this.request.socket).hasRead(this);
    this.#receiver.done(read);
  }
}
