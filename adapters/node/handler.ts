import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../src/app/app.ts";
import { internalRefusal } from "../../src/app/failures.ts";
import { isPending } from "../../src/deferred.ts";
import { bodyTooLarge, noRoom } from "../../src/inputs/body-source.ts";
import type { BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { caught } from "../../src/logging/raised.ts";
import { useSink } from "../../src/logging/writer.ts";
import { Deadlines } from "../../src/server/deadlines.ts";
import { limitsOf } from "../../src/server/options.ts";
import type { ListenOptions } from "../../src/server/options.ts";
import { refuseRequest } from "./bad-request.ts";
import { Connections } from "./connection.ts";
import { NodeExchange, awaitsContinue, isLeftToUs } from "./exchange.ts";
import { readHead } from "./head.ts";
import type { Framing } from "./head.ts";
import { stderrSink } from "./listen.ts";
import { skipEmptyBody } from "./parser-body.ts";
import { write } from "./response.ts";
import type { OpenStream, ServerState } from "./stream.ts";
import { whenAnswered } from "./when-answered.ts";

/** What answers the requests of a server, whoever listens. */
export class RequestHandler implements ServerState {
  readonly app: App;
  readonly deadlines: Deadlines;
  readonly sendTimeoutMs: number;
  readonly streams: Set<OpenStream> = new Set();
  readonly connections: Connections;
  readonly isMounted: boolean = false;
  /** A request to another protocol is told apart, so that a route that opens a WebSocket can be asked for one. */
  opensSockets = false;
  stopping = false;
  endsFeeds = false;
  /**
   * How many requests have no answer yet. A number and no set of them: a set that is filled and emptied with every
   * request keeps its old tables, which in the old generation keep each other's requests, and a POST cost twice.
   */
  inFlight = 0;
  #whenAnswered: (() => void) | undefined = undefined;

  constructor(app: App, deadlines: Deadlines, sendTimeoutMs: number, connections: Connections) {
    this.app = app;
    this.deadlines = deadlines;
    this.sendTimeoutMs = sendTimeoutMs;
    this.connections = connections;
  }

  /** Answers a request. Never raises, whoever emitted it. */
  answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    try {
      this.#answer(request, response, expectsContinue);
    } catch (thrown) {
      caught(thrown, request.socket);
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.connections.of(request.socket);
    if (connection.closing || connection.fault !== undefined) return;
    connection.isFresh = false;
    const framing = readHead(request);
    if (typeof framing === "object") return refuseRequest(framing, response, this.deadlines);
    // Under another's server, others may hear of it; and what asks for a connection has it.
    if (framing === 0 && !this.isMounted && request.method !== "CONNECT") skipEmptyBody(request);
    const exchange = this.exchange(request, response, framing, expectsContinue);
    const sent = this.app.answer(exchange);
    if (!isPending(sent)) return write(exchange, sent, this);
    // Where a route reads it late, it waits.
    if (exchange.dropsBody && exchange.isUntouched) exchange.incoming?.drain();
    connection.makes();
    this.inFlight++;
    whenAnswered(sent, request.socket, (sent) => {
      this.inFlight--;
      try {
        if (sent !== undefined && !response.destroyed) write(exchange, sent, this);
        connection.made();
      } catch (thrown) {
        caught(thrown, request.socket);
      }
      this.settle();
    });
  }

  /** One less is in flight. */
  settle(): void {
    if (this.inFlight === 0) this.#whenAnswered?.();
  }

  /** Resolves once no request waits for its answer. */
  answered(): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#whenAnswered = resolve));
  }

  /** Ends the streams of events, from now on: what makes them is told, and their clients see them cut. */
  endFeeds(): void {
    this.endsFeeds = true;
    for (const stream of this.streams) if (stream.isFeed) stream.cut();
  }

  /** Ends every stream there is. */
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

/** What servers, and what is mounted in them ahead of us, leave on a request. */
interface HostedRequest extends IncomingMessage {
  /** The target as it was sent, where a prefix was taken off it: Express, Connect. */
  readonly originalUrl?: unknown;
  /** The bytes of a body that was read: functions' hosts. */
  readonly rawBody?: unknown;
  /** What a body was read as; bytes, where Express' `raw` did. */
  readonly body?: unknown;
}

/** An exchange in another's server, which may have read the request before. */
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

  /** Whether what is mounted ahead has read it, or has it come as text, of which its bytes cannot be had again. */
  #isTaken(): boolean {
    const { readableDidRead, readableEncoding } = this.request;
    return readableDidRead || (readableEncoding ?? null) !== null;
  }
}

function readBefore(request: HostedRequest): BodySource {
  for (const bytes of [request.rawBody, request.body]) if (bytes instanceof Uint8Array) return new ReadBody(bytes);
  throw internalRefusal("its body was read by what is mounted ahead of the app, which left no bytes of it");
}

const mostInPart = 65_536;

/** A body that somebody else has read. */
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
    const part = this.#bytes.subarray(this.#at, this.#at + mostInPart);
    this.#at += part.byteLength;
    return Promise.resolve(part.byteLength === 0 ? undefined : part);
  }

  whole(limit: number, receiver: BodyReceiver): void {
    if (this.length > limit) receiver.done(bodyTooLarge);
    else receiver.done(receiver.take(this.length) ? this.#bytes : noRoom);
  }
}

/** How long an app in another's server waits on a client. What has to do with listening is that server's. */
export type ListenerOptions = Pick<ListenOptions, "bodyTimeoutMs" | "minBodyRate" | "sendTimeoutMs">;

/**
 * An app as a request listener, for a server of `node:http` or `node:https` that is there already; Express takes it as
 * middleware. It answers every request it is given, and never calls on to the next. The server listens and stops, and
 * keeps its own limits of heads and connections; `app.drain()` has the app say that it is no longer ready, and ends its
 * streams of events.
 *
 * Routes name whole paths: where the server took a prefix off (`req.originalUrl`), the app sees the target as it was sent.
 * Mount it ahead of what reads bodies; behind it, a body is had from `req.rawBody` or a `req.body` of bytes, and is a 500
 * where neither is there.
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
  const { bodyTimeoutMs, minBodyRate, sendTimeoutMs } = limitsOf(options, "listener");
  const deadlines = new Deadlines({ bodyTimeoutMs, minBodyRate, sendTimeoutMs });
  const connections = new Connections({ sendTimeoutMs });
  const answering = new MountedAnswering(app, deadlines, sendTimeoutMs, connections);
  useSink(stderrSink());
  deadlines.start();
  app.onDrain(() => answering.endFeeds());
  return (request, response) => {
    answering.answer(request, response, isLeftToUs(response) && awaitsContinue(request, response));
  };
}

class MountedAnswering extends RequestHandler {
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
