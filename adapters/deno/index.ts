/** `usher-http/deno`: serves on `Deno.serve`. */
import { guarded, inBackground } from "../../src/logging/raised.ts";
import { make } from "../../src/app/app.ts";
import type { App } from "../../src/app/app.ts";
import { OpenSockets, Stopping, until } from "../../src/server/lifecycle.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { logListener, sayReported, logStopped } from "../../src/app/failures.ts";
import { Deferred, isPending } from "../../src/deferred.ts";
import type { MaybePromise } from "../../src/deferred.ts";
import { limitsOf } from "../../src/server/options.ts";
import type { Limits, ServeOptions, Server } from "../../src/server/options.ts";
import { refuse, refusedLength, refusedTarget } from "../../src/server/bad-request.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";
import { cut } from "../../src/server/stream.ts";
import { Deadlines, holdsNothing } from "../../src/server/deadlines.ts";
import { useSink } from "../../src/logging/writer.ts";
import type { Route } from "../../src/routing/route.ts";
import { DenoExchange, targetOf } from "./exchange.ts";
import { InFlight, Pending, Serving, respond } from "./respond.ts";
import type { Cuttable, Untaken } from "./respond.ts";
import { StopSignals, listen, stderrSink, unkept } from "./listen.ts";
import type { DenoRuntime, DenoServeOptions, ServeInfo } from "./runtime.ts";
import { afterLooks } from "./socket.ts";

export type { ListenOptions, ServeOptions, Server } from "../../src/server/options.ts";

declare const Deno: DenoRuntime;

