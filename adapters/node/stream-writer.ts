import { readParts } from "../../src/events/stream.ts";
import type { Parts, StreamBody, StreamEnd, StreamSink, StreamWriting } from "../../src/events/stream.ts";
import { caught, inBackground } from "../../src/logging/raised.ts";
import type { App } from "../../src/app/app.ts";
import type { OpenThings } from "../../src/server/lifecycle.ts";
import type { SendingState } from "../../src/server/pulled-unsent.ts";

/** An open stream, which a stopping server may end. */
export interface OpenStream {
  readonly isEventStream: boolean;
  cut(): void;
}

/** The server's state that responses need. */
export interface ServerState extends SendingState {
  readonly app: App;
  /** No further request is accepted: every response closes its connection. */
  readonly stopping: boolean;
  /** Another server listens, whose middleware may have set headers, and which has timeouts of its own. */
  readonly isMounted: boolean;
  /** The open streams. Those of events end when the server stops. */
  readonly streams: OpenThings<OpenStream>;
}

/** What a response is written to: the connection of HTTP/1.1, a stream of HTTP/2. */
interface Channel {
  readonly destroyed: boolean;
  destroy(): unknown;
  on(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

/**
 * Writes a streamed body as it is made, at most one part ahead of the client. For a body that writes itself, as events do, nothing
 * is pending here: a subscriber stays in memory for hours.
 */
export abstract class StreamWriter<C extends Channel> implements StreamSink, OpenStream {
  readonly isEventStream: boolean;
  protected readonly channel: C;
  protected readonly server: ServerState;
  readonly #body: StreamBody;
  /** The source of the body, which is cancelled when reading ends. */
  #source: Parts | StreamWriting | undefined = undefined;
  /** The bytes of the part that are written once the client has taken those before. */
  protected unwritten = 0;
  #isCut = false;
  #hasEnded = false;
  #draining: Promise<void> | undefined = undefined;
  /** Ends the wait for a part, if there is one. */
  #wake: (() => void) | undefined = undefined;

  constructor(channel: C, body: StreamBody, isEventStream: boolean, server: ServerState) {
    this.isEventStream = isEventStream;
    this.channel = channel;
    this.server = server;
    this.#body = body;
  }

  /** The longest part that is written at once. */
  protected abstract get maxPartBytes(): number;
  /** Undefined where the next part may be read now. */
  protected mayRead(): Promise<void> | undefined {
    return undefined;
  }

  /** The client has gone. */
  protected abstract get isGone(): boolean;
  /** It has gone because it read nothing for too long. */
  protected abstract get stoppedReading(): boolean;
  /** Returns false if the buffer is full. */
  protected abstract send(part: Uint8Array): boolean;
  /** Calls `act` once, when the client has taken what was written or the channel is closed. */
  protected abstract whenDrained(act: () => void): void;
  /** The body is complete. */
  protected abstract finish(): void;
  /** Ends the response, which is not complete, once its written part is sent. */
  protected abstract abort(how: StreamEnd): void;
  /** The same where the server stops, which waits for the client no longer than `lingerMs`. */
  protected abstract abortInTime(): void;

  /** Closes the channel whose event threw. */
  protected raised(thrown: unknown): void {
    caught(thrown, this.channel);
  }

  run(): void {
    this.channel.on("close", this.#cancel);
    this.server.streams.add(this);
    this.#begin();
    // It was requested while the server ran, and answered after it stopped.
    if (this.isEventStream && this.server.streams.isStopping) this.cut();
  }

  #begin(): void {
    const { writeTo } = this.#body;
    // The body writes when it has something: waiting for each part would cost an event as much as writing it.
    if (writeTo !== undefined) {
      const source = writeTo(this);
      this.#source = source;
      // It may have ended meanwhile, before the source could be cancelled.
      if (this.#hasEnded) source.cancel();
      return;
    }
    const parts = readParts(this.#body);
    this.#source = parts;
    this.#writeParts(parts)
      .then(
        (how) => this.#over(how),
        (thrown: unknown) => this.fail(thrown),
      )
      .catch((thrown: unknown) => this.raised(thrown));
  }

  // Checked before the event: a producer that sends without a pause would never let its turn come.
  write(part: Uint8Array): boolean {
    return !this.#isOver() && this.send(part);
  }

  async room(): Promise<boolean> {
    if (!this.#isOver()) await this.#drained();
    return !this.#isOver();
  }

  end(): void {
    this.#over(this.#isOver() ? this.#gone() : "finished");
  }

  fail(thrown: unknown): void {
    // A producer that is cancelled may throw.
    this.#over(this.#isOver() ? this.#gone() : "failed", thrown);
  }

  readonly #cancel = (): void => {
    try {
      inBackground(this.#source?.cancel());
      if (this.#body.writeTo !== undefined) this.#over(this.#gone());
      else this.#wake?.();
    } catch (thrown) {
      this.raised(thrown);
    }
  };

  /** The server stops: the source is cancelled, and what was written is sent. */
  cut(): void {
    if (this.#hasEnded || this.#isCut) return;
    this.#isCut = true;
    this.#cancel();
    this.abortInTime();
  }

  #over(how: StreamEnd, thrown?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.server.streams.remove(this);
    this.channel.off("close", this.#cancel);
    this.#end(how);
    this.#body.request?.ended(how, thrown);
  }

  #end(how: StreamEnd): void {
    if (how === "finished") return this.finish();
    inBackground(this.#source?.cancel());
    if (!this.#isOver()) this.abort(how);
  }

  async #writeParts(parts: Parts): Promise<StreamEnd> {
    const { length } = this.#body;
    let left = length ?? Number.POSITIVE_INFINITY;
    for (;;) {
      const turn = this.mayRead();
      if (turn !== undefined) await turn;
      const part = await this.#next(parts);
      if (part === undefined) break;
      const room = this.#writePart(part.subarray(0, left));
      if (room !== undefined) await room;
      if (this.#isOver()) return this.#gone();
      if (part.byteLength > left) return "long";
      left -= part.byteLength;
    }
    if (this.#isOver()) return this.#gone();
    return length !== undefined && left > 0 ? "short" : "finished";
  }

  /** Undefined where there is room for the next part. */
  #writePart(part: Uint8Array): Promise<void> | undefined {
    if (part.byteLength > this.maxPartBytes) return this.#writePieces(part);
    return this.#isOver() || this.send(part) ? undefined : this.#drained();
  }

  async #writePieces(part: Uint8Array): Promise<void> {
    const step = this.maxPartBytes;
    for (let at = 0; at < part.byteLength && !this.#isOver(); at += step) {
      this.unwritten = Math.max(0, part.byteLength - at - step);
      if (!this.send(part.subarray(at, at + step))) await this.#drained();
    }
  }

  // The source may not notice that reading has ended: a generator that itself awaits does not.
  #next(parts: Parts): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      // A named constant: V8 pretenures a closure that is assigned straight to a member.
      const wake = (): void => resolve(undefined);
      this.#wake = wake;
      parts.next().then(resolve, reject);
    });
  }

  #isOver(): boolean {
    return this.#isCut || this.isGone;
  }

  #gone(): StreamEnd {
    if (this.#isCut) return "connection closed";
    return this.stoppedReading ? "client stopped reading" : "client gone";
  }

  /** Waits until the client has taken what was written, or has gone; one wait for all sends. */
  #drained(): Promise<void> {
    if (this.channel.destroyed) return Promise.resolve();
    this.#draining ??= new Promise((resolve) => {
      this.whenDrained(() => {
        this.#draining = undefined;
        resolve();
      });
    });
    return this.#draining;
  }
}
