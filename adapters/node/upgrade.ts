import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type * as ws from "ws";
import type { Exchange, OpenedTakeover, OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import { installed, unrefTimer, isPending } from "../../src/doors/base.ts";
import { caught, guarded } from "../../src/doors/logging.ts";
import type { Deadlines } from "../../src/doors/server.ts";
import { OpenSockets } from "../../src/doors/server.ts";
import { readHead, refuseRequest } from "./bad-request.ts";
import { connectionOf, isEncrypted, linger } from "./connection.ts";
import type { NodeConnection } from "./connection.ts";
import { NodeExchange } from "./exchange.ts";
import type { RequestHandler } from "./handler.ts";
import { agreedDeflate, deflateOptions } from "./deflate.ts";
import { http } from "./http.ts";
import { isBun } from "./listen.ts";
import { headText } from "./private.ts";
import { whenAnswered, write } from "./response.ts";
import { WsTransport } from "./socket.ts";
import type { ByteChannel } from "./socket.ts";
import { timedOut } from "./stream.ts";
import { Takeover, Takeovers } from "./takeover.ts";

/** Bytes that are read after a request that waits for its turn. The system keeps the rest. */
const maxHeldBytes = 65_536;

/**
 * Calls `act` once the earlier responses of a `CONNECT` or an `Upgrade` are written, with the bytes that its client sent
 * meanwhile. Node emits the event as soon as it has the head. The response to a pipelined request may then still be written,
 * and a second response cannot be assigned to the socket. Never called if the connection ends before.
 *
 * @param head The bytes after the head.
 */
export function inTurn(
  connection: NodeConnection,
  head: Buffer,
  sendTimeoutMs: number,
  act: (head: Buffer) => void,
): void {
  const { socket, reading, writing } = connection;
  if (reading.isFresh) return act(head);
  const endWaiting = cutUnread(socket, sendTimeoutMs);
  const take = guarded(socket, () => {
    endWaiting();
    const held = release();
    if (!socket.destroyed && !reading.isOver) act(held);
  });
  // A response that was written at once releases the socket at the end of the turn.
  const takeNext = (): void => {
    setImmediate(take);
  };
  const release = holdBytes(socket, head);
  if (writing.isIdle) takeNext();
  else writing.whenIdle(takeNext);
}

/**
 * Closes a connection that Node handed over, once its client does not read a response for `sendTimeoutMs`: Node removes its
 * own listener for that. Returns a function that removes this one.
 */
export function cutUnread(socket: Socket, sendTimeoutMs: number): () => void {
  const expire = guarded(socket, () => timedOut(socket, sendTimeoutMs));
  socket.on("timeout", expire);
  return () => {
    socket.off("timeout", expire);
  };
}

/**
 * Reads the client's bytes until a handler takes them. A socket that is not read never reports that its client has
 * half-closed or gone: a handler that waits for that would wait forever.
 *
 * @param head The bytes that were read already.
 * @returns Ends it, with the socket paused, and returns all bytes.
 */
function holdBytes(socket: Socket, head: Buffer): () => Buffer {
  const { reading } = connectionOf(socket);
  const held = [head];
  let bytes = head.byteLength;
  const hold = (part: Buffer): void => {
    bytes += part.byteLength;
    held.push(part);
    if (bytes > maxHeldBytes) reading.pause();
  };
  // A `data` listener alone does not resume a paused socket.
  socket.on("data", hold).resume();
  // Node 20's parser stops the handle for an unread body before, and then removes its listener that starts it again. The stream
  // still waits for a part: an empty one lets it read, which starts the handle.
  socket.push("");
  return () => {
    reading.resume();
    socket.off("data", hold).pause();
    return Buffer.concat(held);
  };
}

/** The response to a request whose connection Node handed over. It is the last one of the connection. */
export function lastResponse(request: IncomingMessage, socket: Socket, deadlines: Deadlines): ServerResponse {
  const response = new http.ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  // The bytes after the request are not read, and closing with unread bytes would reset the connection.
  response.once(
    "finish",
    guarded(socket, () => linger(socket, deadlines)),
  );
  return response;
}

type Ws = typeof ws;

/** A socket that a server accepted. */
interface ServerOwnedSocket extends Socket {
  readonly server: HttpServer;
}

/**
 * Answers upgrade requests (RFC 9110 §7.8). A WebSocket route makes the connection one, and a takeover answer gets the
 * connection. Any other is answered as a plain request, and its response is the last of the connection.
 */
export class Upgrades {
  readonly #handler: RequestHandler;
  /** Undefined for an app that opens no WebSocket. */
  readonly #ws: Ws | undefined;
  /** By the longest message that they accept, and whether it may be compressed. */
  readonly #servers = new Map<string, ws.WebSocketServer>();
  /** The routes of requests whose connection Node hands over. */
  readonly #matches = new WeakMap<IncomingMessage, NonNullable<NodeExchange["match"]>>();
  /** Headers for the 101 of a handshake, besides the handshake's own. */
  readonly #headers = new WeakMap<IncomingMessage, readonly string[]>();
  readonly sockets: OpenSockets = new OpenSockets();
  readonly takeovers: Takeovers = new Takeovers();

  constructor(handler: RequestHandler, ws: Ws | undefined) {
    this.#handler = handler;
    this.#ws = ws;
  }

  /**
   * Undefined where no connection is handed over: on Bun, in an app without WebSockets and answers that may take over.
   *
   * @param hasOthers Whether other code may add listeners of `upgrade`, for which Node hands over each such request.
   */
  static async of(handler: RequestHandler, hasOthers = false): Promise<Upgrades | undefined> {
    const kinds = new Set(handler.app.routes.map(({ returns }) => returns.node.kind));
    if (!kinds.has("websocket")) {
      const hasAny = hasOthers || kinds.has("response") || canIgnoreUpgrade;
      return hasAny ? new Upgrades(handler, undefined) : undefined;
    }
    const ws = await installed("usher-http/node: a route that opens a WebSocket", "ws", () => import("ws"));
    const upgrades = new Upgrades(handler, ws);
    handler.opensSockets = true;
    return upgrades;
  }

  /**
   * Whether a request's connection is handed over: newer Nodes ask, and Deno. If it is not, they drop the bytes that they have read
   * behind the request, and read the rest of a body among them as requests. So `ignoreUpgrade` takes the connection. It cannot give back
   * a body: Node 26 has read the body, and the client may have sent a FIN after it. The response to such a request closes the connection.
   */
  takes(request: IncomingMessage): boolean {
    const match = this.#find(request);
    if (match !== undefined) {
      this.#matches.set(request, match);
      return true;
    }
    if (!canIgnoreUpgrade) return false;
    if (readHead(request) === 0) return true;
    this.#handler.connections.of(request.socket).reading.endsWith(request);
    return false;
  }

  /** The route of a request that may open a socket or take the connection over. */
  #find(request: IncomingMessage): NodeExchange["match"] {
    return this.#matches.get(request) ?? upgradeMatch(this.#handler, request);
  }

  /** Answers a request whose connection Node handed over, after the earlier responses. */
  answer(request: IncomingMessage, head: Buffer): void {
    const { connections, sendTimeoutMs } = this.#handler;
    const connection = connections.of(request.socket);
    // The connection is being closed already.
    if (!connection.reading.isOpen) return;
    inTurn(connection, head, sendTimeoutMs, (head) => this.#answer(request, connection, head));
  }

  #answer(request: IncomingMessage, connection: NodeConnection, head: Buffer): void {
    const handler = this.#handler;
    const { socket, reading, writing } = connection;
    // After its end, nothing can be put back on a stream, and a half-closed client cannot change the protocol.
    const canChangeProtocol = !socket.readableEnded;
    const match = canChangeProtocol ? this.#find(request) : undefined;
    const isTaken = match !== undefined;
    if (!isTaken && canChangeProtocol && canIgnoreUpgrade)
      return ignoreUpgrade(request, socket as ServerOwnedSocket, head);
    reading.closes();
    const response = lastResponse(request, socket, handler.deadlines);
    const framing = readHead(request);
    if (typeof framing === "object") return refuseRequest(framing, response, handler.deadlines);
    // Its body is after the end, too, and Node's parser does not read it.
    if (framing !== 0 && canIgnoreUpgrade) return linger(socket, handler.deadlines);
    const opensSockets = handler.opensSockets && isTaken;
    const exchange = new NodeExchange(request, response, framing, handler.deadlines, false, opensSockets, match);
    exchange.canTakeOver = isTaken && request.httpVersionMinor === 1;
    const sent = handler.app.answer(exchange);
    writing.beginAnswer();
    handler.inFlight++;
    let release = (): Buffer => head;
    const take = (sent: WireResponse | undefined): void => {
      handler.inFlight--;
      try {
        const held = release();
        if (socket.destroyed) sent?.unsent?.();
        else if (sent !== undefined) this.#go(exchange, sent, held);
        writing.endAnswer();
      } catch (thrown) {
        caught(thrown, socket);
      }
      handler.settle();
    };
    if (!isPending(sent)) return take(sent);
    if (isTaken) release = holdBytes(socket, head);
    whenAnswered(sent, socket, take);
  }

  #go(exchange: NodeExchange, sent: WireResponse, head: Buffer): void {
    if (sent.socket !== undefined) this.#upgrade(exchange, sent, sent.socket, head);
    else if (sent.takeover !== undefined) this.#handOver(exchange, sent, sent.takeover, head);
    else if (sent.status === 101) this.#sendHead(exchange, sent);
    else {
      cutUnread(exchange.request.socket, this.#handler.sendTimeoutMs);
      write(exchange, sent, this.#handler);
    }
  }

  #handOver(exchange: NodeExchange, sent: WireResponse, handed: OpenedTakeover, head: Buffer): void {
    const { socket } = exchange.request;
    exchange.response.detachSocket(socket);
    // Directly: Node's response lets nothing follow a 101.
    socket.write(headText(sent.status, "Switching Protocols", sent.head), "latin1");
    const ended = this.takeovers.track(new Takeover(socket, head, this.#handler), handed);
    ended.catch((thrown: unknown) => caught(thrown, socket));
  }

  /** The head of a takeover, for a HEAD. */
  #sendHead({ request, response }: NodeExchange, sent: WireResponse): void {
    const { socket } = request;
    response.detachSocket(socket);
    socket.write(headText(sent.status, "Switching Protocols", sent.head), "latin1");
    linger(socket, this.#handler.deadlines);
  }

  #upgrade(exchange: NodeExchange, sent: WireResponse, opened: OpenedSocket, head: Buffer): void {
    const { request, response } = exchange;
    const { socket } = request;
    response.detachSocket(socket);
    socket.setTimeout(0);
    const extensions = agreedExtensions(exchange, opened);
    const [key] = exchange.lines("sec-websocket-key");
    // The socket was paused while it waited for its turn.
    if (this.open(socket, opened, { key, extensions, headers: sent.head }, head)) socket.resume();
    else sent.unsent?.();
  }

  /** Opens a WebSocket on a channel, to which `ws` writes the 101 first. False where its client has gone. */
  open(channel: ByteChannel, opened: OpenedSocket, accepted: AcceptedHandshake, head: Buffer): boolean {
    const { extensions, headers } = accepted;
    const handshake = handshakeFor(channel, opened, accepted);
    this.#headers.set(handshake, headers);
    let isOpen = false;
    this.#serverFor(opened.maxMessage, extensions !== undefined).handleUpgrade(handshake, channel, head, (ws) => {
      isOpen = true;
      const deflate = extensions === undefined ? undefined : opened.compression;
      const ended = this.sockets.track(opened, new WsTransport(ws, channel, this.#handler, deflate));
      ended.catch((thrown: unknown) => caught(thrown, channel));
    });
    // `ws` opens nothing on a connection whose client has gone.
    return isOpen;
  }

  #serverFor(maxPayload: number, isCompressed: boolean): ws.WebSocketServer {
    const key = `${maxPayload} ${isCompressed}`;
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const { WebSocketServer } = this.#ws as Ws;
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: isCompressed && deflateOptions,
      maxPayload,
    });
    server.on("headers", (lines, request) => {
      // As in every other head: names in lower case.
      for (const [i, line] of lines.entries()) lines[i] = i === 0 ? line : lowerName(line);
      const headers = this.#headers.get(request) ?? [];
      for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
    });
    this.#servers.set(key, server);
    return server;
  }
}

