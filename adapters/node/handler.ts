import type { IncomingMessage, ServerResponse } from "node:http";
import { needsApp } from "../../src/arguments.ts";
import type { App } from "../../src/app/app.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { logRefusedHead } from "../../src/app/failures.ts";
import { internalRefusal } from "../../src/refusals.ts";
import { isPending } from "../../src/deferred.ts";
import { bodyTooLarge, noRoom } from "../../src/inputs/body-source.ts";
import type { BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { caught } from "../../src/logging/raised.ts";
import { useSink } from "../../src/logging/writer.ts";
import { Deadlines } from "../../src/server/deadlines.ts";
import { CutLogs } from "../../src/server/listener.ts";
import { limitsOf } from "../../src/server/options.ts";
import type { ListenOptions } from "../../src/server/options.ts";
import type { SendingState } from "../../src/server/pulled-unsent.ts";
import { SendBudget } from "../../src/server/send-budget.ts";
import type { Arrivals } from "./arrivals.ts";
import { readHead, refuseRequest } from "./bad-request.ts";
import type { Framing } from "./bad-request.ts";
import { Connections, lingerAtEnd } from "./connection.ts";
import { NodeExchange, awaitsContinue } from "./exchange.ts";
import { stderrSink } from "./listen.ts";
import { leavesContinue, skipEmptyBody } from "./private.ts";
import { unsentOf } from "./recipient.ts";
import { whenAnswered, write } from "./response.ts";
import type { OpenStream, ServerState } from "./stream-writer.ts";

/** Answers the requests of a server, its own or another's. */
export class RequestHandler implements ServerState {
  readonly app: App;
  readonly deadlines: Deadlines;
  readonly unsent: SendBudget;
  readonly sendTimeoutMs: number;
  readonly streams: Set<OpenStream> = new Set();
  readonly connections: Connections;
  readonly #arrivals: Arrivals | undefined;
  readonly isMounted: boolean = false;
  /** Upgrade requests are distinguished, so a route can open a WebSocket. */
  opensSockets = false;
  stopping = false;
  endsEventStreams = false;
  /**
   * The number of requests without a response. Not a set: one that every request fills and empties keeps its old tables,
   * which in the old generation keep each other's requests. A POST cost twice as much.
   */
  inFlight = 0;
  #whenAnswered: (() => void) | undefined = undefined;

  /** @param arrivals Only for an app with `maxEventLoopDelayMs`. */
  constructor(
    app: App,
    { deadlines, unsent, sendTimeoutMs }: SendingState,
    connections: Connections,
    arrivals?: Arrivals,
  ) {
    this.app = app;
    this.#arrivals = arrivals;
    this.deadlines = deadlines;
    this.unsent = unsent;
    this.sendTimeoutMs = sendTimeoutMs;
    this.connections = connections;
  }

  /** Answers a request. Never throws. */
  answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    try {
      this.#answer(request, response, expectsContinue);
    } catch (thrown) {
      caught(thrown, request.socket);
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.connections.of(request.socket);
    if (connection.closing || connection.fault !== undefined || connection.stoppedReading) return;
    // A stopping server answers the requests that it has, and not one that is pipelined behind them.
    if (this.stopping && !this.isMounted && !connection.isIdle) return;
    const { last } = connection;
    if (last !== undefined && last !== request) return;
    connection.isFresh = false;
    const turn = connection.arrived(request);
    if (connection.isFree) return this.#start(request, response, expectsContinue, turn);
    connection.hold(() => {
      // Code of another server may have ended it while it waited.
      if (!response.writableEnded) this.#start(request, response, expectsContinue, turn);
    });
  }

  #start(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean, turn: number): void {
    const connection = this.connections.of(request.socket);
    const framing = readHead(request);
    if (typeof framing === "object") return refuseRequest(framing, response, this.deadlines);
    // Requests before the last one may have waited until now.
    if (connection.last === request) {
      response.shouldKeepAlive = false;
      lingerAtEnd(request.socket, this.deadlines);
    }
    // In another server, other code may listen to it; a CONNECT keeps its connection.
    if (framing === 0 && !this.isMounted && request.method !== "CONNECT") skipEmptyBody(request);
    const exchange = this.exchange(request, response, framing, expectsContinue);
    exchange.turn = turn;
    const waiting = this.#arrivals?.wait();
    const sent = waiting === undefined ? this.app.answer(exchange) : this.#answerLate(exchange, waiting);
    if (!isPending(sent)) return write(exchange, sent, this);
    // Otherwise the body stays unread: the route may still read it.
    if (exchange.dropsBody) exchange.drain();
    connection.beginAnswer();
    this.inFlight++;
    whenAnswered(sent, request.socket, (sent) => {
      this.inFlight--;
      try {
        // Node does not destroy a response that waits behind another one when their connection closes. Code of another
        // server may have ended it.
        if (response.destroyed || response.writableEnded || request.socket.destroyed) sent?.unsent?.();
        else if (sent !== undefined) write(exchange, sent, this);
        connection.endAnswer();
      } catch (thrown) {
        caught(thrown, request.socket);
      }
      this.settle();
    });
  }

  /** Answers once no connection waits to be accepted. The request keeps its turn on its own connection. */
  async #answerLate(exchange: NodeExchange, waiting: Promise<void>): Promise<WireResponse> {
    await waiting;
    const sent = this.app.answer(exchange);
    if (exchange.dropsBody && isPending(sent)) exchange.drain();
    return sent;
  }

  /** Called after a request has its response: ends the wait of {@link answered} if it was the last one. */
  settle(): void {
    if (this.inFlight === 0) this.#whenAnswered?.();
  }

  /** Resolves once every request has its response. */
  answered(): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#whenAnswered = resolve));
  }

  /** Ends the event streams, now and from now on: their producers are notified, and their clients see them cut. */
  endEventStreams(): void {
    this.endsEventStreams = true;
    for (const stream of this.streams) if (stream.isEventStream) stream.cut();
  }

  /** Ends every open stream. */
  endStreams(): void {
    for (const stream of this.streams) stream.cut();
  }

  protected exchange(
    request: IncomingMessage,
    response: ServerResponse,
    framing: Framing,
    expectsContinue: boolean,
  ): NodeExchange {
    const exchange = new NodeExchange(request, response, framing, this.deadlines, expectsContinue, this.opensSockets);
    exchange.canTakeOver = false;
    return exchange;
  }
}

