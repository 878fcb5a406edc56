import { ServerResponse } from "node:http";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type * as ws from "ws";
import type { HandedOver, OpenedSocket, Sent } from "../../src/app/exchange.ts";
import { OpenSockets } from "../../src/app/open-sockets.ts";
import type { Answering } from "./answering.ts";
import { NodeExchange } from "./exchange.ts";
import { readHead } from "./head.ts";
import { refuseRequest } from "./head-refusal.ts";
import { linger } from "./linger.ts";
import { nodeMajor } from "./node-version.ts";
import { Taken, TakenConnections } from "./taken.ts";
import { write } from "./write.ts";
import { WsLink } from "./ws-link.ts";

type Ws = typeof ws;

/** A socket that a server took. */
interface ServedSocket extends Socket {
  readonly server: HttpServer;
}

interface Upgraded {
  /** What goes with the 101, beside what the handshake says. */
  readonly head: readonly string[];
  readonly subprotocol: string | undefined;
}

/**
 * Answers requests that ask for another protocol (RFC 9110 §7.8): where the app opens a WebSocket the connection becomes
 * one, where its answer is a takeover that is spoken on it, and any other is answered as if it had not asked, and is the
 * connection's last.
 */
export class Upgrades {
  readonly #answering: Answering;
  /** Undefined for an app that opens no WebSocket. */
  readonly #ws: Ws | undefined;
  /** By the longest message they take. */
  readonly #servers = new Map<number, ws.WebSocketServer>();
  /** What is answered to a request that is being upgraded. */
  readonly #upgraded = new WeakMap<IncomingMessage, Upgraded>();
  readonly open: OpenSockets = new OpenSockets();
  readonly taken: TakenConnections = new TakenConnections();

  constructor(answering: Answering, ws: Ws | undefined) {
    this.#answering = answering;
    this.#ws = ws;
  }

  /** Undefined for an app that opens no WebSocket and builds no answers of its own: its connections are never handed over. */
  static async of(answering: Answering): Promise<Upgrades | undefined> {
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
    const { method, headers, url } = request;
    if (method !== "GET" && method !== "HEAD") return false;
    const kind = this.#answering.app.kindOf("GET", url as string);
    if (kind === "websocket") return method === "GET";
    // A body would have to be read before the connection speaks anything else.
    return kind === "response" && headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
  }

  answer(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const answering = this.#answering;
    const connection = answering.connections.of(socket);
    if (connection.closing || connection.fault !== undefined) return;
    if (!this.takes(request) && canGoOn && connection.isIdle) return goOn(request, socket as ServedSocket, head);
    connection.isFresh = false;
    connection.closing = true;
    socket.on("error", () => socket.destroy());
    const response = responseOn(request, socket);
    const framing = readHead(request);
    if (typeof framing === "object") return refuseRequest(framing, response, answering.sweep);
    const exchange = new NodeExchange(request, response, framing, answering.sweep, false, answering.opensSockets);
    exchange.canTakeOver = framing === 0 && request.httpVersionMinor === 1 && this.takes(request);
    connection.makes();
    answering.inFlight++;
    void Promise.resolve(answering.app.answer(exchange)).then((sent) => {
      answering.inFlight--;
      connection.made();
      if (!socket.destroyed) this.#go(exchange, sent, head);
      answering.settle();
    });
  }

  #go(exchange: NodeExchange, sent: Sent, head: Buffer): void {
    if (sent.socket !== undefined) this.#upgrade(exchange, sent, sent.socket, head);
    else if (sent.takeover !== undefined) this.#handOver(exchange, sent, sent.takeover, head);
    else if (sent.status === 101) this.#tellHead(exchange, sent);
    else write(exchange, sent, this.#answering);
  }

  #handOver(exchange: NodeExchange, sent: Sent, handed: HandedOver, head: Buffer): void {
    const { socket } = exchange.request;
    exchange.response.detachSocket(socket);
    socket.write(headText(sent), "latin1");
    void this.taken.speak(new Taken(socket, head, this.#answering), handed);
  }

  /** Of a takeover, to a HEAD. */
  #tellHead({ request, response }: NodeExchange, sent: Sent): void {
    const { socket } = request;
    response.detachSocket(socket);
    socket.write(headText(sent), "latin1");
    linger(socket, this.#answering.sweep);
  }

  #upgrade({ request, response }: NodeExchange, sent: Sent, opened: OpenedSocket, head: Buffer): void {
    const { socket } = request;
    response.detachSocket(socket);
    socket.setTimeout(0);
    this.#upgraded.set(request, { head: sent.head, subprotocol: opened.subprotocol });
    this.#serverFor(opened.maxMessage).handleUpgrade(request, socket, head, (ws) => {
      const { sendTimeoutMs, sweep } = this.#answering;
      void this.open.speak(opened, new WsLink(ws, socket, sendTimeoutMs, sweep));
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
      handleProtocols: (_offered, request) => this.#upgraded.get(request)?.subprotocol ?? false,
    });
    server.on("headers", (lines, request) => {
      // As every other head is written: names in lower case.
      for (const [i, line] of lines.entries()) lines[i] = i === 0 ? line : lowerName(line);
      const given = this.#upgraded.get(request)?.head ?? [];
      for (let i = 0; i < given.length; i += 2) lines.push(`${given[i]}: ${given[i + 1]}`);
    });
    this.#servers.set(maxPayload, server);
    return server;
  }
}

// What Bun and Deno have handed over is not theirs any more.
const canGoOn = nodeMajor > 0;

/**
 * Goes on as if the request had not asked for another protocol, which is what most do that offer HTTP/2: its head goes
 * back on the connection without the word, and Node reads it once more.
 */
function goOn({ method, url, httpVersion, rawHeaders }: IncomingMessage, socket: ServedSocket, head: Buffer): void {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.toLowerCase() !== "upgrade") text += `${name}: ${rawHeaders[i + 1]}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, "latin1"), head]));
  socket.server.emit("connection", socket);
}

// By hand: Node writes no body behind a 101, and lets nobody write what is none.
function headText({ status, head }: Sent): string {
  let text = `HTTP/1.1 ${status} Switching Protocols\r\n`;
  for (let i = 0; i < head.length; i += 2) text += `${head[i]}: ${head[i + 1]}\r\n`;
  return `${text}\r\n`;
}

function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.once("finish", () => socket.destroySoon());
  return response;
}

function lowerName(line: string): string {
  const colon = line.indexOf(":");
  return line.slice(0, colon).toLowerCase() + line.slice(colon);
}