/** The route of a request that may change the protocol of its connection; undefined for any other request. */
function upgradeMatch({ app }: RequestHandler, request: IncomingMessage): NodeExchange["match"] {
  const { method, url } = request;
  // RFC 9110 §7.8: a body would have to be read before the protocol changes.
  if ((method !== "GET" && method !== "HEAD") || readHead(request) !== 0) return undefined;
  const match = app.match("GET", url as string);
  const kind = match?.route.route.returns.node.kind;
  return (kind === "websocket" && method === "GET") || kind === "response" ? match : undefined;
}

/**
 * Whether an upgrade is for another listener of its server, such as Socket.IO's: the handshake of a WebSocket, for which the app has
 * no route. Any other offer, such as HTTP/2 by Java's client, is answered by the app.
 */
export function isForOthers(handler: RequestHandler, request: IncomingMessage): boolean {
  const { headers, socket } = request;
  const { server } = socket as ServerOwnedSocket;
  const isHandshake = headers.upgrade?.toLowerCase() === "websocket";
  return isHandshake && server.listenerCount("upgrade") > 1 && upgradeMatch(handler, request) === undefined;
}

const lapsedMs = 1000;

/** Handshakes that were left to other listeners. Where none of them has written anything after a time, the connection is closed. */
export class LeftHandshakes {
  readonly #unanswered = new Set<() => void>();
  #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  add({ socket }: IncomingMessage): void {
    const { bytesWritten } = socket;
    const end = (): void => {
      this.#unanswered.delete(end);
      if (socket.bytesWritten === bytesWritten) socket.destroy();
    };
    this.#unanswered.add(end);
    const timer = setTimeout(end, this.#ms);
    unrefTimer(timer);
    socket.once("close", () => {
      clearTimeout(timer);
      this.#unanswered.delete(end);
    });
  }

