import { IncomingMessage, ServerResponse } from "node:http";
import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type * as ws from "ws";
import type { OpenedTakeover, OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import { isPending } from "../../src/deferred.ts";
import { caught, guarded } from "../../src/logging/raised.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import { OpenSockets } from "../../src/server/lifecycle.ts";
import { refuseRequest } from "./bad-request.ts";
import { linger } from "./closing.ts";
import type { NodeConnection } from "./connection.ts";
import { NodeExchange } from "./exchange.ts";
import type { RequestHandler } from "./handler.ts";
import { readHead } from "./head.ts";
import { nodeMajor } from "./listen.ts";
import { write } from "./response.ts";
import { WsTransport } from "./socket.ts";
import { timedOut } from "./stream.ts";
import { Takeover, Takeovers } from "./takeover.ts";
import { whenAnswered } from "./when-answered.ts";

/** Bytes that are read behind a request that waits for its turn. The system keeps what comes after them. */
const mostHeld = 65_536;

/**
 * Calls `act` once the responses ahead of a `CONNECT` or an `Upgrade` are written, with what its client sent meanwhile. Node
 * emits the event as soon as it has the head, when a response of a pipelined request may still be written: a second response
 * cannot be assigned to the socket then. Never calls it where the connection ends before.
 *
 * @param head What came behind the head.
 */
export function inTurn(
  connection: NodeConnection,
  head: Buffer,
  sendTimeoutMs: number,
  act: (head: Buffer) => void,
): void {
  const { socket } = connection;
  if (connection.isFresh) return act(head);
  // Node takes its own listener off: without one, a client that takes nothing of the responses ahead is never left.
  const expire = guarded(socket, () => timedOut(socket, sendTimeoutMs));
  socket.on("timeout", expire);
  const take = guarded(socket, () => {
    socket.off("timeout", expire);
    const held = release();
    if (!socket.destroyed && !connection.closing) act(held);
  });
  // A response that was written at once gives the socket back at the end of the turn.
  const takeNext = (): void => {
    setImmediate(take);
  };
  const release = holdBytes(socket, head);
  if (connection.isIdle) takeNext();
  else connection.whenIdle(takeNext);
}

/**
 * Reads what a client sends while nobody takes it. A socket that is not read never tells that its client ended its side or is
 * gone: a handler that waits for that would wait for ever, and the connection with it.
 *
 * @param head What has been read already.
 * @returns Ends it, with the socket paused, and gives all that was read.
 */
function holdBytes(socket: Socket, head: Buffer): () => Buffer {
  const held = [head];
  let bytes = head.byteLength;
  const hold = (part: Buffer): void => {
    bytes += part.byteLength;
    held.push(part);
    if (bytes > mostHeld) socket.pause();
  };
  // A listener alone does not resume a socket that was paused.
  socket.on("data", hold).resume();
  return () => {
    socket.off("data", hold).pause();
    return Buffer.concat(held);
  };
}

/** The response to a request whose connection Node handed over. It is the connection's last. */
export function lastResponse(request: IncomingMessage, socket: Socket, deadlines: Deadlines): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  // Nobody reads what the client sent behind the request, and a close with bytes unread would reset the connection.
  response.once(
    "finish",
    guarded(socket, () => linger(socket, deadlines)),
  );
  return response;
}

type Ws = typeof ws;

/** A socket that a server took. */
interface ServerOwnedSocket extends Socket {
  readonly server: HttpServer;
}

/**
 * Answers requests that ask for another protocol (RFC 9110 §7.8): where the app opens a WebSocket the connection becomes
 * one, where its answer is a takeover that is spoken on it, and any other is answered as if it had not asked, and is the
 * connection's last.
 */
export class Upgrades {
  readonly #answering: RequestHandler;
  /** Undefined for an app that opens no WebSocket. */
  readonly #ws: Ws | undefined;
  /** By the longest message they take. */
  readonly #servers = new Map<number, ws.WebSocketServer>();
  /** The routes of requests whose connection Node hands over. */
  readonly #found = new WeakMap<IncomingMessage, NonNullable<NodeExchange["match"]>>();
  /** What goes with the 101 of a handshake, beside what the handshake itself says. */
  readonly #given = new WeakMap<IncomingMessage, readonly string[]>();
  readonly open: OpenSockets = new OpenSockets();
  readonly taken: Takeovers = new Takeovers();

