import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { logListener } from "../../src/app/failures.ts";
import { readParts } from "../../src/events/stream.ts";
import type { Parts, StreamBody, StreamEnd, StreamSink, StreamWriting } from "../../src/events/stream.ts";
import { caught, guarded, inBackground } from "../../src/logging/raised.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import { connectionOf, lingerMs } from "./connection.ts";
import { responseBeingWritten } from "./private.ts";

/** An open stream, which a stopping server may end. */
export interface OpenStream {
  readonly isEventStream: boolean;
  cut(): void;
}

/** The server's state that responses need. */
export interface ServerState {
  readonly deadlines: Deadlines;
  readonly sendTimeoutMs: number;
  /** No further request is accepted: every response closes its connection. */
  readonly stopping: boolean;
  /** Another server listens, whose middleware may have set headers, and which has timeouts of its own. */
  readonly isMounted: boolean;
  /** The open streams. */
  readonly streams: Set<OpenStream>;
  /** The server stops, so an event stream that begins now ends at once. */
  readonly endsEventStreams: boolean;
}

/**
 * Limits how long a client may read nothing of a response. Node's socket timeout knows whether bytes were read since its
 * last check; then it calls `timedOut`.
 */
export function sendWithin(response: ServerResponse, { sendTimeoutMs, isMounted }: ServerState): void {
  const { socket } = response.req;
  if (!isMounted) socket.setTimeout(sendTimeoutMs);
  // Another server handles timeouts of its connections, unless the response that is being written listens for them.
  else if (response.socket === null)
    response.once(
      "socket",
      guarded(socket, () => sendWithinMounted(response, socket, sendTimeoutMs)),
    );
  else sendWithinMounted(response, socket, sendTimeoutMs);
}

function sendWithinMounted(response: ServerResponse, socket: Socket, sendTimeoutMs: number): void {
  if (response.listenerCount("timeout") > 0) {
    socket.setTimeout(sendTimeoutMs);
    return;
  }
  const before = socket.timeout ?? 0;
  response.on(
    "timeout",
    guarded(socket, () => timedOut(socket, sendTimeoutMs)),
  );
  // Before Node's own listener, which sets the keep-alive timeout.
  response.prependOnceListener(
    "finish",
    guarded(socket, () => {
      socket.setTimeout(before);
    }),
  );
  socket.setTimeout(sendTimeoutMs);
}

/** Handles a connection without traffic for a time: it is closed if the client is the cause. */
export function timedOut(socket: Socket, sendTimeoutMs: number): void {
  const connection = connectionOf(socket);
  if (unsentBytes(socket) > 0) {
    logListener("info", `closed a connection whose client stopped reading for ${sendTimeoutMs / 1000}s`);
    connection.stoppedReading = true;
    socket.destroy();
  } else if (connection.isIdle && !(connection.isFresh && connection.mayHaveBegun)) {
    // An incomplete first head has its own timeout.
    socket.destroy();
  }
}

// Bun's sockets do not count their unsent bytes; its response does.
function unsentBytes(socket: Socket): number {
  return socket.writableLength || (responseBeingWritten(socket)?.writableLength ?? 0);
}

/** Closes the connection with the response incomplete, once its written part is sent. */
function hangUp(response: ServerResponse, server: ServerState): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  sendWithin(response, server);
  // Called once everything before it is with the socket; Node holds it back behind earlier responses.
  response.write(
    "",
    guarded(socket, () => socket.destroySoon()),
  );
}

/** Writes a body as it is made, at most one part ahead of the client. */
export function stream(response: ServerResponse, body: StreamBody, isEventStream: boolean, server: ServerState): void {
  const connection = connectionOf(response.req.socket);
  connection.begins();
  if (!isEventStream) connection.sends(response);
  // It is emitted once, and `once` would keep two more objects while the stream is open.
  response.on(
    "close",
    guarded(response.req.socket, () => connection.streamed()),
  );
  response.flushHeaders();
  new NodeStream(response, body, isEventStream, server).run();
}

