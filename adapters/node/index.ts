/** `usher-http/node`: serves on `node:http`. */
import type { IncomingMessage, Server as HttpServer, ServerOptions } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { needsFunction } from "../../src/arguments.ts";
import { inTime } from "../../src/doors/base.ts";
import { make, refuseCertificateReaders, logReported, CountedLog } from "../../src/doors/apps.ts";
import type { App, InFlightCounts } from "../../src/doors/apps.ts";
import { Listener, limitsOf, refusedConnect, starting } from "../../src/doors/server.ts";
import type { ListenAddress, StopSignals, Limits, ServeOptions, Server, Certificates } from "../../src/doors/server.ts";
import { measureConnections } from "../../src/telemetry/measure.ts";
import { attempt, guarded, useSink } from "../../src/doors/logging.ts";
import type { Route } from "../../src/doors/routing.ts";
import { Arrivals } from "./arrivals.ts";
import { RequestHandler } from "./handler.ts";
import { Connections, isWatched } from "./connection.ts";
import { awaitsContinue } from "./exchange.ts";
import { http } from "./http.ts";
import { refuseHead, refuseRequest } from "./bad-request.ts";
import { LeftHandshakes, Upgrades, cutUnread, inTurn, isForOthers, lastResponse } from "./upgrade.ts";
import { isBun, isDeno, isSafeForHttp2, listen, nodeMajor, nodeMinor, stderrSink } from "./listen.ts";
import { detachable, leaveParser, readFromFirstByte } from "./parser.ts";
import { unsentOf } from "./recipient.ts";
import type { Http2 } from "./http2/http2.ts";
import type { Secure } from "./secure.ts";
import { timedOut } from "./stream.ts";

export type {
  ListenOptions,
  ServeOptions,
  Server,
  Certificate,
  Certificates,
  TlsOptions,
} from "../../src/doors/server.ts";
export { listener } from "./listener.ts";
export type { AppListener, ListenerOptions } from "./listener.ts";

/** The options of `serve` on Node. */
export interface NodeServeOptions extends ServeOptions {
  /**
   * Called with each server of `node:http` before it listens, for code that shares its port, such as Socket.IO:
   * `attach: (server) => void io.attach(server, { destroyUpgrade: false })`. The name `localhost` has two servers, one for each address
   * family. The handshakes of WebSockets for which the app has no route are left to its listeners of `upgrade`. They get no request
   * over HTTP/2: with `tls`, set `http2` to false. The server's own connections end with it, those of Socket.IO too.
   */
  readonly attach?: (server: HttpServer) => void;
}

/**
 * Serves an app on Node: makes it from its routes, listens, and stops on SIGTERM and SIGINT.
 *
 * @throws DeclarationError for an invalid declaration, RangeError for an option out of its range, and the listening socket's
 *   own error, all before a request is accepted.
 *
 * @example
 * ```ts
 * const server = await serve([hello], { port: 8080 });
 * ```
 */
export function serve(routes: readonly Route[], options: NodeServeOptions = {}): Promise<Server> {
  return starting(options, () => startServer(routes, options));
}

async function startServer(routes: readonly Route[], options: NodeServeOptions): Promise<Server> {
  const limits = limitsOf(options);
  const { attach } = options;
  if (attach !== undefined) needsFunction("serve: attach", attach);
  if (attach !== undefined && nodeMajor === 0)
    throw new TypeError("serve: attach is kept by usher-http/node on Node alone: leave it out");
  const app = make(routes, options);
  if (nodeMajor === 0) refuseCertificateReaders(routes, "is given on Node alone");
  useSink(stderrSink());
  const listener = new NodeListener(
    app,
    limits,
    options.overload?.maxEventLoopDelayMs === undefined ? undefined : new Arrivals(),
    attach,
  );
  await listener.start(warningsOf(limits));
  return listener;
}

const isHttp2Safe = isSafeForHttp2(nodeMajor, nodeMinor);
/** Node adds a second to it, and a timer has 31 bits. */
const longestKeptMs = 2 ** 31 - 1 - 1000;

