import { ServerResponse } from "node:http";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type * as ws from "ws";
import type { OpenedSocket, Sent } from "../../src/app/exchange.ts";
import { OpenSockets } from "../../src/app/open-sockets.ts";
import type { Answering } from "./answering.ts";
import { NodeExchange } from "./exchange.ts";
import { readHead } from "./head.ts";
import { refuseRequest } from "./head-refusal.ts";
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
 * one, and any other is answered as if it had not asked, and is the connection's last.
 */
export class Upgrades {
  readonly #answering: Answering;
  readonly #ws: Ws;
  /** By the longest message they take. */
  readonly #servers = new Map<number, ws.WebSocketServer>();
  /** What is answered to a request that is being upgraded. */
  readonly #upgraded = new WeakMap<IncomingMessage, Upgraded>();
  readonly open: OpenSockets = new OpenSockets();

  constructor(answering: Answering, ws: Ws) {
    this.#answering = answering;
    this.#ws = ws;
  }

  /** Whether an app opens sockets at all; without one a connection is never handed over. */
  static async of(answering: Answering): Promise<Upgrades | undefined> {
    const { routes } = answering.app;
    if (!routes.some(({ returns }) => returns.node.kind === "websocket")) return undefined;
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
    return request.method === "GET" && this.#answering.app.kindOf("GET", request.url as string) === "websocket";
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
    connection.makes();
    answering.inFlight++;
    void Promise.resolve(answering.app.answer(exchange)).then((sent) => {
      answering.inFlight--;
      connection.made();
      if (socket.destroyed) return;
      if (sent.socket === undefined) write(exchange, sent, answering);
      else this.#upgrade(exchange, sent, sent.socket, head);
    });
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
    const { WebSocketServer } = this.#ws;
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
const canGoOn = !("bun" in process.versions) && !("deno" in process.versions);

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
