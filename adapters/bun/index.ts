/** `usher-http/bun`: serves on `Bun.serve`. */
import { inBackground, useSink } from "../../src/doors/logging.ts";
import { make, refuseCertificateReaders, unmade } from "../../src/doors/apps.ts";
import type { App, InFlightCounts } from "../../src/doors/apps.ts";
import {
  EventStreams,
  OpenSockets,
  until,
  Listener,
  starting,
  limitsOf,
  refuse,
  refusedLength,
  refusedTarget,
  checkFit,
  refuseTls,
  withCertificate as withTls,
} from "../../src/doors/server.ts";
import type { ListenAddress, StopSignals, Limits, ServeOptions, Server, RefusedHead } from "../../src/doors/server.ts";
import { isPending, pass } from "../../src/doors/base.ts";
import type { Route } from "../../src/doors/routing.ts";
import { BunExchange, LateAnswer, bunResponse, targetOf } from "./respond.ts";
import { HeldResponses } from "./held.ts";
import { certificatesFor, inSeconds, listen, makeRoom, stderrSink, warningsFor } from "./listen.ts";
import type { BunRuntime, BunServeOptions, BunServer } from "./listen.ts";
import { socketHandlers } from "./socket.ts";

export type {
  ListenOptions,
  ServeOptions,
  Server,
  Certificate,
  Certificates,
  TlsOptions,
} from "../../src/doors/server.ts";

declare const Bun: BunRuntime;

/**
 * Serves an app on Bun: makes it from its routes, listens, and stops on SIGTERM and SIGINT. The README's table of runtimes
 * lists how Bun differs from Node; `usher-http/node` also runs on Bun, without these differences.
 *
 * @throws DeclarationError for an invalid declaration, RangeError for an option out of its range, and the listening socket's
 *   own error, all before a request is accepted.
 *
 * @example
 * ```ts
 * const server = await serve([hello], { port: 8080 });
 * ```
 */
export function serve(routes: readonly Route[], options: ServeOptions = {}): Promise<Server> {
  return starting(options, () => startServer(routes, options));
}

async function startServer(routes: readonly Route[], options: ServeOptions): Promise<Server> {
  const limits = limitsOf(options);
  refuseTls("serve: tls", limits.tls, {
    clientCertificates: "is not kept on Bun: serve with usher-http/node, on Node",
  });
  if (limits.http2 === true) {
    throw new TypeError("serve: http2 is not kept by usher-http/bun, which speaks HTTP/1.1 only: leave it out");
  }
  const app = make(routes, options);
  refuseCertificateReaders(routes, "is not given by Bun.serve: serve with usher-http/node, on Node");
  const listener = new BunListener(app, limits, options.maxHeaderBytes);
  useSink(stderrSink());
  await makeRoom(options);
  await listener.start(warningsFor(options));
  return listener;
}

class BunListener extends Listener {
  readonly pieceBytes = 16_384;
  unread = 0;
  readonly socket: string | undefined;
  readonly idleSeconds: number;
  readonly sendSeconds: number;
  readonly open: OpenSockets = new OpenSockets();
  readonly eventStreams: EventStreams = new EventStreams();
  streams = 0;
  readonly held: HeldResponses;
  /** Only if the application sets it. */
  readonly #maxHeaderBytes: number | undefined;
  #servers: readonly BunServer[] = [];
  /** The number of requests without a response. */
  inFlightNow = 0;

  constructor(app: App, limits: Limits, maxHeaderBytes: number | undefined) {
    super(app, limits, stopSignals);
    this.#maxHeaderBytes = maxHeaderBytes;
    this.socket = limits.socket;
    this.idleSeconds = inSeconds("idleTimeoutMs", limits.idleTimeoutMs);
    this.sendSeconds = inSeconds("sendTimeoutMs", limits.sendTimeoutMs);
    this.held = new HeldResponses(this);
  }

  protected async listen(): Promise<ListenAddress> {
    const { tls } = this.limits;
    if (tls !== undefined) checkFit("serve: tls", tls, await import("node:crypto"));
    const { servers, ...bound } = await listen(this.limits, (where) => this.#serve(where));
    this.#servers = servers;
    return bound;
  }

  #serve(where: Partial<BunServeOptions>): BunServer {
    const { tls } = this.limits;
    const options = this.#options(where);
    if (tls === undefined) return Bun.serve(options);
    return withTls("serve: tls", () => Bun.serve({ ...options, tls: certificatesFor(tls) }));
  }

  replaceCertificates(): void {
    throw new TypeError("replaceCertificates: Bun.serve cannot do it: start the program again, or use a proxy");
  }

  protected get inFlight(): InFlightCounts {
    return { requests: this.inFlightNow + this.streams + this.eventStreams.size, sockets: this.open.size };
  }

  #options(where: Partial<BunServeOptions>): BunServeOptions {
    const websocket = socketHandlers(this.app.routes, this);
    return {
      ...where,
      ...(websocket === undefined ? {} : { websocket }),
      idleTimeout: this.idleSeconds,
      // The app limits the length of a body and answers the 413.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun would show the client the source of the error.
      development: false,
      fetch: this.#answer,
      error: unmade,
    };
  }

  readonly #answer = (request: Request, server: BunServer): Response | undefined | Promise<Response | undefined> => {
    const target = this.#refused(request) ?? targetOf(request);
    if (typeof target !== "string") return refuse(target);
    const exchange = new BunExchange(request, target, server, this);
    const sent = this.app.answer(exchange);
    if (!isPending(sent)) return bunResponse(exchange, sent, this);
    // While the handler runs, the client need not send anything; a body has its own deadline.
    server.timeout(request, 0);
    this.inFlightNow++;
    const late = new LateAnswer(exchange, this);
    pass(sent, late);
    return late.response;
  };

  #refused(request: Request): RefusedHead | undefined {
    if (this.#maxHeaderBytes === undefined) return undefined;
    return refusedTarget(request, this.#maxHeaderBytes) ?? refusedLength(request, this.#maxHeaderBytes);
  }

  protected async drain(drainMs: number): Promise<number> {
    // Each resolves once its last connection is closed, which one without requests delays.
    for (const server of this.#servers) inBackground(server.stop());
    this.eventStreams.stop();
    this.open.stop();
    const isQuiet = () => this.inFlightNow === 0 && this.open.size === 0;
    const isOver = () => isQuiet() && this.#servers.every(({ pendingRequests }) => pendingRequests === 0);
    await until(isOver, drainMs);
    const cut = this.inFlightNow + this.streams + this.open.size;
    this.deadlines.cut();
    await Promise.all(this.#servers.map((server) => server.stop(true)));
    return cut;
  }
}

const stopSignals: StopSignals = {
  listen: (act) => process.once("SIGTERM", act).once("SIGINT", act),
  forget: (act) => process.off("SIGTERM", act).off("SIGINT", act),
};
