import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { logListener } from "../../src/app/failures.ts";
import type { BodyFailure } from "../../src/inputs/body-source.ts";
import { attempt, guarded } from "../../src/logging/raised.ts";
import { isBun } from "./listen.ts";

/** How long a stream may have nothing to write for a client that may be gone, and how often that is looked at. */
const quietMs = 500;
const everyMs = 250;

/**
 * Waits on a client that ended its side of a connection on which it is owed an answer. It listens on, as `nc -N` does, or
 * it is gone, as the client of a closed tab: a FIN is all there is to see of either, until something is written, which
 * the one takes and the other resets. So what is owed is made and written all the same. But a stream with nothing to
 * write is not kept for a client that could not be told from one that is gone, and no answer is made for one for longer
 * than `sendTimeoutMs`.
 */
function waitOnEnded(connection: NodeConnection, sendTimeoutMs: number): void {
  const { socket } = connection;
  if (connection.isIdle || socket.destroyed) return;
  // An answer that takes the header of it away takes from Node, too, that the connection ends behind it.
  connection.whenIdle(() => socket.end());
  let written = socket.bytesWritten;
  let quietSince = performance.now();
  const look = guarded(socket, () => {
    const isQuiet = socket.bytesWritten === written && socket.writableLength === 0;
    written = socket.bytesWritten;
    if (!isQuiet) quietSince = performance.now();
    const longest = connection.streams > 0 ? quietMs : sendTimeoutMs;
    if (performance.now() - quietSince >= longest) socket.destroy();
  });
  const timer = setInterval(look, everyMs).unref();
  socket.once("close", () => clearInterval(timer));
}

/**
 * Calls back once the client has gone with its answer unfinished: when the connection closes, or when the client ends its
 * side while the answer is still made. What a half-closed client would rather have, nobody can know; a handler that asks
 * whether its client has gone is one that would not work for nobody.
 */
export function whenGone(response: ServerResponse, act: () => void): void {
  const { socket } = response.req;
  if (response.writableFinished && !socket.destroyed) return;
  const isGone = (): boolean => socket.destroyed || (socket.readableEnded && !response.headersSent);
  if (isGone()) return act();
  // One listener for all three, and no `once`, which costs another two objects: a subscriber to events has it for hours.
  const look = guarded(socket, () => {
    // Node calls an answer finished, too, whose connection is gone from under it.
    const gone = isGone();
    if (!gone && !response.writableFinished) return;
    socket.off("close", look).off("end", look);
    response.off("finish", look);
    if (gone) act();
  });
  socket.on("close", look).on("end", look);
  response.on("finish", look);
}

const key: unique symbol = Symbol("connection");

export const endedEarly: BodyFailure = { kind: "unreadable", detail: "the body ended early" };
export const tooSlow: BodyFailure = { kind: "unreadable", detail: "the body stopped arriving" };

/** A socket that a server of `node:http` took. */
interface WatchedSocket extends Socket {
  [key]?: NodeConnection;
}

/** Whoever takes a request's body from its connection. */
export interface BodyReading {
  readonly request: IncomingMessage;
  /** No more of it will come. */
  fail(failure: BodyFailure): void;
}

/** Whoever takes a body that no stream is made of: its parts, and then its end. */
export interface Taking {
  take(part: Buffer): void;
  end(): void;
}

/** What is known of one open connection beside what Node tells. */
export class NodeConnection {
  readonly socket: Socket;
  readonly #unixPath: string | undefined;
  /** No request of it has come. */
  isFresh = true;
  /** An answer ends it, or a refused head: nothing that comes behind is taken for a request (RFC 9112 §9.6). */
  closing = false;
  /** Why what comes on it is no HTTP any more; nothing of it is read. */
  fault: BodyFailure | undefined = undefined;
  /** Its client took nothing of an answer for too long, which ends it. */
  stoppedReading = false;
  #hasEnded = false;
  #reading: BodyReading | undefined = undefined;
  /** Who else takes a body: one that was read late, with others behind it. */
  #others: Set<BodyReading> | undefined = undefined;
  /** Who takes the body that is coming, as the parser hands it over. */
  taking: Taking | undefined = undefined;
  /**
   * How many answers are being made. A number and not they, here as below: kept until the next request, each would
   * outlive its youth, and be the old generation's to collect.
   */
  #made = 0;
  /** How many answers that come to an end are not taken whole yet: every one but a stream of events. */
  #sent = 0;
  /** How many streams are being written. */
  streams = 0;
  #whenIdle: (() => void) | undefined = undefined;

  constructor(socket: Socket, unixPath: string | undefined) {
    this.socket = socket;
    this.#unixPath = unixPath;
  }

  get peer(): string {
    if (this.#unixPath !== undefined) return `unix:${this.#unixPath}`;
    const address = this.socket.remoteAddress ?? "";
    // An IPv4 peer of a socket that takes both families.
    return address.startsWith("::ffff:") ? address.slice(7) : address;
  }

  /** Whether any of a head may have come. Bun counts no byte of what its parser takes: there, it may. */
  get mayHaveBegun(): boolean {
    return this.socket.bytesRead > 0 || isBun;
  }

  /** Whether nobody waits for an answer on it. */
  get isIdle(): boolean {
    return this.#made === 0 && this.#sent === 0 && this.streams === 0;
  }

  /** How many answers that come to an end its client has not taken whole. */
  get unsent(): number {
    return this.#sent;
  }

  /** Ends the connection, by `act`, once nobody waits for an answer on it; the first that is to end it does. */
  whenIdle(act: () => void): void {
    if (this.isIdle) act();
    else this.#whenIdle ??= act;
  }

  /** An answer is being made, until `made`. */
  makes(): void {
    this.#made++;
  }

  made(): void {
    this.#made--;
    this.#settle();
  }

  /** An answer that comes to an end is written, and the client has not taken it yet. */
  sends(response: ServerResponse): void {
    this.#sent++;
    response.once(
      "close",
      guarded(this.socket, () => {
        this.#sent--;
        this.#settle();
      }),
    );
  }

  /** A stream is written, until `streamed`. */
  begins(): void {
    this.streams++;
  }

  streamed(): void {
    this.streams--;
    this.#settle();
  }

  #settle(): void {
    if (!this.isIdle) return;
    const act = this.#whenIdle;
    this.#whenIdle = undefined;
    act?.();
  }

