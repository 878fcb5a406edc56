import type { IncomingMessage } from "node:http";
import { bodyTooLarge, endedEarly, joined, noRoom, tooSlow } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { guarded } from "../../src/logging/raised.ts";
import type { Deadline, Deadlines, DeadlineListener } from "../../src/server/deadlines.ts";
import { connectionOf } from "./connection.ts";
import { discardLimit } from "../../src/server/lingering.ts";
import type { ConnectionBodyReader, PartReceiver } from "./connection.ts";
import { leaveToStream, readFromParser } from "./private.ts";

type ChunkRead = Uint8Array | BodyFailure | undefined;

/**
 * Whether Node does not read the connection, because responses to earlier requests wait for the client. That has a time limit of
 * its own, and is not charged to the body.
 */
function isHeldBack({ socket }: IncomingMessage): boolean {
  return socket.isPaused();
}

/**
 * Reads a body part by part from its events; the request is paused between two. Its own iterator costs more for each part,
 * and leaves a request that does not flow again for draining.
 */
class BodyChunks implements ConnectionBodyReader {
  readonly request: IncomingMessage;
  received = 0;
  readonly #deadline: Deadline;
  #resolve: ((read: ChunkRead) => void) | undefined = undefined;
  readonly #onPart: (part: Buffer) => void;
  readonly #onEnd: () => void;
  #isOver = false;
  /** The failure it ended with, if any. */
  failure: BodyFailure | undefined = undefined;

  constructor(request: IncomingMessage, deadlines: Deadlines) {
    this.request = request;
    this.#deadline = deadlines.body(this);
    this.#deadline.pause();
    this.#onPart = guarded(request.socket, (part: Buffer) => this.#take(part));
    this.#onEnd = guarded(request.socket, () => this.#end());
    request.on("data", this.#onPart).on("end", this.#onEnd);
    connectionOf(request.socket).addReader(this);
  }

  /** The next part. Time without a pending read is not charged to the client. */
  read(): Promise<ChunkRead> {
    if (this.#isOver) return Promise.resolve(this.failure);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#deadline.resume();
      this.request.resume();
    });
  }

  expire(): void {
    if (isHeldBack(this.request)) this.#deadline.restart();
    else this.fail(tooSlow);
  }

  fail(failure: BodyFailure): void {
    this.failure ??= failure;
    this.#end();
  }

  /** Leaves the rest to other readers: for this reader's caller the body ends. */
  release(): void {
    this.#end();
    this.request.off("data", this.#onPart).off("end", this.#onEnd);
  }

  #take(part: Buffer): void {
    this.received += part.byteLength;
    this.request.pause();
    this.#deadline.arrived(part.byteLength);
    this.#deadline.pause();
    this.#deliver(part);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.request.pause();
    this.#deadline.clear();
    connectionOf(this.request.socket).removeReader(this);
    this.#deliver(this.failure);
  }

  #deliver(read: ChunkRead): void {
    this.#resolve?.(read);
    this.#resolve = undefined;
  }
}

const noBytes = new Uint8Array();

/** Reads one body whole: from the parser or, where that is not possible, from its stream's events. */
class BodyBuffer implements ConnectionBodyReader, PartReceiver, DeadlineListener {
  readonly request: IncomingMessage;
  received = 0;
  failure: BodyFailure | undefined = undefined;
  readonly #limit: number;
  readonly #receiver: BodyReceiver;
  readonly #deadline: Deadline;
  /** Most bodies are one part: V8 would make room for seventeen in a list. */
  #first: Buffer | undefined = undefined;
  #others: Buffer[] | undefined = undefined;
  #isOver = false;

  constructor(request: IncomingMessage, deadlines: Deadlines, limit: number, receiver: BodyReceiver) {
    this.request = request;
    this.#limit = limit;
    this.#receiver = receiver;
    this.#deadline = deadlines.body(this);
  }

  /** @param isOurs No other code listens to the request's stream. */
  start(isOurs: boolean): void {
    const { request } = this;
    if (!isOurs || !readFromParser(request, this)) {
      const { socket } = request;
      const take = guarded(socket, (part: Buffer) => this.take(part));
      const end = guarded(socket, () => this.end());
      request.on("data", take).on("end", end);
    }
    connectionOf(request.socket).addReader(this);
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
    this.#finish(this.#joined());
  }