/** For a body that writes itself, as events do, nothing is pending here: a subscriber stays in memory for hours. */
class NodeStream implements StreamSink, OpenStream {
  readonly isEventStream: boolean;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #body: StreamBody;
  readonly #server: ServerState;
  /** The source of the body, which is cancelled when reading ends. */
  #source: Parts | StreamWriting | undefined = undefined;
  #isCut = false;
  #hasEnded = false;
  #draining: Promise<void> | undefined = undefined;
  /** Ends the wait for a part, if there is one. */
  #wake: (() => void) | undefined = undefined;

  constructor(response: ServerResponse, body: StreamBody, isEventStream: boolean, server: ServerState) {
    this.isEventStream = isEventStream;
    this.#response = response;
    this.#socket = response.req.socket;
    this.#body = body;
    this.#server = server;
  }

  run(): void {
    // The connection's event and not the response's: Node 20 emits it only on the response that is being written.
    this.#socket.on("close", this.#cancel);
    this.#server.streams.add(this);
    this.#begin();
    // It was requested while the server ran, and answered after it stopped.
    if (this.isEventStream && this.#server.endsEventStreams) this.cut();
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
      .catch((thrown: unknown) => caught(thrown, this.#socket));
  }

  // Checked before the event: a producer that sends without a pause would never let its turn come.
  write(part: Uint8Array): boolean {
    return !this.#isOver() && this.#response.write(part);
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
      caught(thrown, this.#socket);
    }
  };

  /** The server stops: the source is cancelled, and what was written is sent. */
  cut(): void {
    if (this.#hasEnded || this.#isCut) return;
    this.#isCut = true;
    this.#cancel();
    hangUp(this.#response, this.#server);
    // Behind another response it is not being written yet, and the other one has its own timeout.
    if (this.#response.socket === null) return;
    this.#server.deadlines.time(lingerMs, { expire: () => this.#socket.destroy() });
  }

  #over(how: StreamEnd, thrown?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#server.streams.delete(this);
    this.#socket.off("close", this.#cancel);
    this.#end(how);
    this.#body.request?.ended(how, thrown);
  }

  #end(how: StreamEnd): void {
    if (how === "finished") {
      sendWithin(this.#response, this.#server);
      this.#response.end();
      return;
    }
    inBackground(this.#source?.cancel());
    if (!this.#isOver()) hangUp(this.#response, this.#server);
  }

  async #writeParts(parts: Parts): Promise<StreamEnd> {
    const { length } = this.#body;
    let left = length ?? Number.POSITIVE_INFINITY;
    for (let part = await this.#next(parts); part !== undefined; part = await this.#next(parts)) {
      if (this.#isOver()) return this.#gone();
      const written = this.#response.write(part.subarray(0, left));
      if (part.byteLength > left) return "long";
      left -= part.byteLength;
      if (!written) await this.#drained();
    }
    if (this.#isOver()) return this.#gone();
    return length !== undefined && left > 0 ? "short" : "finished";
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
    return this.#isCut || this.#socket.destroyed;
  }

  #gone(): StreamEnd {
    if (this.#isCut) return "connection closed";
    return connectionOf(this.#socket).stoppedReading ? "client stopped reading" : "client gone";
  }

  /** Waits until the client has read what was written, or its connection is closed; one wait for all sends. */
  #drained(): Promise<void> {
    const response = this.#response;
    const socket = this.#socket;
    if (socket.destroyed) return Promise.resolve();
    this.#draining ??= new Promise((resolve) => {
      const settle = guarded(socket, () => {
        response.off("drain", settle);
        socket.off("close", settle).off("drain", check);
        this.#draining = undefined;
        resolve();
      });
      // Node forwards the socket's `drain` to a response, but not for a socket that it gave to a later request.
      const check = guarded(socket, () => {
        if (response.writableLength === 0) settle();
      });
      sendWithin(response, this.#server);
      response.once("drain", settle);
      socket.once("close", settle).on("drain", check);
    });
    return this.#draining;
  }
}
