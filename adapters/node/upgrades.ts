import { ServerResponse } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type * as ws from "ws";
import type { OpenedSocket, Sent } from "../../src/app/exchange.ts";
import type { Answering } from "./answering.ts";
import { NodeExchange } from "./exchange.ts";
import { readHead } from "./head.ts";
import { refuseRequest } from "./head-refusal.ts";
import { write } from "./write.ts";
import { WsLink } from "./ws-link.ts";

type Ws = typeof ws;

interface Upgraded {
  /** What goes with the 101, beside what the handshake says. */
  readonly head: readonly string[];
  readonly subprotocol: string | undefined;
}

/** A request that asks for another protocol, over a connection that can be given one. */
class UpgradeExchange extends NodeExchange {
  readonly canUpgrade: boolean;

  constructor(...given: ConstructorParameters<typeof NodeExchange>) {
    super(...given);
    const { method, httpVersionMinor } = this.request;
    this.canUpgrade = method === "GET" && httpVersionMinor === 1;
  }
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
  readonly #open = new Set<WsLink>();
  #whenNone: (() => void) | undefined = undefined;

  constructor(answering: Answering, ws: Ws) {
    this.#answering = answering;
    this.#ws = ws;
  }

  /** Whether an app opens sockets at all; without one a connection is never handed over. */
  static async of(answering: Answering): Promise<Upgrades | undefined> {
    const { routes } = answering.app;
    if (!routes.some(({ returns }) => returns.node.kind === "websocket")) return undefined;
    try {
      return new Upgrades(answering, await import("ws"));
    } catch (error) {
      const why = "serve: a route opens a WebSocket, which takes the package ws on Node: npm install ws";
      throw new Error(why, { cause: error });
    }
  }

  answer(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const answering = this.#answering;
    const connection = answering.connections.of(socket);
    if (connection.closing || connection.fault !== undefined) return;
    connection.isFresh = false;
    connection.closing = true;
    socket.on("error", () => socket.destroy());
    const response = responseOn(request, socket);
    const framing = readHead(request);
    if (typeof framing === "object") return refuseRequest(framing, response, answering.sweep);
    const exchange = new UpgradeExchange(request, response, framing, answering.sweep, false);
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

  /** Tells every socket that the server stops; resolves once all are closed. */
  stop(): Promise<void> {
    for (const link of this.#open) link.heard?.stopping();
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#whenNone = resolve));
  }

  #upgrade({ request, response }: NodeExchange, sent: Sent, opened: OpenedSocket, head: Buffer): void {
    const { socket } = request;
    response.detachSocket(socket);
    socket.setTimeout(0);
    this.#upgraded.set(request, { head: sent.head, subprotocol: opened.subprotocol });
    this.#serverFor(opened.maxMessage).handleUpgrade(request, socket, head, (ws) => {
      const { sendTimeoutMs } = this.#answering;
      void this.#speak(opened, new WsLink(ws, socket, sendTimeoutMs));
    });
  }

  async #speak(opened: OpenedSocket, link: WsLink): Promise<void> {
    this.#open.add(link);
    await opened.open(link);
    this.#open.delete(link);
    if (this.#open.size === 0) this.#whenNone?.();
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
