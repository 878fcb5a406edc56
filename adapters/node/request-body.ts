import type { IncomingMessage } from "node:http";
import { bodyTooLarge, joined, noRoom } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { guarded } from "../../src/logging/raised.ts";
import type { Deadline, Deadlines, DeadlineListener } from "../../src/server/deadlines.ts";
import { discardLimit } from "./closing.ts";
import { connectionOf, tooSlow } from "./connection.ts";
import type { BodyReading, Taking } from "./connection.ts";
import { leaveToStream, readFromParser } from "./parser-body.ts";

type ChunkRead = Uint8Array | BodyFailure | undefined;

/**
 * A body read part by part: by its events, between two of which the request is paused. Its own iterator costs a part
 * more, and leaves a request that does not flow again for whoever drops the rest.
 */
class BodyChunks implements BodyReading {
  readonly request: IncomingMessage;
  received = 0;
  readonly #deadline: Deadline;
  #asked: ((read: ChunkRead) => void) | undefined = undefined;
  readonly #heardPart: (part: Buffer) => void;
  readonly #heardEnd: () => void;
  #isOver = false;
  /** What it came to, once it is over. */
  failure: BodyFailure | undefined = undefined;

  constructor(request: IncomingMessage, deadlines: Deadlines) {
    this.request = request;
    this.#deadline = deadlines.body(this);
    this.#deadline.pause();
    this.#heardPart = guarded(request.socket, (part: Buffer) => this.#take(part));
    this.#heardEnd = guarded(request.socket, () => this.#end());
    request.on("data", this.#heardPart).on("end", this.#heardEnd);
    connectionOf(request.socket).reads(this);
  }

  /** The next part. Time in which nobody asks for one is not the client's. */
  read(): Promise<ChunkRead> {
    if (this.#isOver) return Promise.resolve(this.failure);
    return new Promise((resolve) => {
      this.#asked = resolve;
      this.#deadline.resume();
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
    this.#deadline.pause();
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

  #answer(read: ChunkRead): void {
    this.#asked?.(read);
    this.#asked = undefined;
  }
}

const noBytes = new Uint8Array();

/** One body being read whole: as the parser hands its parts over or, where it does not, by the events of its stream. */
class BodyBuffer implements BodyReading, Taking, DeadlineListener {
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

  constructor(request: IncomingMessage, deadlines: Deadlines, limit: number, receiver: BodyReceiver) {
    this.request = request;
    this.#limit = limit;
    this.#receiver = receiver;
    this.#deadline = deadlines.body(this);
  }

  /** @param isOurs Nobody else hears what the request tells as a stream. */
  start(isOurs: boolean): void {
    const { request } = this;
    if (!isOurs || !readFromParser(request, this)) {
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
    if (this.received > this.#limit) this.fail(bodyTooLarge);
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

/** Takes what is left of a body off the wire, and drops it. */
export class DrainedBody implements BodyReading {
  readonly request: IncomingMessage;
  readonly #limit: number;
  readonly #done: () => void;
  readonly #deadline: Deadline;
  readonly #heardPart: (part: Buffer) => void;
  readonly #heardEnd: () => void;
  #dropped = 0;

  /** `done` is called once: at the body's end, past `limit` bytes of it, or where no more comes in the time for it. */
  constructor(
    request: IncomingMessage,
    limit: number,
    wait: (waiting: DeadlineListener) => Deadline,
    done: () => void,
  ) {
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
 * hold the connection, for ever. Past `discardLimit` bytes as many again are read after each look of the deadlines, so that who
 * sends on and on is read slowly.
 */
class Draining implements BodyReading, DeadlineListener {
  readonly request: IncomingMessage;
  dropped = 0;
  readonly #deadlines: Deadlines;
  /** Bytes to drop before the next look. */
  #allowed = discardLimit;
  #pause: Deadline | undefined = undefined;
  readonly #heardPart: (part: Buffer) => void;
  readonly #heardEnd: () => void;

  constructor(request: IncomingMessage, deadlines: Deadlines) {
    this.request = request;
    this.#deadlines = deadlines;
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
    this.#pause ??= this.#deadlines.time(0, this);
  }
}

/** A body as `node:http` brings it. Nothing is read, and the client not told to send it, before it is asked for. */
export class IncomingBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: IncomingMessage;
  readonly #deadlines: Deadlines;
  readonly #isOurs: boolean;
  #sendContinue: (() => void) | undefined;
  #whole: BodyBuffer | undefined = undefined;
  #parts: BodyChunks | undefined = undefined;
  #draining: Draining | undefined = undefined;

  constructor(
    request: IncomingMessage,
    length: number | undefined,
    deadlines: Deadlines,
    isOurs: boolean,
    sendContinue: (() => void) | undefined,
  ) {
    this.length = length;
    this.#request = request;
    this.#deadlines = deadlines;
    this.#isOurs = isOurs;
    this.#sendContinue = sendContinue;
  }

  read(): Promise<Uint8Array | BodyFailure | undefined> {
    this.#begin();
    this.#parts ??= new BodyChunks(this.#request, this.#deadlines);
    return this.#parts.read();
  }

  whole(limit: number, receiver: BodyReceiver): void {
    this.#begin();
    this.#whole = new BodyBuffer(this.#request, this.#deadlines, limit, receiver);
    this.#whole.start(this.#isOurs);
  }

  /** Bytes that have not come yet; undefined where no length says how many. */
  get left(): number | undefined {
    if (this.length === undefined) return undefined;
    const taken = this.#whole?.received ?? this.#parts?.received ?? 0;
    return this.length - taken - this.dropped - this.#request.readableLength;
  }

  /** Bytes that came, and that nobody read. */
  get dropped(): number {
    return this.#draining?.dropped ?? 0;
  }

  /** Whether the rest is not to be waited for: the client was never told to send it, or stopped, or sent what is no body. */
  get isLost(): boolean {
    const failure = this.#whole?.failure ?? this.#parts?.failure;
    return this.#sendContinue !== undefined || (failure !== undefined && failure !== bodyTooLarge);
  }

  /** The request is answered: the rest is the writer's to drop. */
  release(): void {
    this.#parts?.release();
    this.#draining?.stop();
  }

  /** Nobody reads it, or the rest of it. The client is not told to send it. */
  drain(): void {
    this.#draining ??= new Draining(this.#request, this.#deadlines);
    this.#draining.start();
  }

  #begin(): void {
    this.#sendContinue?.();
    this.#sendContinue = undefined;
  }
}