  /** The reading that a fault on the wire would be the end of: one whose body has not come whole. */
  get unfinished(): BodyReading | undefined {
    if (this.#reading?.request.complete === false) return this.#reading;
    for (const reading of this.#others ?? []) if (!reading.request.complete) return reading;
    return undefined;
  }

  reads(reading: BodyReading): void {
    const { request } = reading;
    if (request.destroyed || (this.#hasEnded && !request.complete)) reading.fail(endedEarly);
    else if (this.fault !== undefined && !request.complete) reading.fail(this.fault);
    else if (this.#reading === undefined) this.#reading = reading;
    else (this.#others ??= new Set()).add(reading);
  }

  hasRead(reading: BodyReading): void {
    if (this.#reading === reading) this.#reading = undefined;
    else this.#others?.delete(reading);
  }

  /** Its client sends no more. */
  ended(): void {
    this.#hasEnded = true;
    this.unfinished?.fail(endedEarly);
  }

  /** Nor is what came of a body to be had any more. */
  closed(): void {
    this.#reading?.fail(endedEarly);
    for (const reading of this.#others ?? []) reading.fail(endedEarly);
  }
}

export function isWatched(socket: WatchedSocket): boolean {
  return socket[key] !== undefined;
}

/** A watched socket's connection. */
export function connectionOf(socket: WatchedSocket): NodeConnection {
  return socket[key] as NodeConnection;
}

/** Has it found by its socket. */
function keepBySocket(connection: NodeConnection): void {
  const socket: WatchedSocket = connection.socket;
  socket[key] = connection;
}

/** What is done with every open connection of a server. */
interface Watching {
  readonly sendTimeoutMs: number;
  /** How long one may stay that never sent a byte; undefined where the server that took it sees to that. */
  readonly idleTimeoutMs?: number;
  /** The Unix socket they come in by. */
  readonly unixPath?: string | undefined;
}

/** The open connections of a server. */
export class Connections {
  readonly #open = new Set<NodeConnection>();
  readonly #watching: Watching;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  /** Watches a connection to its end: listeners for each, where a request's own would cost each of them 0.9 µs. */
  watch(socket: WatchedSocket): NodeConnection {
    const { sendTimeoutMs, idleTimeoutMs, unixPath } = this.#watching;
    const connection = new NodeConnection(socket, unixPath ?? pathOf(socket));
    keepBySocket(connection);
    // Every answer that waits on it may listen for its end.
    socket.setMaxListeners(0);
    if (idleTimeoutMs !== undefined) socket.setTimeout(idleTimeoutMs);
    // Node takes its own off a connection that it hands over, and an `error` that nobody hears ends the process.
    socket.on("error", ignore);
    // Neither comes twice, and `once` would keep two more objects for as long as the connection is open.
    socket.on("end", () => {
      attempt(socket, () => {
        // Node has told of it as of a fault, Deno has not.
        connection.ended();
        waitOnEnded(connection, sendTimeoutMs);
      });
    });
    socket.on("close", () => {
      this.#open.delete(connection);
      attempt(socket, () => connection.closed());
    });
    this.#open.add(connection);
    return connection;
  }

  /** A request's connection, watched from now on where it is seen for the first time. */
  of(socket: WatchedSocket): NodeConnection {
    return connectionOf(socket) ?? this.watch(socket);
  }

  get size(): number {
    return this.#open.size;
  }

  /** How many answers with an end are not taken whole. */
  get unsent(): number {
    let unsent = 0;
    for (const connection of this.#open) unsent += connection.unsent;
    return unsent;
  }

  /** Closes each once nobody waits on it, also one that never sent a whole head: Node 20 would wait for it. */
  closeIdle(): void {
    for (const connection of this.#open) {
      if (!connection.closing) connection.whenIdle(() => connection.socket.destroySoon());
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy();
  }
}

// Its `close` follows, and tells everybody.
function ignore(): void {}

/** The Unix path a connection came in by, where another's server took it. */
function pathOf({ remoteAddress, server }: WatchedSocket): string | undefined {
  if (remoteAddress !== undefined) return undefined;
  const address = server?.address();
  return typeof address === "string" ? address : undefined;
}

const lineEveryMs = 60_000;

/** The connections that are closed since there are `maxConnections` already: a warn line counts them, one a minute at the most. */
export class ConnectionLimitLog {
  readonly #maxConnections: number;
  #closed = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections;
  }

  closed(): void {
    this.#closed++;
    if (this.#timer === undefined) this.#say();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #say(): void {
    logListener("warn", `connections closed past maxConnections (${this.#maxConnections}): ${this.#closed}`);
    this.#closed = 0;
    const sayMore = guarded(undefined, () => {
      this.#timer = undefined;
      if (this.#closed > 0) this.#say();
    });
    this.#timer = setTimeout(sayMore, lineEveryMs).unref();
  }
}
