import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../src/doors/apps.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { isPending } from "../../src/doors/base.ts";
import { caught } from "../../src/doors/logging.ts";
import type { Deadlines, SendingState, SendBudget } from "../../src/doors/server.ts";
import { OpenThings } from "../../src/doors/server.ts";
import type { Arrivals } from "./arrivals.ts";
import { readHead, refuseRequest } from "./bad-request.ts";
import type { Framing } from "./bad-request.ts";
import { lingerAtEnd } from "./connection.ts";
import type { Connections } from "./connection.ts";
import { NodeExchange } from "./exchange.ts";
import { skipEmptyBody } from "./private.ts";
import { whenAnswered, write } from "./response.ts";
import type { WrittenStream, ServerState } from "./stream-writer.ts";

/** Answers the requests of a server, its own or another's. */
export class RequestHandler implements ServerState {
  readonly app: App;
  readonly deadlines: Deadlines;
  readonly unsent: SendBudget;
  readonly sendTimeoutMs: number;
  readonly streams: OpenThings<WrittenStream> = new OpenThings((stream) => {
    if (stream.isEventStream) stream.stop();
  });
  readonly connections: Connections;
  readonly #arrivals: Arrivals | undefined;
  readonly isMounted: boolean = false;
  /** Upgrade requests are distinguished, so a route can open a WebSocket. */
  opensSockets = false;
  stopping = false;
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
    const { reading, writing } = this.connections.of(request.socket);
    if (!reading.takes(request)) return;
    // A stopping server answers the requests that it has, and not one that is pipelined behind them.
    if (this.stopping && !this.isMounted && !writing.isIdle) return;
    const turn = reading.arrived(request);
    if (writing.isFree) return this.#start(request, response, expectsContinue, turn);
    writing.hold(() => {
      // The connection may have ended while it waited, and code of another server may have ended the response.
      if (reading.isOver || request.socket.destroyed || response.writableEnded) return;
      this.#start(request, response, expectsContinue, turn);
    });
  }

  #start(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean, turn: number): void {
    const { reading, writing } = this.connections.of(request.socket);
    const framing = readHead(request);
    if (typeof framing === "object") return refuseRequest(framing, response, this.deadlines);
    // Requests before the last one may have waited until now.
    if (reading.isLast(request)) {
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
    writing.beginAnswer();
    this.inFlight++;
    whenAnswered(sent, request.socket, (sent) => {
      this.inFlight--;
      try {
        // Node does not destroy a response that waits behind another one when their connection closes. Code of another
        // server may have ended it.
        if (response.destroyed || response.writableEnded || request.socket.destroyed) sent?.unsent?.();
        else if (sent !== undefined) write(exchange, sent, this);
        writing.endAnswer();
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

  /** The number of open event streams. */
  get eventStreams(): number {
    let open = 0;
    this.streams.each(({ isEventStream }) => {
      if (isEventStream) open++;
    });
    return open;
  }

  /** Ends every open stream. */
  endStreams(): void {
    this.streams.each((stream) => stream.cut());
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