function warningsOf({ tls, http2 }: Limits): readonly string[] {
  if (nodeMajor === 0 || isHttp2Safe || tls === undefined || http2 !== undefined) return [];
  return [
    `HTTP/2 is off: a client may be able to end the process of Node ${process.versions.node} by it. Use Node 22.23, 24.21, 26.10 or newer, or set http2 to true or false`,
  ];
}

class NodeListener extends Listener {
  readonly #connections: Connections;
  readonly #handler: RequestHandler;
  readonly #limitLog: CountedLog;
  #servers: readonly HttpServer[] = [];
  #endMeasuring: (() => void) | undefined = undefined;
  /** Undefined for an app without WebSockets and takeovers. */
  #upgrades: Upgrades | undefined = undefined;
  /** Undefined without the option `tls`. */
  #secure: Secure | undefined = undefined;
  /** Undefined for a server that speaks HTTP/1.1 only. */
  #http2: Http2 | undefined = undefined;
  readonly #floodLog = new CountedLog("warn", "HTTP/2 connections closed whose clients sent too much");

  /** Undefined for an app without `maxEventLoopDelayMs`. */
  readonly #arrivals: Arrivals | undefined;
  readonly #attach: NodeServeOptions["attach"];

  constructor(app: App, limits: Limits, arrivals: Arrivals | undefined, attach: NodeServeOptions["attach"]) {
    super(app, limits, stopSignals);
    this.#arrivals = arrivals;
    this.#attach = attach;
    const { sendTimeoutMs, idleTimeoutMs, socket } = limits;
    const unsent = unsentOf(this.unsent, app);
    this.#connections = new Connections({ sendTimeoutMs, idleTimeoutMs, unixPath: socket, unsentOf: unsent });
    this.#limitLog = new CountedLog("warn", `connections closed past maxConnections (${limits.maxConnections})`);
    this.#handler = new RequestHandler(app, this, this.#connections, arrivals);
  }

  protected async listen(): Promise<ListenAddress> {
    const { tls, headTimeoutMs, http2 = tls !== undefined && isHttp2Safe } = this.limits;
    if (http2 && nodeMajor === 0)
      throw new TypeError("serve: http2 is kept by usher-http/node on Node alone: leave it out");
    this.#upgrades = await Upgrades.of(this.#handler, this.#attach !== undefined);
    if (tls !== undefined) {
      if (isBun) throw new TypeError("serve: tls is not kept by usher-http/node on Bun: serve with usher-http/bun");
      const protocols = http2 ? ["h2", "http/1.1"] : ["http/1.1"];
      this.#secure = new (await import("./secure.ts")).Secure(tls, { headTimeoutMs, protocols });
    }
    if (http2) {
      const { Http2 } = await import("./http2/http2.ts");
      this.#http2 = new Http2(this.#handler, this.#upgrades, this.limits, this.#floodLog);
    }
    const { servers, ...bound } = await listen(this.limits, () => this.#server());
    this.#servers = servers;
    // The system may refuse a connection because memory or file descriptors run out, and accept the next one.
    for (const server of servers) server.on("error", logReported);
    this.#endMeasuring = measureConnections(() => this.#openConnections);
    return bound;
  }

  protected get inFlight(): InFlightCounts {
    const { sockets, takeovers } = this.#upgrades ?? {};
    const { inFlight, eventStreams } = this.#handler;
    const requests = inFlight + this.#unsent + eventStreams + (takeovers?.size ?? 0);
    return { requests, sockets: sockets?.size ?? 0 };
  }

  /** The number of responses that their clients have not read whole: all but event streams. */
  get #unsent(): number {
    return this.#connections.unsent + (this.#http2?.unsent ?? 0);
  }