  constructor(answering: RequestHandler, ws: Ws | undefined) {
    this.#answering = answering;
    this.#ws = ws;
  }

  /** Undefined for an app that opens no WebSocket and builds no answers of its own: its connections are never handed over. */
  static async of(answering: RequestHandler): Promise<Upgrades | undefined> {
    const kinds = new Set(answering.app.routes.map(({ returns }) => returns.node.kind));
    if (!kinds.has("websocket")) return kinds.has("response") ? new Upgrades(answering, undefined) : undefined;
    try {
      const upgrades = new Upgrades(answering, await import("ws"));
      answering.opensSockets = true;
      return upgrades;
    } catch (error) {
      const why = "serve: a route opens a WebSocket, which takes the package ws on Node: npm install ws";
      throw new Error(why, { cause: error });
    }
  }

  /** Whether a request may be for another protocol: newer Nodes ask, and hand over no connection of any other. */
  takes(request: IncomingMessage): boolean {
    const match = this.#find(request);
    if (match === undefined) return false;
    this.#found.set(request, match);
    return true;
  }

  /** The route of a request that may open a socket or take the connection over. */
  #find(request: IncomingMessage): NodeExchange["match"] {
    const found = this.#found.get(request);
    if (found !== undefined) return found;
    const { method, url } = request;
    // A body would have to be read before the connection speaks anything else (RFC 9110 §7.8).
    if ((method !== "GET" && method !== "HEAD") || readHead(request) !== 0) return undefined;
    const match = this.#answering.app.match("GET", url as string);
    const kind = match?.route.route.returns.node.kind;
    return (kind === "websocket" && method === "GET") || kind === "response" ? match : undefined;
  }

  /** Answers a request whose connection Node handed over, once those ahead of it are answered. */
  answer(request: IncomingMessage, head: Buffer): void {
    const { connections, sendTimeoutMs } = this.#answering;
    const connection = connections.of(request.socket);
    // Whatever ends the connection does so without this.
    if (connection.closing || connection.fault !== undefined) return;
    inTurn(connection, head, sendTimeoutMs, (head) => this.#answer(request, connection, head));
  }

  #answer(request: IncomingMessage, connection: NodeConnection, head: Buffer): void {
    const answering = this.#answering;
    const { socket } = connection;
    // Behind its end, nothing is put back on a stream; nor does a client that has ended its side speak anything else.
    const canSpeak = !socket.readableEnded;
    const match = canSpeak ? this.#find(request) : undefined;
    const isTaken = match !== undefined;
    if (!isTaken && canSpeak && canGoOn) return goOn(request, socket as ServerOwnedSocket, head);
    connection.isFresh = false;
    connection.closing = true;
    const response = lastResponse(request, socket, answering.deadlines);
    const framing = readHead(request);
    if (typeof framing === "object") return refuseRequest(framing, response, answering.deadlines);
    // Its body is behind the end, too, and Node's parser has let go of it.
    if (framing !== 0 && canGoOn) return linger(socket, answering.deadlines);
    const opensSockets = answering.opensSockets && isTaken;
    const exchange = new NodeExchange(request, response, framing, answering.deadlines, false, opensSockets, match);
    exchange.canTakeOver = isTaken && request.httpVersionMinor === 1;
    const sent = answering.app.answer(exchange);
    connection.makes();
    answering.inFlight++;
    let release = (): Buffer => head;
    const take = (sent: WireResponse | undefined): void => {
      answering.inFlight--;
      try {
        const held = release();
        if (sent !== undefined && !socket.destroyed) this.#go(exchange, sent, held);
        connection.made();
      } catch (thrown) {
        caught(thrown, socket);
      }
      answering.settle();
    };
    if (!isPending(sent)) return take(sent);
    if (isTaken) release = holdBytes(socket, head);
    whenAnswered(sent, socket, take);
  }

  #go(exchange: NodeExchange, sent: WireResponse, head: Buffer): void {
    if (sent.socket !== undefined) this.#upgrade(exchange, sent, sent.socket, head);
    else if (sent.takeover !== undefined) this.#handOver(exchange, sent, sent.takeover, head);
    else if (sent.status === 101) this.#tellHead(exchange, sent);
    else write(exchange, sent, this.#answering);
  }

  #handOver(exchange: NodeExchange, sent: WireResponse, handed: OpenedTakeover, head: Buffer): void {
    const { socket } = exchange.request;
    exchange.response.detachSocket(socket);
    socket.write(headText(sent), "latin1");
    const spoken = this.taken.track(new Takeover(socket, head, this.#answering), handed);
    spoken.catch((thrown: unknown) => caught(thrown, socket));
  }

  /** Of a takeover, to a HEAD. */
  #tellHead({ request, response }: NodeExchange, sent: WireResponse): void {
    const { socket } = request;
    response.detachSocket(socket);
    socket.write(headText(sent), "latin1");
    linger(socket, this.#answering.deadlines);
  }

  #upgrade({ request, response }: NodeExchange, sent: WireResponse, opened: OpenedSocket, head: Buffer): void {
    const { socket } = request;
    response.detachSocket(socket);
    socket.setTimeout(0);
    const handshake = handshakeFor(request, opened);
    this.#given.set(handshake, sent.head);
    this.#serverFor(opened.maxMessage).handleUpgrade(handshake, socket, head, (ws) => {
      const { sendTimeoutMs, deadlines } = this.#answering;
      const spoken = this.open.track(opened, new WsTransport(ws, socket, sendTimeoutMs, deadlines));
      spoken.catch((thrown: unknown) => caught(thrown, socket));
      // It was paused while it waited for its turn.
      socket.resume();
    });
  }

  #serverFor(maxPayload: number): ws.WebSocketServer {
    const known = this.#servers.get(maxPayload);
    if (known !== undefined) return known;
    const { WebSocketServer } = this.#ws as Ws;
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
    });
    server.on("headers", (lines, request) => {
      // As every other head is written: names in lower case.
      for (const [i, line] of lines.entries()) lines[i] = i === 0 ? line : lowerName(line);
      const given = this.#given.get(request) ?? [];
      for (let i = 0; i < given.length; i += 2) lines.push(`${given[i]}: ${given[i + 1]}`);
    });
    this.#servers.set(maxPayload, server);
    return server;
  }
}

