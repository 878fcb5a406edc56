import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { logListener } from "../../src/app/failures.ts";
import { readParts } from "../../src/events/stream.ts";
import type { Parts, StreamBody, StreamEnd, StreamSink, StreamWriting } from "../../src/events/stream.ts";
import { caught, guarded, inBackground } from "../../src/logging/raised.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import { lingerMs } from "./closing.ts";
import { connectionOf } from "./connection.ts";

/** A stream that a stopping server may have to end. */
export interface OpenStream {
  readonly isFeed: boolean;
  cut(): void;
}

/** What the writing of an answer needs to know of its server. */
export interface ServerState {
  readonly deadlines: Deadlines;
  readonly sendTimeoutMs: number;
  /** No further request is taken: every answer says so. */
  readonly stopping: boolean;
  /** Another's server listens, whose middleware may have set headers, and which has time-outs of its own. */
  readonly isMounted: boolean;
  /** The streams that are being sent. */
  readonly streams: Set<OpenStream>;
  /** The server stops, and a stream of events that begins now ends at once. */
  readonly endsFeeds: boolean;
}

/**
 * Bounds how long a client may take nothing of an answer. Node's own socket time-out knows whether any byte was taken
 * since it last looked; `timedOut` is what it then does.
 */
export function sendWithin(response: ServerResponse, { sendTimeoutMs, isMounted }: ServerState): void {
  const { socket } = response.req;
  if (!isMounted) socket.setTimeout(sendTimeoutMs);
  // Another's server does what it will when a connection times out, but where the answer whose turn it is hears of it.
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
  // Ahead of Node's own listener, which sets how long the connection may then be idle.
  response.prependOnceListener(
    "finish",
    guarded(socket, () => {
      socket.setTimeout(before);
    }),
  );
  socket.setTimeout(sendTimeoutMs);
}

/** A connection on which nothing went either way for a time: closed where its client is what kept it. */
export function timedOut(socket: Socket, sendTimeoutMs: number): void {
  const connection = connectionOf(socket);
  if (unsentBytes(socket) > 0) {
    logListener("info", `closed a connection whose client stopped reading for ${sendTimeoutMs / 1000}s`);
    connection.stoppedReading = true;
    socket.destroy();
  } else if (connection.isIdle && !(connection.isFresh && connection.mayHaveBegun)) {
    // Half of its first head has a time of its own.
    socket.destroy();
  }
}

// Bun's sockets know of nothing that waits in them, its answers do; Node's own name for the one whose turn it is.
function unsentBytes(socket: Socket): number {
  const answer = Reflect.get(socket, "_httpMessage") as ServerResponse | null | undefined;
  return socket.writableLength || (answer?.writableLength ?? 0);
}

/** Closes the connection with the answer unfinished, once what was written of it is out. */
function hangUp(response: ServerResponse, writing: ServerState): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  sendWithin(response, writing);
  // Called once everything before it is with the socket: Node holds it back, and behind the answers before it.
  response.write(
    "",
    guarded(socket, () => socket.destroySoon()),
  );
}

/** Writes a body as it is made, never further ahead of the client than a part. */
export function stream(response: ServerResponse, body: StreamBody, isFeed: boolean, writing: ServerState): void {
  const connection = connectionOf(response.req.socket);
  connection.begins();
  if (!isFeed) connection.sends(response);
  // It comes once, and `once` would keep two more objects for as long as the stream goes on.
  response.on(
    "close",
    guarded(response.req.socket, () => connection.streamed()),
  );
  response.flushHeaders();
  new NodeStream(response, body, isFeed, writing).run();
}

/** Of one that writes itself, as events do, nothing waits here: a subscriber is kept in memory for hours. */
class NodeStream implements StreamSink, OpenStream {
  readonly isFeed: boolean;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #body: StreamBody;
  readonly #writing: ServerState;
  /** What makes the body, which is told when nobody reads any further. */
  #source: Parts | StreamWriting | undefined = undefined;
  #isCut = false;
  #hasEnded = false;
  #draining: Promise<void> | undefined = undefined;
  /** Ends the wait for a part, where one is waited for. */
  #wake: (() => void) | undefined = undefined;

  constructor(response: ServerResponse, body: StreamBody, isFeed: boolean, writing: ServerState) {
    this.isFeed = isFeed;
    this.#response = response;
    this.#socket = response.req.socket;
    this.#body = body;
    this.#writing = writing;
  }

  run(): void {
    // The connection's end and not the answer's: Node 20 tells that to the one answer whose turn it is.
    this.#socket.on("close", this.#cancel);
    this.#writing.streams.add(this);
    this.#begin();
    // Asked for while the server ran, and answered when it did not any more.
    if (this.isFeed && this.#writing.endsFeeds) this.cut();
  }

  #begin(): void {
    const { writeTo } = this.#body;
    // Has the body write what it makes when it makes it: a wait for each part would cost an event as much as its writing.
    if (writeTo !== undefined) {
      const source = writeTo(this);
      this.#source = source;
      // It may be over by now, and was not to be told before.
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

  // Over before anybody is told: a producer that sends on and on would never let that turn come.
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
    // Whoever is told that nobody reads any further may well raise.
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

  /** The server stops: what makes it is told, and what was written goes out. */
  cut(): void {
    if (this.#hasEnded || this.#isCut) return;
    this.#isCut = true;
    this.#cancel();
    hangUp(this.#response, this.#writing);
    // Behind another answer it has not its turn yet, and that one has the time that any has.
    if (this.#response.socket === null) return;
    const deadline = this.#writing.deadlines.time(lingerMs, { expire: () => this.#socket.destroy() });
    this.#socket.once("close", () => deadline.clear());
  }

  #over(how: StreamEnd, thrown?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#writing.streams.delete(this);
    this.#socket.off("close", this.#cancel);
    this.#end(how);
    this.#body.request?.ended(how, thrown);
  }

  #end(how: StreamEnd): void {
    if (how === "finished") {
      sendWithin(this.#response, this.#writing);
      this.#response.end();
      return;
    }
    inBackground(this.#source?.cancel());
    if (!this.#isOver()) hangUp(this.#response, this.#writing);
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

  // What makes the parts may not hear that nobody waits for one any more: a generator that itself waits does not.
  #next(parts: Parts): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      // By a name, and not put straight in its place: V8 makes such a closure old at once.
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

  /** Waits until the client took what was written, or its connection is closed: once, however many sends wait for it. */
  #drained(): Promise<void> {
    const response = this.#response;
    const socket = this.#socket;
    if (socket.destroyed) return Promise.resolve();
    this.#draining ??= new Promise((resolve) => {
      const settle = guarded(socket, () => {
        response.off("drain", settle);
        socket.off("close", settle).off("drain", look);
        this.#draining = undefined;
        resolve();
      });
      // Node tells a response of its socket's `drain`, but for a socket that it handed over to a request behind it.
      const look = guarded(socket, () => {
        if (response.writableLength === 0) settle();
      });
      sendWithin(response, this.#writing);
      response.once("drain", settle);
      socket.once("close", settle).on("drain", look);
    });
    return this.#draining;
  }
}
