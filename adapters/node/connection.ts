import { AsyncLocalStorage } from "node:async_hooks";
import { peerAddress } from "../../src/doors/http.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { endedEarly } from "../../src/doors/inputs.ts";
import type { BodyFailure } from "../../src/doors/inputs.ts";
import { logListener } from "../../src/doors/apps.ts";
import { attempt, guarded } from "../../src/doors/logging.ts";
import type { Deadlines, Unsent } from "../../src/doors/server.ts";
import { lingerMs, lingerOn } from "../../src/doors/server.ts";
import { isBun } from "./listen.ts";

/** How long a stream to a half-closed client may write nothing, and how often that is checked. */
const quietMs = 500;
const everyMs = 250;

/**
 * The client half-closed (FIN) while a response is pending: send the response, then close. `nc -N` still reads after its
 * FIN, and a closed browser tab does not; only a write shows which, because the second one resets. So pending responses are
 * made and sent. But a stream with nothing to write is closed after `quietMs`, and no response is awaited for longer than
 * `sendTimeoutMs`.
 */
function waitOnHalfClosed(connection: NodeConnection, sendTimeoutMs: number): void {
  const { socket } = connection;
  if (connection.isIdle || socket.destroyed) return;
  // A response without a `Connection` header does not make Node close the connection after it.
  connection.whenIdle(() => socket.end());
  let written = socket.bytesWritten;
  let quietSince = performance.now();
  const check = guarded(socket, () => {
    const isQuiet = socket.bytesWritten === written && socket.writableLength === 0;
    written = socket.bytesWritten;
    if (!isQuiet) quietSince = performance.now();
    const limitMs = connection.streams > 0 ? quietMs : sendTimeoutMs;
    if (performance.now() - quietSince >= limitMs) socket.destroy();
  });
  const timer = setInterval(check, everyMs).unref();
  socket.once("close", () => clearInterval(timer));
}

/**
 * Calls `act` once the client has gone before its response was complete. It has gone when the connection closes, or when it
 * half-closes while the response is being made. Whether a half-closed client still reads cannot be known, and a handler with
 * this listener should not work for a client that has gone.
 */
export function whenGone(response: ServerResponse, act: () => void): void {
  const { socket } = response.req;
  if (response.writableFinished && !socket.destroyed) return;
  const isGone = (): boolean => socket.destroyed || (socket.readableEnded && !response.headersSent);
  if (isGone()) return act();
  // One listener for all three events, and not `once`, which costs two more objects: an event stream has it for hours.
  const check = guarded(socket, () => {
    // Node also reports a response as finished when its connection is lost.
    const gone = isGone();
    if (!gone && !response.writableFinished) return;
    socket.off("close", check).off("end", check);
    response.off("finish", check);
    if (gone) act();
  });
  socket.on("close", check).on("end", check);
  response.on("finish", check);
}

/** How many requests of a connection may wait for their responses. What its client sends meanwhile is not read. */
const maxPendingAnswers = 100;

/**
 * What a request takes that waits for the response before it: its objects and its head. With one header it is 2.1 kB of the heap and
 * 3 kB of the process (Node 20 to 26), and a packet of 64 KiB has 2,000 of them.
 */
const heldBytes = 3072;

/** What may wait for the client while the next response is made: to make it later costs a short one a quarter more. */
export const maxAheadBytes = 16_384;

/** Runs code without the context of an earlier request, in which a connection finds that its response has ended. */
const inRoot = AsyncLocalStorage.snapshot();

const key: unique symbol = Symbol("connection");

/** A socket that a `node:http` server accepted. */
interface WatchedSocket extends Socket {
  [key]?: NodeConnection;
}

/** The reader of a request's body. */
export interface ConnectionBodyReader {
  readonly request: IncomingMessage;
  /** The next reader of its connection: a body may be read late, with other requests after it. */
  next: ConnectionBodyReader | undefined;
  take(part: Buffer): void;
  end(): void;
  /** No more of the body will arrive. */
  fail(failure: BodyFailure): void;
}

