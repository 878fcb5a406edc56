import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../src/app/app.ts";
import { isToCome } from "../../src/inputs/later.ts";
import type { Sweep } from "../../src/app/sweep.ts";
import { caught } from "../../src/logging/last-net.ts";
import { endUnread } from "./spared-stream.ts";
import type { Connections } from "./connections.ts";
import { NodeExchange } from "./exchange.ts";
import type { Framing } from "./head.ts";
import { whenAnswered } from "./when-answered.ts";
import { readHead } from "./head.ts";
import { refuseRequest } from "./head-refusal.ts";
import { write } from "./write.ts";
import type { OpenStream, Writing } from "./writing.ts";

/** What answers the requests of a server, whoever listens. */
export class Answering implements Writing {
  readonly app: App;
  readonly sweep: Sweep;
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

  constructor(app: App, sweep: Sweep, sendTimeoutMs: number, connections: Connections) {
    this.app = app;
    this.sweep = sweep;
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
    if (typeof framing === "object") return refuseRequest(framing, response, this.sweep);
    // Under another's server, others may hear of it; and what asks for a connection has it.
    if (framing === 0 && !this.isMounted && request.method !== "CONNECT") endUnread(request);
    const exchange = this.exchange(request, response, framing, expectsContinue);
    const sent = this.app.answer(exchange);
    if (!isToCome(sent)) return write(exchange, sent, this);
    // Where a route reads it late, it waits.
    if (framing !== 0 && exchange.isUntouched && !this.app.readsBody(exchange.method, exchange.target)) {
      exchange.incoming?.drain();
    }
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
    const exchange = new NodeExchange(request, response, framing, this.sweep, expectsContinue, this.opensSockets);
    exchange.canTakeOver = false;
    return exchange;
  }
}
