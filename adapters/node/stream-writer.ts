import type { OpenStream, BodySender, StreamEnd, StreamSink } from "../../src/doors/events.ts";
import { caught, inBackground } from "../../src/doors/logging.ts";
import type { App } from "../../src/doors/apps.ts";
import { lingerMs } from "../../src/doors/server.ts";
import type { OpenThings, SendingState } from "../../src/doors/server.ts";

/** A stream that is written, which a stopping server may end. */
export interface WrittenStream {
  readonly isEventStream: boolean;
  cut(): void;
  stop(): void;
}

/** The server's state that responses need. */
export interface ServerState extends SendingState {
  readonly app: App;
  /** No further request is accepted: every response closes its connection. */
  readonly stopping: boolean;
  /** Another server listens, whose middleware may have set headers, and which has timeouts of its own. */
  readonly isMounted: boolean;
  /** The open streams. Those of events end when the server stops. */
  readonly streams: OpenThings<WrittenStream>;
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
export abstract class StreamWriter<C extends Channel> implements StreamSink, BodySender, WrittenStream {
  readonly isEventStream: boolean;
  protected readonly channel: C;
  protected readonly server: ServerState;
  readonly #stream: OpenStream;
  /** The bytes of the part that are written once the client has taken those before. */
  protected unwritten = 0;
  #draining: Promise<void> | undefined = undefined;

  constructor(channel: C, stream: OpenStream, isEventStream: boolean, server: ServerState) {
    this.isEventStream = isEventStream;
    this.channel = channel;
    this.server = server;
    this.#stream = stream;
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
  /** The body is complete, and the server stops. */
  protected abstract finishInTime(): void;

  /** Closes the channel whose event threw. */
  protected raised(thrown: unknown): void {
    caught(thrown, this.channel);
  }

  run(): void {
    const stream = this.#stream;
    stream.sentBy(this);
    this.channel.on("close", this.#left);
    this.server.streams.add(this);
    // The body writes when it has something: waiting for each part would cost an event as much as writing it.
    if (!stream.writeTo(this)) inBackground(this.#writeParts());
    // It was requested while the server ran, and answered after it stopped.
    if (this.isEventStream && this.server.streams.isStopping) this.stop();
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
    this.#stream.finish();
  }

  fail(thrown: unknown): void {
    this.#stream.end("failed", thrown);
  }

  readonly #left = (): void => this.#stream.end("client gone");

  /** The source is cancelled, and what was written is sent. */
  cut(): void {
    this.#stream.end("server stopped");
  }

  /** The server stops. */
  stop(): void {
    this.#stream.stopWithServer((expire) => this.server.deadlines.time(lingerMs, { expire }));
  }

  lost(): StreamEnd | undefined {
    if (!this.isGone) return undefined;
    return this.stoppedReading ? "client stopped reading" : "client gone";
  }

  ended(how: StreamEnd): void {
    try {
      this.server.streams.remove(this);
      this.channel.off("close", this.#left);
      if (how === "finished") this.finish();
      else if (how === "stopped") this.finishInTime();
      else if (how === "server stopped") this.abortInTime();
      else if (!this.isGone) this.abort(how);
    } catch (thrown) {
      this.raised(thrown);
    }
  }

  async #writeParts(): Promise<void> {
    await this.mayRead();
    await this.#stream.sendTo((part) => this.#sent(part));
  }

  /** Resolves with true once the next part may be read; with false where the client has gone. */
  #sent(part: Uint8Array): boolean | Promise<boolean> {
    const room = this.#writePart(part);
    if (room !== undefined) return room.then(() => this.#turn());
    return this.#turn();
  }

  #turn(): boolean | Promise<boolean> {
    if (this.#isOver()) return false;
    return this.mayRead()?.then(() => !this.#isOver()) ?? true;
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

  #isOver(): boolean {
    return this.#stream.how !== undefined || this.isGone;
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