/** The state of one open connection, in addition to Node's own. */
export class NodeConnection {
  readonly socket: Socket;
  readonly #watching: Watching;
  readonly #unixPath: string | undefined;
  /** No request has arrived on it, and the time of its first head is not over. */
  isFresh = true;
  /** A response or a refused head ends it: later bytes are not read as a request (RFC 9112 §9.6). */
  closing = false;
  /** The request whose response ends it, though Node's parser reads on: see `Upgrades.takes`. */
  last: IncomingMessage | undefined = undefined;
  /** It speaks HTTP/2: its session ends it. */
  isHttp2 = false;
  /** Why its bytes are not HTTP any more; they are not read. */
  fault: BodyFailure | undefined = undefined;
  /** Its client read nothing of a response for too long, so the connection ends. */
  stoppedReading = false;
  #isHalfClosed = false;
  /** The readers of its bodies, as a chain, which is nearly always of one. */
  #readers: ConnectionBodyReader | undefined = undefined;
  /**
   * The number of responses that are being made. Only numbers, here and below: objects kept until the next request would
   * survive into the old generation.
   */
  #making = 0;
  /** Starts the requests that wait for the responses before them; the first `#started` have begun. */
  readonly #held: ((() => void) | undefined)[] = [];
  #started = 0;
  /** The number of responses that the client has not read whole: all but event streams. */
  #unreadResponses = 0;
  /** The bytes of those that are not streams. */
  #unreadBytes = 0;
  /** What waits to be sent on it; undefined until something has waited. */
  #unsent: Unsent | undefined = undefined;
  /** The number of streams that are being written. */
  streams = 0;
  /** The number of requests that arrived on it. */
  requests = 0;
  /** Runs while it is paused. */
  #unread: ReturnType<typeof setTimeout> | undefined = undefined;
  /** Runs while its client may take nothing of a response. */
  sendWatch: { start(): void; rest(): void; stop(): void } | undefined = undefined;
  #whenIdle: (() => void) | undefined = undefined;

  constructor(socket: Socket, watching: Watching, unixPath: string | undefined) {
    this.socket = socket;
    this.#watching = watching;
    this.#unixPath = unixPath;
  }

  get peer(): string {
    if (this.#unixPath !== undefined) return `unix:${this.#unixPath}`;
    return peerAddress(this.socket.remoteAddress ?? "");
  }

  /** Whether bytes of a head may have arrived. Bun counts no bytes that its parser reads, so there they may. */
  get mayHaveBegun(): boolean {
    return this.socket.bytesRead > 0 || isBun;
  }

  /** Whether no response is pending on it. */
  get isIdle(): boolean {
    return this.#making === 0 && this.#held.length === 0 && this.#unreadResponses === 0 && this.streams === 0;
  }

  /** The number of requests whose responses its client has not read whole. */
  get unsent(): number {
    return this.#unreadResponses + this.#heldCount;
  }

  /** The number of requests without a response. */
  get #pendingAnswers(): number {
    return this.#making + this.#held.length - this.#started;
  }

  /**
   * Counts what waits for the client now. It may be disconnected for it.
   *
   * @param streaming The stream that is being written: on Bun the socket does not count its bytes.
   */
  count(streaming?: ServerResponse): void {
    const streamed = this.streams === 0 ? 0 : (streaming ?? this.socket).writableLength;
    this.waits(this.#unreadBytes + streamed + this.#heldCount * heldBytes);
  }

  /** Sets how many bytes wait of what is not a response: a WebSocket, or a protocol of the application's own. */
  waits(bytes: number): void {
    if (bytes > 0) this.#unsent ??= this.#watching.unsentOf(this);
    this.#unsent?.wait(bytes);
  }

  /** Whether a response is being made or streamed, or waits for the client: no further one is begun. */
  get #isBlocked(): boolean {
    return this.#making > 0 || this.streams > 0 || this.#unreadBytes > maxAheadBytes;
  }

  /** Whether a request may be answered now. Otherwise `hold` does it later. */
  get isFree(): boolean {
    return this.#held.length === 0 && this.#making === 0 && this.streams === 0 && this.#unreadBytes <= maxAheadBytes;
  }

  /**
   * Starts to answer a request once the client has taken the responses to those before it. So a packet with 2,000 requests makes one
   * response at a time, however long they are.
   */
  hold(start: () => void): void {
    this.#held.push(start);
    this.count();
  }