/**
 * Serves an app on Deno: makes it of its routes, listens, and stops on SIGTERM and SIGINT. What Deno does in another way
 * than Node is in the README's table of runtimes; `usher-http/node` runs on Deno too, and does it Node's way.
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
  await listener.start(unkept(options));
  return listener;
}

class Listener implements Server {
  readonly app: App;
  readonly deadlines: Deadlines;
  // Up to 2.9.5 what is asked for of a body that is given up is held on to for ever: in one piece the bytes that came
  // and 6 KB, of a stream 70 KB.
  readonly pieceBytes = 16_384;
  unread = 0;
  readonly socket: string | undefined;
  readonly sendTimeoutMs: number;
  readonly feeds: InFlight<Cuttable> = new InFlight();
  readonly streams: InFlight<Cuttable> = new InFlight();
  readonly open: OpenSockets = new OpenSockets();
  readonly untaken: InFlight<Untaken> = new InFlight();
  readonly #pending: InFlight<Pending> = new InFlight();
  readonly #limits: Limits;
  /** Where the application has one of its own. */
  readonly #maxHeaderBytes: number | undefined;
  readonly #signals = new StopSignals(
    guarded(undefined, () => {
      this.#isSignalled = true;
      inBackground(this.stop());
    }),
  );
  #isSignalled = false;
  #servers: readonly Serving[] = [];
  readonly #stopping = new Stopping(() => this.#stop());
  stopping = false;
  port = 0;
  url = "";

  constructor(app: App, limits: Limits, maxHeaderBytes: number | undefined) {
    this.app = app;
    this.#limits = limits;
    this.#maxHeaderBytes = maxHeaderBytes;
    this.deadlines = new Deadlines(limits);
    this.socket = limits.socket;
    this.sendTimeoutMs = limits.sendTimeoutMs;
  }

  async start(unkept: readonly string[]): Promise<void> {
    const serveAt = (where: Partial<DenoServeOptions>) => new Serving({ ...where, ...hooks }, this.#answer);
    const { servers, port, url, bound } = await listen(this.#limits, serveAt);
    this.#servers = servers;
    this.port = port;
    this.url = url;
    if (this.#limits.signals) this.#signals.hear();
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

  readonly #answer = (request: Request, info: ServeInfo): Response | Promise<Response> => {
    const target = this.stopping ? stops : (this.#refused(request) ?? targetOf(request));
    if (typeof target !== "string") return refuse(target);
    const exchange = new DenoExchange(request, target, info, this);
    const sent = this.app.answer(exchange);
    if (!isPending(sent) && sent.socket === undefined) return respond(exchange, sent, this);
    return this.#answerLate(exchange, sent);
  };

  #answerLate(exchange: DenoExchange, sent: MaybePromise<WireResponse>): Promise<Response> {
    // So that `afterLooks` finds whether the client has gone.
    if (exchange.method === "GET" && exchange.lines("upgrade").length > 0) void exchange.gone;
    const pending = new Pending(exchange);
    const entry = this.#pending.add(pending);
    const answer = (sent: WireResponse): void => {
      if (sent.socket === undefined) go(sent);
      else afterLooks(() => go(sent));
    };
    const go = (sent: WireResponse): void => {
      try {
        this.#pending.remove(entry);
        pending.answer(sent, this);
      } catch (thrown) {
        pending.fail(thrown);
      }
    };
    if (sent instanceof Deferred) sent.onResolve(answer);
    else if (!(sent instanceof Promise)) answer(sent);
    else
      sent.then(answer, (thrown: unknown) => {
        this.#pending.remove(entry);
        pending.fail(thrown);
      });
    return pending.response;
  }

  #refused(request: Request): RefusedHead | undefined {
    const refused = refusedTarget(request, this.#limits.maxHeaderBytes);
    if (refused !== undefined || this.#maxHeaderBytes === undefined) return refused;
    return refusedLength(request, this.#maxHeaderBytes);
  }

  async #stop(): Promise<number> {
    const { drainMs } = this.#limits;
    const end = performance.now() + drainMs;
    this.stopping = true;
    this.app.drain();
    this.#signals.forget();
    logListener("info", `stopping, with ${this.#pending.size} requests in flight`);
    this.feeds.cutAll();
    this.open.stop();
    const isFree = await until(() => !this.#isHeld, drainMs);
    if (isFree) for (const server of this.#servers) server.shutdown();
    const isOver = (): boolean => this.#servers.every((server) => server.isOver);
    await until(isOver, end - performance.now());
    const unanswered = this.#cut();
    // What they are answered with goes out first, where there is anybody to take it.
    await until(isOver, partingMs);
    for (const server of this.#servers) server.abort();
    await until(isOver, partingMs);
    for (const server of this.#servers) server.unref();
    this.deadlines.stop();
    await this.app.flush?.();
    logStopped(unanswered, drainMs);
    if (!isOver() || this.unread > 0) this.#letGo();
    return unanswered;
  }

  /**
   * Whether something is in flight that has to end before Deno is told to refuse new connections. Then it drops a body that
   * still arrives, closes every socket with a reason of its own, and lets nobody close the connection of a client that takes
   * nothing of its answer.
   */
  get #isHeld(): boolean {
    return (
      this.open.size > 0 ||
      this.#pending.some((pending) => pending.isReading) ||
      this.untaken.some((answer) => !answer.isQuiet)
    );
  }

  /** Has the process end though a client holds a connection: Deno ends no read of its body, and keeps the process for it. */
  #letGo(): void {
    const { drainMs } = this.#limits;
    if (!this.#isSignalled) {
      logListener("warn", `${held}: the process ends once they go, or by Deno.exit()`);
      return;
    }
    const exitMs = Math.max(drainMs, leastExitMs);
    logListener("warn", `${held}: the process ends in ${exitMs / 1000}s`);
    // Where nobody holds it any more it ends before.
    holdsNothing(setTimeout(() => Deno.exit(), exitMs));
  }

  /** Ends whatever there is, and says how many were to come to an end of their own. */
  #cut(): number {
    const size = this.#pending.size + this.streams.size + this.open.size;
    this.#pending.cutAll();
    this.feeds.cutAll();
    this.streams.cutAll();
    return size;
  }
}

// Until nothing is held Deno takes new connections.
const stops: RefusedHead = { status: 503, why: "the server stops" };
const held = "clients hold connections that Deno lets nobody close";
/** How long an answer that is no more than a head has to go out, and a connection to be closed. */
const partingMs = 100;
/** What the application does once it has stopped has as much time, at least. */
const leastExitMs = 1000;

const hooks: Pick<DenoServeOptions, "onListen" | "onError"> = {
  onListen: () => {},
  onError: (error) => {
    if (error !== cut) sayReported(error);
    return new Response(null, { status: 500 });
  },
};
