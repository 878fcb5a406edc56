import type { IncomingMessage } from "node:http";
import { joined, noRoom, tooLarge } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { BodyParts } from "./body-parts.ts";
import { connectionOf, tooSlow } from "./connection.ts";
import type { Reading } from "./connection.ts";
import type { Deadline, Sweep } from "../../src/app/sweep.ts";

/** A body as `node:http` brings it. Nothing is read, and the client not told to send it, before it is asked for. */
export class IncomingBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: IncomingMessage;
  readonly #sweep: Sweep;
  #sendContinue: (() => void) | undefined;
  #whole: Gathering | undefined = undefined;
  #parts: BodyParts | undefined = undefined;

  constructor(
    request: IncomingMessage,
    length: number | undefined,
    sweep: Sweep,
    sendContinue: (() => void) | undefined,
  ) {
    this.length = length;
    this.#request = request;
    this.#sweep = sweep;
    this.#sendContinue = sendContinue;
  }

  read(): Promise<Uint8Array | BodyFailure | undefined> {
    this.#begin();
    this.#parts ??= new BodyParts(this.#request, this.#sweep);
    return this.#parts.read();
  }

  whole(limit: number, receiver: BodyReceiver): void {
    this.#begin();
    this.#whole = new Gathering(this.#request, this.#sweep, limit, receiver);
    this.#whole.start();
  }

  /** Bytes that have not come yet; undefined where no length says how many. */
  get left(): number | undefined {
    if (this.length === undefined) return undefined;
    const taken = this.#whole?.received ?? this.#parts?.received ?? 0;
    return this.length - taken - this.#request.readableLength;
  }

  /** Whether the rest is not to be waited for: the client was never told to send it, or stopped, or sent what is no body. */
  get isLost(): boolean {
    const failure = this.#whole?.failure ?? this.#parts?.failure;
    return this.#sendContinue !== undefined || (failure !== undefined && failure !== tooLarge);
  }

  /** The request is answered: the rest is the writer's to drop. */
  release(): void {
    this.#parts?.release();
  }

  #begin(): void {
    this.#sendContinue?.();
    this.#sendContinue = undefined;
  }
}

const noBytes = new Uint8Array();

/** One body being read whole: by its events, which cost a request a third of what its iterator does. */
class Gathering implements Reading {
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
    this.#deadline = sweep.body(() => this.fail(tooSlow));
  }

  start(): void {
    this.request.on("data", (part: Buffer) => this.#keep(part));
    this.request.on("end", () => this.#finish(this.#taken()));
    connectionOf(this.request.socket).reads(this);
  }

  // What is left on the wire is the writer's to drop.
  fail(failure: BodyFailure): void {
    if (this.#isOver) return;
    this.failure = failure;
    this.request.pause();
    this.#finish(failure);
  }

  #keep(part: Buffer): void {
    if (this.#isOver) return;
    this.received += part.byteLength;
    this.#deadline.arrived(part.byteLength);
    if (this.received > this.#limit) this.fail(tooLarge);
    else if (!this.#receiver.take(part.byteLength)) this.fail(noRoom);
    else if (this.#first === undefined) this.#first = part;
    else (this.#others ??= []).push(part);
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