  /** Their server is about to close, and would wait for them. */
  stop(): void {
    this.#ms = Math.min(this.#ms, lapsedMs);
    for (const end of this.#unanswered) unrefTimer(setTimeout(end, this.#ms));
  }
}

/** A handshake that the app has accepted. */
interface AcceptedHandshake {
  readonly key: string | undefined;
  readonly extensions: string | undefined;
  /** For the 101, besides the handshake's own: name, value, name, value… */
  readonly headers: readonly string[];
}

/** The extensions that a socket uses with its client, as the response names them. */
export function agreedExtensions(exchange: Exchange, { compression }: OpenedSocket): string | undefined {
  // Bun's replacement of `ws` has no such setting.
  if (compression === undefined || isBun) return undefined;
  return agreedDeflate(exchange.lines("sec-websocket-extensions"));
}

/**
 * The handshake for `ws`. The app has validated it already, and `ws` has rules of its own. It refuses lists on two lines,
 * another protocol in `Upgrade`, repeated names, and empty elements.
 */
function handshakeFor(
  channel: ByteChannel,
  { subprotocol }: OpenedSocket,
  { key, extensions }: AcceptedHandshake,
): IncomingMessage {
  const handshake = new http.IncomingMessage(channel as Socket);
  handshake.method = "GET";
  handshake.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": key,
    ...(subprotocol === undefined ? {} : { "sec-websocket-protocol": subprotocol }),
    // As it was agreed on: `ws` would end the handshake for an offer that it cannot read.
    ...(extensions === undefined ? {} : { "sec-websocket-extensions": extensions }),
  };
  return handshake;
}

// Bun cannot take a connection back.
const canIgnoreUpgrade = !isBun;

/**
 * Ignores an upgrade request, as most offers of HTTP/2 are: its head goes back on the connection without `Upgrade`, and Node
 * parses it again.
 */
function ignoreUpgrade(
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: ServerOwnedSocket,
  head: Buffer,
): void {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.toLowerCase() !== "upgrade") text += `${name}: ${rawHeaders[i + 1]}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, "latin1"), head]));
  socket.server.emit(isEncrypted(socket) ? "secureConnection" : "connection", socket);
  socket.resume();
}

function lowerName(line: string): string {
  const colon = line.indexOf(":");
  return line.slice(0, colon).toLowerCase() + line.slice(colon);
}
