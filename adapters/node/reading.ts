import { counted } from "../../src/counted.ts";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { BodyFailure } from "../../src/doors/inputs.ts";
import { logListener } from "../../src/doors/apps.ts";
import { guarded } from "../../src/doors/logging.ts";
import { readings } from "./connection-state.ts";
import type { ReadState } from "./connection-state.ts";
import { isBun } from "./listen.ts";
import type { ConnectionWriting } from "./writing.ts";

/** How many requests of a connection may wait for their responses. What its client sends meanwhile is not read. */
const maxPendingAnswers = 100;

/** The reader of a request's body. */
export interface ConnectionBodyReader {
  readonly request: IncomingMessage;
  /** The next reader of its connection: a body may be read late, with other requests after it. */
  next: ConnectionBodyReader | undefined;
  take(part: Buffer): void;
  end(): void;
  /** No more of the body will arrive. */
  fail(failure: BodyFailure): void;
  /** The same, where no fault is known: its client has left, or the server has stopped. */
  breakOff(): void;
}

const fresh: ReadState = { at: "fresh" };
const heads: ReadState = { at: "heads" };
const session: ReadState = { at: "session" };

/** What is read of a connection. */
export class ConnectionReading {
  readonly #socket: Socket;
  readonly #writing: ConnectionWriting;
  readonly #sendTimeoutMs: number;
  #state: ReadState = fresh;
  /** The number of requests that arrived on it. */
  requests = 0;
  /** The readers of its bodies, as a chain, which is nearly always of one. */
  #readers: ConnectionBodyReader | undefined = undefined;
  /** Runs while it is paused. No state of its own: requests wait in `heads`, and the bytes behind an upgrade in `over`. */
  #paused: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(socket: Socket, writing: ConnectionWriting, sendTimeoutMs: number) {
    this.#socket = socket;
    this.#writing = writing;
    this.#sendTimeoutMs = sendTimeoutMs;
  }

  /** No request has arrived, and the time of its head is not over. */
  get isFresh(): boolean {
    return this.#state.at === "fresh";
  }

  /** Whether bytes of a head may have arrived. Bun counts no bytes that its parser reads, so there they may. */
  get mayHaveBegun(): boolean {
    return this.#socket.bytesRead > 0 || isBun;
  }

  /** Whether what is awaited of the client has a time limit of its own: its first head, or the end of a line. */
  get isTimed(): boolean {
    const { at } = this.#state;
    return at === "broken line" || (at === "fresh" && this.mayHaveBegun);
  }

  /** Whether its requests are answered. */
  get isOpen(): boolean {
    const { at } = this.#state;
    return at === "heads" || at === "fresh" || at === "last";
  }

  /** Whether a session of HTTP/2 reads and ends it. */
  get isSession(): boolean {
    return this.#state.at === "session";
  }

  /** Whether a response, or a refused head, ends it. */
  get isOver(): boolean {
    return this.#state.at === "over";
  }

  /** Why its bytes are not HTTP any more; undefined while they are. */
  get fault(): BodyFailure | undefined {
    return "fault" in this.#state ? this.#state.fault : undefined;
  }

  /** Whether nothing behind a request is one. */
  isLast(request: IncomingMessage): boolean {
    return this.#state.at === "last" && this.#state.request === request;
  }

  /** Whether a request is answered. */
  takes(request: IncomingMessage): boolean {
    return this.#state.at === "heads" || this.#state.at === "fresh" || this.isLast(request);
  }

  /** A request has arrived, or the time of the first one's head is over. */
  begins(): void {
    if (readings[this.#state.at].begins !== undefined) this.#state = heads;
  }

  /** Nothing that follows a request is one. The first such request is the last: what a body of it looks like does not count. */
  endsWith(request: IncomingMessage): void {
    if (readings[this.#state.at].last !== undefined) this.#state = { at: "last", request };
  }

  speaksHttp2(): void {
    if (readings[this.#state.at].session !== undefined) this.#state = session;
  }

  /** The parser has found a fault. Returns the first one; undefined where the connection is refused already. */
  breaks(fault: BodyFailure): BodyFailure | undefined {
    if (readings[this.#state.at].breaks !== undefined) this.#state = { at: "broken", fault };
    return this.#state.at === "broken" ? this.#state.fault : undefined;
  }

  /** The end of the line with the fault is awaited. */
  awaitsLineEnd(): void {
    if (this.#state.at === "broken") this.#state = { at: "broken line", fault: this.#state.fault };
  }

  /** A response closes the connection, or it is refused. */
  closes(): void {
    this.#end("closes");
  }

  /** Its client is disconnected. */
  cut(): void {
    this.#end("cut");
  }

  #end(event: "closes" | "cut"): void {
    if (readings[this.#state.at][event] !== undefined) this.#state = { at: "over", fault: this.fault };
  }

  /** A request that is answered has arrived. Returns its number. */
  arrived(request: IncomingMessage): number {
    if (this.#state.at === "fresh") this.begins();
    const turn = ++this.requests;
    if (this.#writing.pendingAnswers < maxPendingAnswers) return turn;
    // Once Node has parsed the packet, by its last request. A body is read to its end, and what follows it comes here again.
    const pause = guarded(this.#socket, () => {
      const isLatest = turn === this.requests && request.complete;
      if (isLatest && this.#writing.pendingAnswers >= maxPendingAnswers) this.pause();
    });
    setImmediate(pause);
    return turn;
  }

  /**
   * Stops reading, until `resume`. Nothing tells meanwhile that its client has gone, for which handlers may wait: after
   * `sendTimeoutMs` it is closed.
   */
  pause(): void {
    this.#socket.pause();
    const expire = guarded(this.#socket, () => {
      this.#paused = undefined;
      // A client that does not read its response has a time limit of its own.
      if (this.#writing.isSending) return this.pause();
      const count = this.#writing.pendingAnswers;
      logListener(
        "info",
        `closed a connection with ${counted(count, "request")} unanswered for ${this.#sendTimeoutMs / 1000}s`,
      );
      this.#socket.destroy();
    });
    this.#paused ??= setTimeout(expire, this.#sendTimeoutMs).unref();
  }

  resume(): void {
    clearTimeout(this.#paused);
    this.#paused = undefined;
    this.#socket.resume();
  }

  /** Reads on, where fewer requests wait now than may. */
  resumeBelow(): void {
    if (this.#paused !== undefined && this.#writing.pendingAnswers < maxPendingAnswers) this.resume();
  }

  /** The reader that a fault of the connection ends: one whose body is incomplete. */
  get unfinished(): ConnectionBodyReader | undefined {
    let reader = this.#readers;
    while (reader?.request.complete === true) reader = reader.next;
    return reader;
  }

  readerOf(request: IncomingMessage): ConnectionBodyReader | undefined {
    let reader = this.#readers;
    while (reader !== undefined && reader.request !== request) reader = reader.next;
    return reader;
  }

  addReader(reader: ConnectionBodyReader): void {
    const { request } = reader;
    if (request.destroyed || (this.#socket.readableEnded && !request.complete)) return reader.breakOff();
    const { fault } = this;
    if (fault !== undefined && !request.complete) return reader.fail(fault);
    reader.next = this.#readers;
    this.#readers = reader;
  }

  removeReader(reader: ConnectionBodyReader): void {
    if (this.#readers === reader) this.#readers = reader.next;
    else for (let at = this.#readers; at !== undefined; at = at.next) if (at.next === reader) at.next = reader.next;
    reader.next = undefined;
  }

  /** The client has half-closed. */
  halfClosed(): void {
    this.unfinished?.breakOff();
  }

  /** The connection is closed, so received bytes of a body cannot be read any more either. */
  closed(): void {
    clearTimeout(this.#paused);
    // Each one leaves the chain.
    for (let reader = this.#readers; reader !== undefined; reader = this.#readers) {
      this.removeReader(reader);
      reader.breakOff();
    }
  }
}
