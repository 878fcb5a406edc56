/** `usher-http/node`: serves on `node:http`. */
import { ServerResponse, createServer } from "node:http";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { make } from "../../src/app/app.ts";
import type { App } from "../../src/app/app.ts";
import { log, useSink } from "../../src/logging/writer.ts";
import type { Route } from "../../src/routes/route.ts";
import { Connections, connectionOf } from "./connections.ts";
import { NodeExchange, framingOf } from "./exchange.ts";
import { refuseFraming, refuseHead } from "./head-refusal.ts";
import { listen } from "./listen.ts";
import { limitsOf } from "../../src/app/listening.ts";
import type { Limits, ServeOptions, Server } from "../../src/app/listening.ts";
import { timedOut } from "./sending.ts";
import { stderrSink } from "./stderr.ts";
import { Sweep } from "../../src/app/sweep.ts";
import { write } from "./write.ts";

export type { ListenOptions, ServeOptions, Server } from "../../src/app/listening.ts";

/**
 * Serves an app on Node: makes it of its routes, listens, and stops on SIGTERM and SIGINT.
 *
 * @throws DeclarationError for a declaration the framework refuses, RangeError for an option out of its range, and
 * the listening socket's own error, all before a request is taken.
 *
 * @example
 * ```ts
 * const server = await serve([hello], { port: 8080 });
 * ```
 */
export async function serve(routes: readonly Route[], options: ServeOptions = {}): Promise<Server> {
  const limits = limitsOf(options);
  const app = make(routes, options);
  useSink(stderrSink());
  const listener = new Listener(app, limits);
  await listener.start();
  return listener;
}

class Listener implements Server {
  readonly app: App;
  readonly sweep: Sweep;
  readonly sendTimeoutMs: number;
  readonly #limits: Limits;
  readonly #connections = new Connections();
  #servers: readonly HttpServer[] = [];
  /**
   * How many requests have no answer yet. A number and no set of them: a set that is filled and emptied with every
   * request keeps its old tables, which in the old generation keep each other's requests, and a POST cost twice.
   */
  #inFlight = 0;
  #stopped: Promise<number> | undefined;
  stopping = false;
  port = 0;

  constructor(app: App, limits: Limits) {
    this.app = app;
    this.#limits = limits;
    this.sweep = new Sweep(limits);
    this.sendTimeoutMs = limits.sendTimeoutMs;
  }

  get url(): string {
    const { host } = this.#limits;
    return `http://${host.includes(":") ? `[${host}]` : host}:${this.port}`;
  }

  async start(): Promise<void> {
    const { servers, port, bound } = await listen(this.#limits, () => this.#server());
    this.#servers = servers;
    this.port = port;
    if (this.#limits.signals) {
      process.once("SIGTERM", this.#onSignal);
      process.once("SIGINT", this.#onSignal);
    }
    this.sweep.start();
    info(`listening on ${this.url} (${bound})`);
  }

  stop(): Promise<number> {
    return (this.#stopped ??= this.#stop());
  }

  readonly #onSignal = (): void => {
    // The next one finds no listener, and does what it does to any process.
    process.off("SIGTERM", this.#onSignal).off("SIGINT", this.#onSignal);
    void this.stop();
  };

  #server(): HttpServer {
    const { maxHeaderBytes, headTimeoutMs, idleTimeoutMs, maxConnections } = this.#limits;
    const server = createServer({
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headTimeoutMs,
      keepAliveTimeout: idleTimeoutMs,
      // A whole request has no set time: a body has its own, by its length.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.max(1, Math.min(1000, headTimeoutMs / 10)),
    });
    // Node drops headers past a count without a word; the bytes of a head are bound already.
    server.maxHeadersCount = 0;
    server.maxConnections = maxConnections;
    server.on("connection", this.#connections.watch);
    server.on("request", (request, response) => this.#answer(request, response, false));
    server.on("checkContinue", (request, response) => this.#answerExpecting(request, response));
    server.on("connect", (request, socket) => this.#answerConnect(request, socket));
    server.on("clientError", (error, socket) => refuseHead(error, socket as Socket, this.sweep));
    server.on("timeout", (socket) => timedOut(socket, this.sendTimeoutMs));
    return server;
  }

  #answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = connectionOf(request.socket);
    if (connection.closing || connection.fault !== undefined) return;
    const exchange = new NodeExchange(request, response, this.sweep, expectsContinue);
    const { framing } = exchange;
    if (framing === "coded" || framing === "unknown") return refuseFraming(framing, request.socket, this.sweep);
    const sent = this.app.answer(exchange);
    if (!(sent instanceof Promise)) return write(exchange, sent, this);
    connection.awaits();
    this.#inFlight++;
    void sent.then((sent) => {
      this.#inFlight--;
      if (!response.destroyed) write(exchange, sent, this);
      connection.answered();
    });
  }

  #answerExpecting(request: IncomingMessage, response: ServerResponse): void {
    // Without a body there is nothing to go on with, and the connection is kept. Node closes it for want of the
    // `100 Continue`, unless it forgets that one was asked for: only a member of its own says so.
    if (framingOf(request) === 0) Object.assign(response, { _expect_continue: false });
    this.#answer(request, response, true);
  }

  // Node hands over the bare connection: without an answer to it, the client would only see it close.
  #answerConnect(request: IncomingMessage, socket: Duplex): void {
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    response.shouldKeepAlive = false;
    response.once("finish", () => (socket as Socket).destroySoon());
    socket.on("error", () => socket.destroy());
    this.#answer(request, response, false);
  }

  async #stop(): Promise<number> {
    this.stopping = true;
    this.app.stop();
    process.off("SIGTERM", this.#onSignal).off("SIGINT", this.#onSignal);
    info(`stopping, with ${this.#inFlight} requests in flight`);
    const closed = Promise.all(this.#servers.map(closeServer));
    this.#connections.closeIdle();
    const drained = await Promise.race([closed.then(() => true), after(this.#limits.drainMs)]);
    const cut = drained ? 0 : this.#inFlight;
    for (const server of this.#servers) server.closeAllConnections();
    await closed;
    this.sweep.stop();
    if (cut === 0) info("stopped");
    else log(line("warn", `stopped with ${cut} requests unanswered after ${this.#limits.drainMs / 1000}s`));
    return cut;
  }
}

function closeServer(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false).unref());
}

function info(message: string): void {
  log(line("info", message));
}

function line(level: "info" | "warn", message: string): Parameters<typeof log>[0] {
  return { level, source: "framework.http", message, fields: {}, context: undefined };
}