/**
 * The handshake as `ws` takes it. The app has read and accepted it by then, and `ws` has rules of its own: it refuses what is
 * listed on two lines, beside another protocol, twice, or with nothing between.
 */
function handshakeFor({ socket, rawHeaders }: IncomingMessage, { subprotocol }: OpenedSocket): IncomingMessage {
  const handshake = new IncomingMessage(socket);
  handshake.method = "GET";
  const key = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === "sec-websocket-key");
  handshake.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": rawHeaders[key + 1],
    ...(subprotocol === undefined ? {} : { "sec-websocket-protocol": subprotocol }),
  };
  return handshake;
}

// What Bun and Deno have handed over is not theirs any more.
const canGoOn = nodeMajor > 0;

/**
 * Goes on as if the request had not asked for another protocol, which is what most do that offer HTTP/2: its head goes
 * back on the connection without the word, and Node reads it once more.
 */
function goOn(
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
  socket.server.emit("connection", socket);
  socket.resume();
}

// By hand: Node writes no body behind a 101, and lets nobody write what is none.
function headText({ status, head }: WireResponse): string {
  let text = `HTTP/1.1 ${status} Switching Protocols\r\n`;
  for (let i = 0; i < head.length; i += 2) text += `${head[i]}: ${head[i + 1]}\r\n`;
  return `${text}\r\n`;
}

function lowerName(line: string): string {
  const colon = line.indexOf(":");
  return line.slice(0, colon).toLowerCase() + line.slice(colon);
}
