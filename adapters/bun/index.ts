/** `usher-http/bun`: serves on `Bun.serve`. */
import { guarded, inBackground } from "../../src/logging/raised.ts";
import { make } from "../../src/app/app.ts";
import type { App } from "../../src/app/app.ts";
import { EventStreams, OpenSockets, Stopping, until } from "../../src/server/lifecycle.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { unmade } from "../../src/app/web.ts";
import { logListener, logStopped } from "../../src/app/failures.ts";
import { isPending } from "../../src/deferred.ts";
import { limitsOf } from "../../src/server/options.ts";
import type { Limits, ServeOptions, Server } from "../../src/server/options.ts";
import { refuse, refusedLength, refusedTarget } from "../../src/server/bad-request.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";
import { Deadlines } from "../../src/server/deadlines.ts";
import { useSink } from "../../src/logging/writer.ts";
import type { Route } from "../../src/routing/route.ts";
import { BunExchange, respond, targetOf } from "./respond.ts";
import { inSeconds, listen, makeRoom, stderrSink, unkept } from "./listen.ts";
import type { BunRuntime, BunServeOptions, BunServer } from "./listen.ts";
import { socketHandlers } from "./socket.ts";

export type { ListenOptions, ServeOptions, Server } from "../../src/server/options.ts";

declare const Bun: BunRuntime;

/**
 * Serves an app on Bun: makes it of its routes, listens, and stops on SIGTERM and SIGINT. What Bun does in another way
 * than Node is in the README's table of runtimes; `usher-http/node` runs on Bun too, and does it Node's way.
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
  const listener = new Listener(make(routes, options), limits, options.maxHeaderBytes);
  useSink(stderrSink());
  await makeRoom(options);
  await listener.start(unkept(options));
  return listener;
}

class Listener implements Server {
  readonly app: App;
  readonly deadlines: Deadlines;
  readonly pieceBytes = 16_384;
  unread = 0;
  readonly socket: string | undefined;
  readonly idleSeconds: number;
  readonly sendSeconds: number;
  readonly sendTimeoutMs: number;
  readonly open: OpenSockets = new OpenSockets();
  readonly feeds: EventStreams = new EventStreams();
  streams = 0;
  readonly #limits: Limits;
  /** Where the application has one of its own. */
  readonly #maxHeaderBytes: number | undefined;
  #servers: readonly BunServer[] = [];
  /** How many requests have no answer yet. */
  #inFlight = 0;
  readonly #stopping = new Stopping(() => this.#stop());
  stopping = false;
  cutting = false;
  port = 0;
  url = "";

  constructor(app: App, limits: Limits, maxHeaderBytes: number | undefined) {
    this.app = app;
    this.#limits = limits;
    this.#maxHeaderBytes = maxHeaderBytes;
    this.deadlines = new Deadlines(limits);
    this.socket = limits.socket;
    this.idleSeconds = inSeconds("idleTimeoutMs", limits.idleTimeoutMs);
    this.sendTimeoutMs = limits.sendTimeoutMs;
    this.sendSeconds = inSeconds("sendTimeoutMs", limits.sendTimeoutMs);
  }

  async start(unkept: readonly string[]): Promise<void> {
    const { servers, port, url, bound } = await listen(this.#limits, (where) => Bun.serve(this.#options(where)));
    this.#servers = servers;
    this.port = port;
    this.url = url;
    if (this.#limits.signals) {
      process.once("SIGTERM", this.#onSignal);
      process.once("SIGINT", this.#onSignal);
    }
    this.deadlines.start();
    logListener("info", `listening on ${url} (${bound})`);
    for (const why of unkept) logListener("warn", why);
  }

  get stopped(): Promise<number> {
    return this.#stopping.stopped;
  }

  stop(): Promise<number> {
    return this.#stopping.begin();
  }

  readonly #onSignal = guarded(undefined, () => {
    // The next one finds no listener, and does what it does to any process.
    this.#forgetSignals();
    inBackground(this.stop());
  });

  #forgetSignals(): void {
    process.off("SIGTERM", this.#onSignal).off("SIGINT", this.#onSignal);
  }

  #options(where: Partial<BunServeOptions>): BunServeOptions {
    const websocket = socketHandlers(this.app.routes, this);
    return {
      ...where,
      ...(websocket === undefined ? {} : { websocket }),
      idleTimeout: this.idleSeconds,
      // A body's length is the app's to bound, and a 413 the app's to say.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun would show whoever asks the source of what failed.
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
    if (!isPending(sent)) return respond(exchange, sent, this);
    // However long a handler takes, its client has nothing to send meanwhile; and a body has a bound of its own.
    server.timeout(request, 0);
    this.#inFlight++;
    return sent.then((sent) => this.#answerLate(exchange, sent), this.#failed);
  };

  readonly #failed = (thrown: unknown): Response => {
    this.#inFlight--;
    return unmade(thrown);
  };

  #refused(request: Request): RefusedHead | undefined {
    if (this.#maxHeaderBytes === undefined) return undefined;
    return refusedTarget(request, this.#maxHeaderBytes) ?? refusedLength(request, this.#maxHeaderBytes);
  }

  #answerLate(exchange: BunExchange, sent: WireResponse): Response | undefined | Promise<Response | undefined> {
    this.#inFlight--;
    exchange.server.timeout(exchange.request, this.idleSeconds);
    return respond(exchange, sent, this);
  }

  async #stop(): Promise<number> {
    this.stopping = true;
    this.app.drain();
    this.#forgetSignals();
    logListener("info", `stopping, with ${this.#inFlight} requests in flight`);
    // Each resolves once its last connection is closed, which one that never asked anything puts off.
    for (const server of this.#servers) inBackground(server.stop());
    this.feeds.end();
    this.open.stop();
    const isQuiet = () => this.#inFlight === 0 && this.open.size === 0;
    const isOver = () => isQuiet() && this.#servers.every(({ pendingRequests }) => pendingRequests === 0);
    await until(isOver, this.#limits.drainMs);
    const cut = this.#inFlight + this.streams + this.open.size;
    this.cutting = true;
    await Promise.all(this.#servers.map((server) => server.stop(true)));
    this.deadlines.stop();
    await this.app.flush?.();
    logStopped(cut, this.#limits.drainMs);
    return cut;
  }
}
