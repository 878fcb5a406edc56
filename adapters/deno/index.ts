/** `usher-http/deno`: serves on `Deno.serve`. */
import { isA, useSink } from "../../src/doors/logging.ts";
import { make, refuseCertificateReaders, logListener, logReported } from "../../src/doors/apps.ts";
import type { App, InFlightCounts } from "../../src/doors/apps.ts";
import {
  OpenSockets,
  until,
  Listener,
  starting,
  limitsOf,
  checkFit,
  refuseTls,
  withCertificate,
  refuse,
  refusedLength,
  refusedTarget,
} from "../../src/doors/server.ts";
import type { ListenAddress, Limits, ServeOptions, Server, RefusedHead } from "../../src/doors/server.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { isPending, pass, unrefTimer } from "../../src/doors/base.ts";
import type { MaybePromise } from "../../src/doors/base.ts";
import { StreamCut } from "../../src/doors/events.ts";
import type { Route } from "../../src/doors/routing.ts";
import { DenoExchange, ownOriginOf, targetOf } from "./exchange.ts";
import { InFlight, Pending, Serving, denoResponse } from "./respond.ts";
import type { DenoSender, Untaken } from "./respond.ts";
import { listen, stderrSink, stopSignals, warningsFor } from "./listen.ts";
import type { DenoRuntime, DenoServeOptions, ServeInfo } from "./runtime.ts";

export type {
  ListenOptions,
  ServeOptions,
  Server,
  Certificate,
  Certificates,
  TlsOptions,
} from "../../src/doors/server.ts";

declare const Deno: DenoRuntime;