  // The response's writer drops the rest of the body.
  fail(failure: BodyFailure): void {
    if (this.#isOver) return;
    this.failure = failure;
    leaveToStream(this.request, this);
    this.request.pause();
    this.#finish(failure);
  }

  expire(): void {
    if (isHeldBack(this.request)) this.#deadline.restart();
    else this.fail(tooSlow);
  }

  #joined(): Uint8Array {
    const first = this.#first ?? noBytes;
    return this.#others === undefined ? first : joined([first, ...this.#others], this.received);
  }

  #finish(read: Uint8Array | BodyFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline.clear();
    connectionOf(this.request.socket).removeReader(this);
    this.#receiver.done(read);
  }
}

/** Reads and drops the rest of a body. */
export class DrainedBody implements ConnectionBodyReader {
  readonly request: IncomingMessage;
  readonly #limit: number;
  readonly #done: () => void;
  readonly #deadline: Deadline;
  readonly #onPart: (part: Buffer) => void;
  readonly #onEnd: () => void;
  #dropped = 0;

  /** `done` is called once: at the body's end, after more than `limit` bytes, or at the deadline. */
  constructor(
    request: IncomingMessage,
    limit: number,
    wait: (listener: DeadlineListener) => Deadline,
    done: () => void,
  ) {
    this.request = request;
    this.#limit = limit;
    this.#done = done;
    this.#deadline = wait(this);
    this.#onPart = guarded(request.socket, (part: Buffer) => this.#drop(part));
    this.#onEnd = guarded(request.socket, () => this.#finish());
  }

  start(): void {
    this.request.on("data", this.#onPart).on("end", this.#onEnd).resume();
    connectionOf(this.request.socket).addReader(this);
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
    connectionOf(this.request.socket).removeReader(this);
    this.request.off("data", this.#onPart).off("end", this.#onEnd).pause();
    this.#done();
  }
}

/**
 * Drops an unread body while its response is made or streamed. Node does not read a socket while a body waits to be read,
 * and such a socket reports neither a FIN nor a RST. The handler would wait forever for a client that has gone. After
 * `discardLimit` bytes, as many are read after each check of the deadlines, so a client that keeps sending is read slowly.
 */
class Draining implements ConnectionBodyReader, DeadlineListener {
  readonly request: IncomingMessage;
  dropped = 0;
  readonly #deadlines: Deadlines;
  /** Bytes to drop before the next check. */
  #allowed = discardLimit;
  #pause: Deadline | undefined = undefined;
  readonly #onPart: (part: Buffer) => void;
  readonly #onEnd: () => void;

  constructor(request: IncomingMessage, deadlines: Deadlines) {
    this.request = request;
    this.#deadlines = deadlines;
    this.#onPart = guarded(request.socket, (part: Buffer) => this.#drop(part));
    this.#onEnd = guarded(request.socket, () => this.stop());
  }

  start(): void {
    this.request.on("data", this.#onPart).on("end", this.#onEnd);
    connectionOf(this.request.socket).addReader(this);
    if (this.#pause === undefined) this.request.resume();
  }

  /** Leaves the rest to other readers. */
  stop(): void {
    this.#pause?.clear();
    this.#pause = undefined;
    connectionOf(this.request.socket).removeReader(this);
    this.request.off("data", this.#onPart).off("end", this.#onEnd).pause();
  }

  /** The dropped bytes are not awaited, and `release` stops it. */
  fail(): void {}

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

/** A body from `node:http`. Before the first read nothing is read, and no `100 Continue` is sent. */
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

  /** Bytes still to arrive; undefined without a length. */
  get left(): number | undefined {
    if (this.length === undefined) return undefined;
    const taken = this.#whole?.received ?? this.#parts?.received ?? 0;
    return this.length - taken - this.dropped - this.#request.readableLength;
  }

  /** Bytes that were received and dropped. */
  get dropped(): number {
    return this.#draining?.dropped ?? 0;
  }

  /** Whether the rest may never arrive: the client got no `100 Continue`, or stopped, or sent an invalid body. */
  get isLost(): boolean {
    const failure = this.#whole?.failure ?? this.#parts?.failure;
    return this.#sendContinue !== undefined || (failure !== undefined && failure !== bodyTooLarge);
  }

  /** The request is answered: the response's writer drops the rest. */
  release(): void {
    this.#parts?.release();
    // Answered before it arrived: the rest cannot go to the stream's readers, so the connection closes.
    this.#whole?.fail(endedEarly);
    this.#draining?.stop();
  }

  /** Drops the body, or its rest, without `100 Continue`. */
  drain(): void {
    this.#draining ??= new Draining(this.#request, this.#deadlines);
    this.#draining.start();
  }

  #begin(): void {
    this.#sendContinue?.();
    this.#sendContinue = undefined;
  }
}