/** Members that other servers and middleware set on a request. */
interface HostedRequest extends IncomingMessage {
  /** The target as sent, where a prefix was removed: Express, Connect. */
  readonly originalUrl?: unknown;
  /** The bytes of a body that was read: serverless hosts. */
  readonly rawBody?: unknown;
  /** The parsed body; bytes from Express's `raw`. */
  readonly body?: unknown;
}

/** An exchange in another server, which may have read the body already. */
class MountedExchange extends NodeExchange {
  override readonly target: string;
  #body: BodySource | undefined = undefined;

  constructor(
    request: HostedRequest,
    response: ServerResponse,
    framing: Framing,
    deadlines: Deadlines,
    expectsContinue: boolean,
  ) {
    super(request, response, framing, deadlines, expectsContinue);
    const { originalUrl } = request;
    this.target = typeof originalUrl === "string" ? originalUrl : (request.url as string);
  }

  override get listener(): string {
    return "a server that it is mounted in";
  }

  override get isOurs(): boolean {
    return false;
  }

  override get body(): BodySource | undefined {
    return (this.#body ??= this.#isTaken() ? readBefore(this.request) : this.incoming);
  }

  /** Whether earlier middleware has read the body, or set an encoding, which loses its bytes. */
  #isTaken(): boolean {
    const { readableDidRead, readableEncoding } = this.request;
    return readableDidRead || (readableEncoding ?? null) !== null;
  }
}

function readBefore(request: HostedRequest): BodySource {
  for (const bytes of [request.rawBody, request.body]) if (bytes instanceof Uint8Array) return new ReadBody(bytes);
  throw internalRefusal("its body was read by what is mounted ahead of the app, which left no bytes of it");
}

const maxPartBytes = 65_536;

/** A body that other code has read. */
class ReadBody implements BodySource {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.byteLength;
  }

  read(): Promise<Uint8Array | undefined> {
    const part = this.#bytes.subarray(this.#at, this.#at + maxPartBytes);
    this.#at += part.byteLength;
    return Promise.resolve(part.byteLength === 0 ? undefined : part);
  }

  whole(limit: number, receiver: BodyReceiver): void {
    if (this.length > limit) receiver.done(bodyTooLarge);
    else receiver.done(receiver.take(this.length) ? this.#bytes : noRoom);
  }
}

/** How long an app in another server waits for a client. The other options are that server's. */
export type ListenerOptions = Pick<
  ListenOptions,
  "bodyTimeoutMs" | "minBodyRate" | "sendTimeoutMs" | "minSendRate" | "sendBudget" | "sendShare"
>;

/**
 * An app as a request listener, for an existing server of `node:http` or `node:https`; Express takes it as middleware. It
 * answers every request and never calls the next middleware. The server listens and stops, and has its own limits of heads
 * and connections. `app.drain()` makes the app report that it is not ready, and ends its event streams.
 *
 * Routes have whole paths: where the server removed a prefix (`req.originalUrl`), the app sees the target as sent. Mount it
 * before middleware that reads bodies. After it, the body is taken from `req.rawBody` or a `req.body` of bytes, and without
 * these the response is a 500.
 *
 * @throws RangeError for an option out of its range.
 *
 * @example
 * ```ts
 * const app = App.make(routes);
 * const server = createServer(listener(app)).listen(8080);
 * ```
 */
export function listener(
  app: App,
  options: ListenerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  needsApp("listener: its app", app);
  const limits = limitsOf(options, "listener");
  const { sendTimeoutMs } = limits;
  const deadlines = new Deadlines(limits);
  const cuts = new CutLogs(limits);
  const budget = new SendBudget(limits, deadlines, (why) => cuts.count(why));
  const connections = new Connections({ sendTimeoutMs, unsentOf: unsentOf(budget, app) });
  const handler = new MountedHandler(app, { deadlines, unsent: budget, sendTimeoutMs }, connections);
  useSink(stderrSink());
  deadlines.start();
  app.onDrain(() => {
    // The server is about to close, which an idle connection would delay.
    handler.stopping = true;
    handler.endEventStreams();
  });
  return (request, response) => {
    // Its connection is of other requests, too, and is not to be closed.
    if (request.httpVersionMajor === 2) {
      logRefusedHead(505, "HTTP/2, which `serve` and `usher-http/whatwg` answer");
      response.writeHead(505).end();
      return;
    }
    handler.answer(request, response, leavesContinue(response) && awaitsContinue(request, response));
  };
}

class MountedHandler extends RequestHandler {
  override readonly isMounted = true;

  protected override exchange(
    request: IncomingMessage,
    response: ServerResponse,
    framing: Framing,
    expectsContinue: boolean,
  ): NodeExchange {
    return new MountedExchange(request, response, framing, this.deadlines, expectsContinue);
  }
}