/**
 * Serves an app on Deno: makes it from its routes, listens, and stops on SIGTERM and SIGINT. The README's table of runtimes
 * lists how Deno differs from Node; `usher-http/node` also runs on Deno, without these differences.
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
    clientCertificates: "is not kept by Deno.serve: serve with usher-http/node, on Node",
    names: "is not kept by Deno.serve, which has one certificate",
    passphrase: "is not kept by Deno.serve: give the key without one",
  });
  const app = make(routes, options);
  refuseCertificateReaders(routes, "is not given by Deno.serve: serve with usher-http/node, on Node");
  const listener = new DenoListener(app, limits, options.maxHeaderBytes);
  useSink(stderrSink());
  await listener.start(warningsFor(options));
  return listener;
}

class DenoListener extends Listener {
  // Up to 2.9.5 Deno never frees a pending read of a body that is given up. In one piece that costs the received bytes and 6
  // KB, as a stream 70 KB.
  readonly pieceBytes = 16_384;
  unread = 0;
  readonly socket: string | undefined;
  readonly eventStreams: InFlight<DenoSender> = new InFlight();
  readonly streams: InFlight<DenoSender> = new InFlight();
  readonly open: OpenSockets = new OpenSockets();
  readonly untaken: InFlight<Untaken> = new InFlight();
  readonly pending: InFlight<Pending> = new InFlight();
  /** Only if the application sets it. */
  readonly #maxHeaderBytes: number | undefined;
  #servers: readonly Serving[] = [];
  ownOrigin = "";

  constructor(app: App, limits: Limits, maxHeaderBytes: number | undefined) {
    super(app, limits, stopSignals);
    this.#maxHeaderBytes = maxHeaderBytes;
    this.socket = limits.socket;
  }

  protected async listen(): Promise<ListenAddress> {
    const { tls } = this.limits;
    if (tls !== undefined) checkFit("serve: tls", tls, await import("node:crypto"));
    const serveAt = (where: Partial<DenoServeOptions>): Serving => {
      if (tls === undefined) return new Serving({ ...where, ...hooks }, this.#answer);
      const secured = { ...where, ...hooks, cert: pem(tls.cert), key: pem(tls.key) };
      return withCertificate("serve: tls", () => new Serving(secured, this.#answer));
    };
    const { servers, ...bound } = await listen(this.limits, serveAt);
    this.#servers = servers;
    // If there are several, they listen on the addresses of `localhost`.
    const [first] = servers;
    if (first !== undefined) this.ownOrigin = ownOriginOf(first.addr);
    return bound;
  }

  replaceCertificates(): void {
    throw new TypeError("replaceCertificates: Deno.serve cannot do it: start the program again, or use a proxy");
  }

  protected get inFlight(): InFlightCounts {
    return { requests: this.pending.size + this.streams.size + this.eventStreams.size, sockets: this.open.size };
  }

  readonly #answer = (request: Request, info: ServeInfo): Response | Promise<Response> => {
    const target = this.stopping ? stops : (this.#refused(request) ?? targetOf(request));
    if (typeof target !== "string") return refuse(target);
    const exchange = new DenoExchange(request, target, info, this);
    const sent = this.app.answer(exchange);
    if (!isPending(sent) && sent.socket === undefined) return denoResponse(exchange, sent, this);
    return this.#answerLate(exchange, sent);
  };

  #answerLate(exchange: DenoExchange, sent: MaybePromise<WireResponse>): Promise<Response> {
    // For `afterLooks`, to see whether the client has gone.
    if (exchange.method === "GET" && exchange.lines("upgrade").length > 0) void exchange.gone;
    const pending = new Pending(exchange, this);
    pass(sent, pending);
    return pending.response;
  }

  #refused(request: Request): RefusedHead | undefined {
    const refused = refusedTarget(request, this.limits.maxHeaderBytes);
    if (refused !== undefined || this.#maxHeaderBytes === undefined) return refused;
    return refusedLength(request, this.#maxHeaderBytes);
  }

  protected async drain(drainMs: number): Promise<number> {
    const end = performance.now() + drainMs;
    this.eventStreams.each((stream) => stream.stop());
    this.open.stop();
    const isFree = await until(() => !this.#isHeld, drainMs);
    if (isFree) for (const server of this.#servers) server.shutdown();
    // A socket that was answered, and not open yet, was not held: its handler still runs where Deno has closed it.
    await until(() => this.#isOver() && this.open.size === 0, end - performance.now());
    const unanswered = this.#cut();
    // Pending responses are sent first, if the client reads them.
    await until(this.#isOver, partingMs);
    for (const server of this.#servers) server.abort();
    await until(this.#isOver, partingMs);
    for (const server of this.#servers) server.unref();
    return unanswered;
  }

  readonly #isOver = (): boolean => this.#servers.every((server) => server.isOver);

  /**
   * Whether something must end before Deno refuses new connections. After that Deno drops bodies that still arrive and
   * closes every socket with its own reason. The connection of a client that does not read its response can no longer be
   * closed.
   */
  get #isHeld(): boolean {
    return (
      this.open.size > 0 ||
      this.pending.some((pending) => pending.isReading) ||
      this.untaken.some((answer) => !answer.isQuiet)
    );
  }

  /**
   * Ends the process although a client holds a connection: Deno does not end a read of its body, which keeps the process
   * alive.
   */
  protected override afterStop(): void {
    if (this.#isOver() && this.unread === 0) return;
    const { drainMs } = this.limits;
    if (!this.isSignalled) {
      logListener("warn", `${held}: the process ends once they go, or by Deno.exit()`);
      return;
    }
    const exitMs = Math.max(drainMs, minExitMs);
    logListener("warn", `${held}: the process ends in ${exitMs / 1000}s`);
    // Without such a connection the process ends before.
    unrefTimer(setTimeout(() => Deno.exit(), exitMs));
  }

  /** Ends everything in flight and returns the number of requests that were cut. */
  #cut(): number {
    const size = this.pending.size + this.streams.size + this.open.size;
    this.deadlines.cut();
    this.pending.cutAll();
    this.eventStreams.cutAll();
    this.streams.cutAll();
    return size;
  }
}

// Deno accepts new connections until nothing is held.
const stops: RefusedHead = { status: 503, why: "the server stops" };
const held = "clients hold connections that Deno lets nobody close";
/** How long a response without a body has to be sent, and a connection to be closed. */
const partingMs = 100;
/** The application has at least as much time for its own cleanup. */
const minExitMs = 1000;

function pem(text: string | Uint8Array): string {
  return typeof text === "string" ? text : new TextDecoder().decode(text);
}

const hooks: Pick<DenoServeOptions, "onListen" | "onError"> = {
  onListen: () => {},
  onError: (error) => {
    if (!isA(StreamCut, error)) logReported(error);
    return new Response(null, { status: 500 });
  },
};