  get #openConnections(): number {
    return this.#secure?.size ?? this.#connections.size;
  }

  replaceCertificates(certificates: Certificates): void {
    if (this.#secure === undefined) throw new TypeError("replaceCertificates: the server has no option tls");
    this.#secure.replace(certificates);
  }

  #server(): HttpServer {
    const { maxHeaderBytes, headTimeoutMs, idleTimeoutMs, maxConnections } = this.limits;
    const upgrades = this.#upgrades;
    const options: ServerOptions = {
      // Node before 24.9 does not know this option and hands over every upgrade request.
      ...(upgrades === undefined
        ? {}
        : { shouldUpgradeCallback: (request: IncomingMessage) => mayUpgrade(upgrades, this.#handler, request) }),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headTimeoutMs,
      keepAliveTimeout: Math.min(idleTimeoutMs, longestKeptMs),
      // A request has no total time limit: the body has its own, by its length.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.max(1, Math.min(1000, headTimeoutMs / 10)),
      // Node would answer a missing one without a log line.
      requireHostHeader: false,
      // A body that is not announced is never read: without its stream a request costs 0.5 µs less.
      optimizeEmptyRequests: true,
    };
    const server = this.#secure?.server(options) ?? http.createServer(options);
    const event = this.#secure === undefined ? "connection" : "secureConnection";
    const readHttp1 = this.#http2 === undefined && !isDeno ? () => {} : takeListener(server, event);
    // Node silently drops headers past a count; the bytes of a head are limited already.
    server.maxHeadersCount = 0;
    server.maxConnections = maxConnections;
    // Otherwise Node ends its side when a client half-closes, and the response is lost. With this option Bun does not report
    // a half-close.
    Object.assign(server, { httpAllowHalfOpen: !isBun });
    // Node's own notion of idle would cut a response that the client still reads.
    server.closeIdleConnections = () => {};
    this.#addListeners(server, readHttp1);
    this.#attach?.(server);
    return server;
  }

  /** Adds the listeners. None of them throws, which would end the process. */
  #addListeners(server: HttpServer, readHttp1: (socket: Socket) => void): void {
    const handler = this.#handler;
    const upgrades = this.#upgrades;
    const { sendTimeoutMs } = this.limits;
    // Past the limit Node closes a connection before it makes a socket.
    server.on(
      "drop",
      guarded(undefined, () => this.#limitLog.count()),
    );
    server.on("connection", (socket) => attempt(socket, () => this.#connect(socket, readHttp1)));
    server.on("secureConnection", (socket: TLSSocket) => attempt(socket, () => this.#connectSecure(socket, readHttp1)));
    server.on("request", (request, response) => handler.answer(request, response, false));
    server.on("checkContinue", (request, response) => {
      attempt(request.socket, () => handler.answer(request, response, awaitsContinue(request, response)));
    });
    // An unknown expectation is ignored (RFC 9110 §10.1.1).
    server.on("checkExpectation", (request, response) => handler.answer(request, response, false));
    // Without this listener Node answers an upgrade request like any other, and drops the bytes that follow it in the same packet.
    if (upgrades !== undefined) {
      const left = new LeftHandshakes(sendTimeoutMs);
      server.on("upgrade", (request, _socket, head) => {
        attempt(request.socket, () => {
          if (isForOthers(handler, request)) left.add(request);
          else upgrades.answer(request, head);
        });
      });
    }
    server.on("connect", (request, _socket, head) => {
      attempt(request.socket, () => this.#answerConnect(request, head));
    });
    server.on("clientError", (error, socket) => {
      // A TLS handshake that failed: there is no connection yet.
      if (this.#secure !== undefined && !isWatched(socket as Socket)) socket.destroy();
      else
        attempt(socket, () => {
          if (isDeno) leaveParser(socket as Socket);
          refuseHead(error, socket as Socket, this.deadlines);
        });
    });
    server.on("timeout", (socket) => attempt(socket, () => timedOut(socket, sendTimeoutMs)));
  }

  #connect(socket: Socket, readHttp1: (socket: Socket) => void): void {
    this.#arrivals?.accepted();
    // A connection that was handed over and back is watched already.
    if (isWatched(socket)) return readHttp1(socket);
    if (this.#openConnections >= this.limits.maxConnections) {
      this.#limitLog.count();
      socket.destroy();
    } else if (this.#secure !== undefined) this.#secure.handshakeBegan(socket);
    else {
      const connection = this.#connections.watch(socket);
      if (isDeno) readFromFirstByte(socket, readHttp1);
      else if (this.#http2 === undefined) readHttp1(socket);
      else this.#http2.whenKnown(socket, connection, () => readHttp1(socket));
    }
  }

  // The events of the connection are those of its TLS socket.
  #connectSecure(socket: TLSSocket, readHttp1: (socket: Socket) => void): void {
    if (isWatched(socket)) return readHttp1(socket);
    this.#secure?.handshakeEnded(socket);
    const connection = this.#connections.watch(socket);
    if (socket.alpnProtocol === "h2") this.#http2?.take(socket, connection);
    else if (isDeno) readFromFirstByte(socket, readHttp1);
    else readHttp1(socket);
  }

  // Node hands over the bare connection: without a response the client would only see it close.
  #answerConnect(request: IncomingMessage, head: Buffer): void {
    const { socket } = request;
    const connection = this.#connections.of(socket);
    // The connection is being closed already.
    if (!connection.reading.isOpen) return;
    const { sendTimeoutMs } = this.limits;
    inTurn(connection, head, sendTimeoutMs, () => {
      const response = lastResponse(request, socket, this.deadlines);
      const refused = refusedConnect(request.url as string);
      cutUnread(socket, sendTimeoutMs);
      if (refused === undefined) this.#handler.answer(request, response, false);
      else refuseRequest(refused, response, this.deadlines);
    });
  }

  protected async drain(drainMs: number): Promise<number> {
    const handler = this.#handler;
    handler.stopping = true;
    const closed = Promise.all(this.#servers.map(closeServer));
    // In the next turn: a request that was read in this one is answered, such as that of a handler that stops its server.
    setImmediate(
      guarded(undefined, () => {
        this.#connections.closeIdle();
        // So that it also ends a connection that begins to speak HTTP/2 in this turn.
        this.#http2?.stop();
      }),
    );
    this.#secure?.endHandshakes();
    handler.streams.stop();
    const { sockets, takeovers } = this.#upgrades ?? {};
    sockets?.stop();
    takeovers?.stop();
    // A request that is still answered may open another such connection.
    const protocolsEnded = handler.answered().then(() => Promise.all([sockets?.ended(), takeovers?.ended()]));
    const ended = Promise.all([protocolsEnded, closed]);
    const drained = await inTime(ended, drainMs);
    const openProtocols = (sockets?.size ?? 0) + (takeovers?.size ?? 0);
    const cut = drained ? 0 : handler.inFlight + this.#unsent + openProtocols;
    this.deadlines.cut();
    handler.endStreams();
    takeovers?.cut();
    this.#connections.closeAll();
    this.#secure?.stop();
    await closed;
    this.#endMeasuring?.();
    this.#limitLog.stop();
    this.#floodLog.stop();
    return cut;
  }
}

const stopSignals: StopSignals = {
  listen: (act) => process.once("SIGTERM", act).once("SIGINT", act),
  forget: (act) => process.off("SIGTERM", act).off("SIGINT", act),
};

function mayUpgrade(upgrades: Upgrades, handler: RequestHandler, request: IncomingMessage): boolean {
  let may = false;
  attempt(request.socket, () => (may = isForOthers(handler, request) || upgrades.takes(request)));
  return may;
}

/** Takes the listener with which `node:http` reads a connection, so that this one decides who reads it. */
function takeListener(server: HttpServer, event: "connection" | "secureConnection"): (socket: Socket) => void {
  const listeners = server.listeners(event) as ((socket: Socket) => void)[];
  server.removeAllListeners(event);
  const read = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket);
  };
  return isDeno ? detachable(read) : read;
}

function closeServer(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
