/** `usher-http/node`: serves on `node:http`. */
import { createServer } from "node:http";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { make } from "../../src/app/app.ts";
import type { App } from "../../src/app/app.ts";
import { logListener, sayReported, logStopped } from "../../src/app/failures.ts";
import { Stopping } from "../../src/server/lifecycle.ts";
import { limitsOf } from "../../src/server/options.ts";
import type { Limits, ServeOptions, Server } from "../../src/server/options.ts";
import { refusedConnect } from "../../src/server/bad-request.ts";
import { Deadlines } from "../../src/server/deadlines.ts";
import { measureConnections } from "../../src/telemetry/measure.ts";
import { attempt, guarded, inBackground } from "../../src/logging/raised.ts";
import { useSink } from "../../src/logging/writer.ts";
import type { Route } from "../../src/routing/route.ts";
import { RequestHandler } from "./handler.ts";
import { Connections, ConnectionLimitLog, isWatched } from "./connection.ts";
import { awaitsContinue } from "./exchange.ts";
import { refuseHead, refuseRequest } from "./bad-request.ts";
import { Upgrades, inTurn, lastResponse } from "./upgrade.ts";
import { isBun, listen, stderrSink } from "./listen.ts";
import { timedOut } from "./stream.ts";

export type { ListenOptions, ServeOptions, Server } from "../../src/server/options.ts";
export { listener } from "./handler.ts";
export type { ListenerOptions } from "./handler.ts";

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
  readonly #limits: Limits;
  readonly #deadlines: Deadlines;
  readonly #connections: Connections;
  readonly #answering: RequestHandler;
  readonly #crowd: ConnectionLimitLog;
  #servers: readonly HttpServer[] = [];
  #endMeasuring: (() => void) | undefined = undefined;
  /** Undefined for an app that opens no sockets. */
  #upgrades: Upgrades | undefined = undefined;
  readonly #stopping = new Stopping(() => this.#stop());
  port = 0;
  url = "";

  constructor(app: App, limits: Limits) {
    const { sendTimeoutMs, idleTimeoutMs, socket } = limits;
    const deadlines = new Deadlines(limits);
    this.app = app;
    this.#limits = limits;
    this.#deadlines = deadlines;
    this.#connections = new Connections({ sendTimeoutMs, idleTimeoutMs, unixPath: socket });
    this.#crowd = new ConnectionLimitLog(limits.maxConnections);
    this.#answering = new RequestHandler(app, deadlines, sendTimeoutMs, this.#connections);
  }

  async start(): Promise<void> {
    this.#upgrades = await Upgrades.of(this.#answering);
    const { servers, port, url, bound } = await listen(this.#limits, () => this.#server());
    this.#servers = servers;
    // The system may refuse to accept a connection, for want of memory or of open files. It may accept the next one.
    for (const server of servers) server.on("error", sayReported);
    this.port = port;
    this.url = url;
    if (this.#limits.signals) {
      process.once("SIGTERM", this.#onSignal);
      process.once("SIGINT", this.#onSignal);
    }
    this.#deadlines.start();
    this.#endMeasuring = measureConnections(() => this.#connections.size);
    logListener("info", `listening on ${url} (${bound})`);
  }

  get stopped(): Promise<number> {
    return this.#stopping.stopped;
  }

  stop(): Promise<number> {
    return this.#stopping.begin();
  }

  readonly #onSignal: () => void = guarded(undefined, () => {
    // The next one finds no listener, and does what it does to any process.
    process.off("SIGTERM", this.#onSignal).off("SIGINT", this.#onSignal);
    inBackground(this.stop());
  });

  #server(): HttpServer {
    const { maxHeaderBytes, headTimeoutMs, idleTimeoutMs, maxConnections } = this.#limits;
    const upgrades = this.#upgrades;
    const server = createServer({
      // Unknown to Node before 24.9, which hands over whatever asks for another protocol.
      ...(upgrades === undefined
        ? {}
        : { shouldUpgradeCallback: (request: IncomingMessage) => mayUpgrade(upgrades, request) }),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headTimeoutMs,
      keepAliveTimeout: idleTimeoutMs,
      // A whole request has no set time: a body has its own, by its length.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.max(1, Math.min(1000, headTimeoutMs / 10)),
      // Node would answer its want of one with no word to the log.
      requireHostHeader: false,
      // Nobody reads a body that is not announced: Node need not make a stream's whole life of it, which costs a request 0.5 µs.
      optimizeEmptyRequests: true,
    });
    // Node drops headers past a count without a word; the bytes of a head are bound already.
    server.maxHeadersCount = 0;
    server.maxConnections = maxConnections;
    // Otherwise it ends its own side when a client ends its, and no answer goes out. Bun then no longer says that a client did.
    Object.assign(server, { httpAllowHalfOpen: !isBun });
    // Which of them are idle, Node has its own idea of: it would cut an answer that its client is still taking.
    server.closeIdleConnections = () => {};
    this.#hear(server);
    return server;
  }

  /** What Node emits. Nothing that is done on an event raises: it would end the process. */
  #hear(server: HttpServer): void {
    const answering = this.#answering;
    const upgrades = this.#upgrades;
    const { sendTimeoutMs } = this.#limits;
    // Past its own share of the limit Node closes a connection before it has made a socket of it.
    server.on(
      "drop",
      guarded(undefined, () => this.#crowd.closed()),
    );
    server.on("connection", (socket) => attempt(socket, () => this.#connect(socket)));
    server.on("request", (request, response) => answering.answer(request, response, false));
    server.on("checkContinue", (request, response) => {
      attempt(request.socket, () => answering.answer(request, response, awaitsContinue(request, response)));
    });
    // Of an expectation nobody knows, nothing has to be made (RFC 9110 §10.1.1).
    server.on("checkExpectation", (request, response) => answering.answer(request, response, false));
    // With nobody to hear of it, Node takes a request that asks for another protocol for one that does not.
    if (upgrades !== undefined) {
      server.on("upgrade", (request, _socket, head) => {
        attempt(request.socket, () => upgrades.answer(request, head));
      });
    }
    server.on("connect", (request, _socket, head) => {
      attempt(request.socket, () => this.#answerConnect(request, head));
    });
    server.on("clientError", (error, socket) => {
      attempt(socket, () => refuseHead(error, socket as Socket, this.#deadlines));
    });
    server.on("timeout", (socket) => attempt(socket, () => timedOut(socket, sendTimeoutMs)));
  }

  #connect(socket: Socket): void {
    // One that was handed over, and goes on, is known.
    if (isWatched(socket)) return;
    if (this.#connections.size < this.#limits.maxConnections) this.#connections.watch(socket);
    else {
      this.#crowd.closed();
      socket.destroy();
    }
  }

  // Node hands over the bare connection: without an answer to it, the client would only see it close.
  #answerConnect(request: IncomingMessage, head: Buffer): void {
    const { socket } = request;
    const connection = this.#connections.of(socket);
    // Whatever ends the connection does so without this.
    if (connection.closing || connection.fault !== undefined) return;
    inTurn(connection, head, this.#limits.sendTimeoutMs, () => {
      const response = lastResponse(request, socket, this.#deadlines);
      const refused = refusedConnect(request.url as string);
      if (refused === undefined) this.#answering.answer(request, response, false);
      else refuseRequest(refused, response, this.#deadlines);
    });
  }

  async #stop(): Promise<number> {
    const { drainMs } = this.#limits;
    const answering = this.#answering;
    answering.stopping = true;
    this.app.drain();
    process.off("SIGTERM", this.#onSignal).off("SIGINT", this.#onSignal);
    logListener("info", `stopping, with ${answering.inFlight} requests in flight`);
    const closed = Promise.all(this.#servers.map(closeServer));
    this.#connections.closeIdle();
    answering.endFeeds();
    const { open, taken } = this.#upgrades ?? {};
    open?.stop();
    taken?.stop();
    // A request that is answered meanwhile may be one that opens another connection of these.
    const spoken = answering.answered().then(() => Promise.all([open?.ended(), taken?.ended()]));
    const ended = Promise.all([spoken, closed]);
    const drained = await isOverIn(drainMs, ended);
    const upgraded = (open?.size ?? 0) + (taken?.size ?? 0);
    const cut = drained ? 0 : answering.inFlight + this.#connections.unsent + upgraded;
    answering.endStreams();
    taken?.cut();
    this.#connections.closeAll();
    await closed;
    this.#endMeasuring?.();
    this.#deadlines.stop();
    this.#crowd.stop();
    await this.app.flush?.();
    logStopped(cut, drainMs);
    return cut;
  }
}

function mayUpgrade(upgrades: Upgrades, request: IncomingMessage): boolean {
  let may = false;
  attempt(request.socket, () => (may = upgrades.takes(request)));
  return may;
}

function closeServer(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** Whether some work is over in that time. What is over before leaves no timer behind. */
async function isOverIn(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false).unref();
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