  #startHeld(): void {
    while (this.#heldCount > 0 && !this.#isBlocked) {
      const start = this.#held[this.#started] as () => void;
      this.#held[this.#started++] = undefined;
      // One of them may be the last of the connection.
      if (!this.closing && !this.socket.destroyed) inRoot(attempt, this.socket, start);
    }
    if (this.#heldCount === 0) this.#forgetHeld();
    this.#resumeBelow();
  }

  #forgetHeld(): void {
    this.#held.length = 0;
    this.#started = 0;
  }

  /** The number of requests that wait for the responses before them. */
  get #heldCount(): number {
    return this.#held.length - this.#started;
  }

  /** Ends the connection with `act` once no response is pending; only the first call counts. */
  whenIdle(act: () => void): void {
    if (this.isIdle) act();
    else this.#whenIdle ??= act;
  }

  /** A request has arrived. Returns its number. */
  arrived(request: IncomingMessage): number {
    const turn = ++this.requests;
    if (this.#pendingAnswers < maxPendingAnswers) return turn;
    // Once Node has parsed the packet, by its last request. A body is read to its end, and what follows it comes here again.
    const pause = guarded(this.socket, () => {
      const isLast = turn === this.requests && request.complete;
      if (isLast && this.#pendingAnswers >= maxPendingAnswers) this.pause();
    });
    setImmediate(pause);
    return turn;
  }

  /**
   * Stops reading, until `resume`. Nothing tells meanwhile that its client has gone, for which handlers may wait: after
   * `sendTimeoutMs` it is closed.
   */
  pause(): void {
    this.socket.pause();
    const { sendTimeoutMs } = this.#watching;
    const expire = guarded(this.socket, () => {
      this.#unread = undefined;
      // A client that does not read its response has a time limit of its own.
      if (this.#unreadResponses + this.streams > 0) return this.pause();
      const count = this.#pendingAnswers;
      logListener("info", `closed a connection with ${count} requests unanswered for ${sendTimeoutMs / 1000}s`);
      this.socket.destroy();
    });
    this.#unread ??= setTimeout(expire, sendTimeoutMs).unref();
  }

  resume(): void {
    clearTimeout(this.#unread);
    this.#unread = undefined;
    this.socket.resume();
  }

  /** A response is being made, until `endAnswer`. */
  beginAnswer(): void {
    this.#making++;
  }

  endAnswer(): void {
    this.#making--;
    if (this.#unread !== undefined) this.#resumeBelow();
    this.#settle();
  }

  /** Reads on, where fewer requests wait now than may. */
  #resumeBelow(): void {
    if (this.#unread !== undefined && this.#pendingAnswers < maxPendingAnswers) this.resume();
  }

  /** A response is there, and the client has not read it, until `endSending`. */
  beginSending(): void {
    this.#unreadResponses++;
  }

  endSending(): void {
    this.#unreadResponses--;
    this.#settle();
  }

  /** A response is written, and the client has not read it yet. */
  trackSent(response: ServerResponse): void {
    const bytes = response.writableLength;
    this.#unreadBytes += bytes;
    this.beginSending();
    response.once(
      "close",
      guarded(this.socket, () => {
        this.#unreadBytes -= bytes;
        this.endSending();
      }),
    );
  }

  /** A stream is written, until `endStream`. */
  beginStream(): void {
    this.streams++;
  }

  endStream(): void {
    this.streams--;
    this.#settle();
  }

  /** Its client has taken what was written of a stream. */
  streamTaken(): void {
    this.count();
    if (this.#unreadResponses === 0) this.sendWatch?.rest();
  }

  #settle(): void {
    if (this.#held.length > 0) this.#startHeld();
    if (this.#unsent !== undefined) this.count();
    if (!this.isIdle) return;
    this.sendWatch?.stop();
    const act = this.#whenIdle;
    this.#whenIdle = undefined;
    act?.();
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
    if (request.destroyed || (this.#isHalfClosed && !request.complete)) return reader.fail(endedEarly);
    if (this.fault !== undefined && !request.complete) return reader.fail(this.fault);
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
    this.#isHalfClosed = true;
    this.unfinished?.fail(endedEarly);
  }

  /** The connection is closed, so received bytes of a body cannot be read any more either. */
  closed(): void {
    clearTimeout(this.#unread);
    this.sendWatch?.stop();
    this.#unsent?.end();
    this.#forgetHeld();
    // Each one leaves the chain.
    for (let reader = this.#readers; reader !== undefined; reader = this.#readers) {
      this.removeReader(reader);
      reader.fail(endedEarly);
    }
  }
}

export function isWatched(socket: WatchedSocket): boolean {
  return socket[key] !== undefined;
}

/** Whether it is a TLS socket, in a server of other code too. Bun's plain sockets have `encrypted` as well, which is false. */
export function isEncrypted(socket: { readonly encrypted?: unknown } | Socket): boolean {
  return "encrypted" in socket && socket.encrypted === true;
}

/** A watched socket's connection. */
export function connectionOf(socket: WatchedSocket): NodeConnection {
  return socket[key] as NodeConnection;
}

/** Stores it with its socket. */
function keepBySocket(connection: NodeConnection): void {
  const socket: WatchedSocket = connection.socket;
  socket[key] = connection;
}

/** The options for every connection of a server. */
interface Watching {
  readonly sendTimeoutMs: number;
  /** How long a connection without a byte may stay open; undefined where another server accepts them. */
  readonly idleTimeoutMs?: number;
  /** The Unix socket that they connect to. */
  readonly unixPath?: string | undefined;
  /** Begins to count what waits on a connection, in the budget of its server. */
  readonly unsentOf: (connection: NodeConnection) => Unsent;
}

/** The open connections of a server. */
export class Connections {
  readonly #open = new Set<NodeConnection>();
  readonly #watching: Watching;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  /** Watches a connection to its end. Listeners per request would cost each request 0.9 µs. */
  watch(socket: WatchedSocket): NodeConnection {
    const { sendTimeoutMs, idleTimeoutMs, unixPath } = this.#watching;
    const connection = new NodeConnection(socket, this.#watching, unixPath ?? unixPathOf(socket));
    keepBySocket(connection);
    // Every pending response may listen for its end.
    socket.setMaxListeners(0);
    if (idleTimeoutMs !== undefined) socket.setTimeout(idleTimeoutMs);
    // Node removes its own listener from a connection that it hands over, and an unhandled `error` ends the process.
    socket.on("error", ignore);
    // Both are emitted once, and `once` would keep two more objects while the connection is open.
    socket.on("end", () => {
      attempt(socket, () => {
        // Node has also reported it as a fault; Deno has not.
        connection.halfClosed();
        waitOnHalfClosed(connection, sendTimeoutMs);
      });
    });
    socket.on("close", () => {
      this.#open.delete(connection);
      attempt(socket, () => connection.closed());
    });
    this.#open.add(connection);
    return connection;
  }

  /** A request's connection; the first call watches it. */
  of(socket: WatchedSocket): NodeConnection {
    return connectionOf(socket) ?? this.watch(socket);
  }

  get size(): number {
    return this.#open.size;
  }

  /** The number of requests whose responses are not read whole. */
  get unsent(): number {
    let unsent = 0;
    for (const connection of this.#open) unsent += connection.unsent;
    return unsent;
  }

  /** Closes each connection once no response is pending, also one without a whole head: Node 20 would wait for it. */
  closeIdle(): void {
    for (const connection of this.#open) {
      if (connection.closing || connection.isHttp2) continue;
      connection.whenIdle(() => {
        // Until its end is sent a request may still be read, and could not be answered.
        connection.closing = true;
        connection.socket.destroySoon();
      });
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy();
  }
}

// `close` follows and is handled.
function ignore(): void {}

/** The Unix path of a connection that another server accepted. */
function unixPathOf({ remoteAddress, server }: WatchedSocket): string | undefined {
  if (remoteAddress !== undefined) return undefined;
  const address = server?.address();
  return typeof address === "string" ? address : undefined;
}

/** Ends a connection, and reads and drops what its client still sends. */
export function linger(socket: Socket, deadlines: Deadlines): void {
  connectionOf(socket).closing = true;
  lingerOn(socket, (expire) => {
    const deadline = deadlines.time(lingerMs, { expire });
    return () => deadline.clear();
  });
}

/** Makes a connection linger after its last response, where Node would close it at once. */
export function lingerAtEnd(socket: Socket, deadlines: Deadlines): void {
  // A named constant: V8 pretenures a closure that is assigned straight to a member.
  const destroySoon = (): void => linger(socket, deadlines);
  socket.destroySoon = destroySoon;
}
