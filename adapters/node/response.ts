import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { isStream } from "../../src/doors/answers.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { whenResolved } from "../../src/doors/base.ts";
import type { Deferred } from "../../src/doors/base.ts";
import { lists } from "../../src/doors/http.ts";
import { caught } from "../../src/doors/logging.ts";
import { isEventStream } from "../../src/app/exchange.ts";
import { connectionOf, lingerAtEnd } from "./connection.ts";
import { discardLimit, lingerMs } from "../../src/doors/server.ts";
import type { NodeExchange } from "./exchange.ts";
import { phrases } from "./http.ts";
import { isBun } from "./listen.ts";
import { headText, isKnownNode, setHeadText } from "./private.ts";
import type { IncomingBody } from "./request-body.ts";
import { sendWithin, stream } from "./stream.ts";
import type { ServerState } from "./stream-writer.ts";

/**
 * Whether Node would add nothing to a head, on a connection that stays open: its body has a length, or its status has no
 * body. `content-length` is the last field of a head.
 */
function isWholeHead({ head, status }: WireResponse): boolean {
  return isKnownNode && (head[head.length - 2] === "content-length" || status === 204 || status === 304);
}

/**
 * Writes such a head directly. `writeHead` looks for further headers and checks every character again: 0.4 µs, a twentieth
 * of a request.
 */
function setWholeHead(response: ServerResponse, { status, head }: WireResponse, phrase: string): void {
  // Other code that reads responses uses these.
  response.statusCode = status;
  response.statusMessage = phrase;
  setHeadText(response, headText(status, phrase, head));
}

/** Writes a response: usually with one `writeHead` and one `end`. */
export function write(exchange: NodeExchange, sent: WireResponse, server: ServerState): void {
  // A WebSocket answer without an upgrade event: the parser did not recognize the upgrade.
  if (sent.socket !== undefined) {
    sent.unsent?.();
    return hangUpWhenIdle(exchange);
  }
  const left = exchange.request.complete ? undefined : exchange.incoming;
  if (left === undefined) send(exchange, sent, server, closesAfter(exchange, sent, server));
  else if (sent.readsBody === true) sendWhileRead(exchange, left, sent, server);
  else writeUnread(exchange, left, sent, server);
}

/** Closes a connection that cannot become a WebSocket, after the earlier responses. */
function hangUpWhenIdle({ request: { socket } }: NodeExchange): void {
  const { reading, writing } = connectionOf(socket);
  reading.closes();
  writing.whenIdle(() => socket.destroySoon());
}

/**
 * Answers a request whose body is incomplete. The connection stays open only if the rest is dropped, because it would be
 * read as a request. With a known length, this is decided at once. In chunks only the end shows it: the rest is dropped
 * before the head is written.
 */
function writeUnread(exchange: NodeExchange, body: IncomingBody, sent: WireResponse, server: ServerState): void {
  body.release();
  const { left, dropped } = body;
  const isTooMuch = dropped + (left ?? 0) > discardLimit;
  const isLost = body.isLost || connectionOf(exchange.request.socket).reading.fault !== undefined;
  if (isTooMuch || isLost || closesAfter(exchange, sent, server)) sendLast(exchange, body, sent, server);
  else if (left === undefined) sendWhenDropped(exchange, body, sent, server);
  else sendAndDrop(exchange, body, sent, server);
}

function sendWhenDropped(exchange: NodeExchange, body: IncomingBody, sent: WireResponse, server: ServerState): void {
  const { request, response } = exchange;
  const { writing } = connectionOf(request.socket);
  writing.beginSending();
  const done = (): void => {
    if (response.destroyed || request.socket.destroyed) sent.unsent?.();
    else if (request.complete) send(exchange, sent, server, closesAfter(exchange, sent, server));
    else sendLast(exchange, body, sent, server);
    writing.endSending();
  };
  body.drain(discardLimit - body.dropped, (waiting) => server.deadlines.time(lingerMs, waiting), done);
}

function sendAndDrop(exchange: NodeExchange, body: IncomingBody, sent: WireResponse, server: ServerState): void {
  dropRest(exchange, body, server);
  send(exchange, sent, server, false);
}

function dropRest({ request }: NodeExchange, body: IncomingBody, server: ServerState): void {
  const done = (): void => {
    if (!request.complete) connectionOf(request.socket).writing.whenIdle(() => request.socket.destroySoon());
  };
  body.drain(Number.POSITIVE_INFINITY, (waiting) => server.deadlines.body(waiting), done);
}

/** Sends a stream that the handler makes of the body, or next to reading it. What is left at its end is dropped, or the connection ends. */
function sendWhileRead(exchange: NodeExchange, body: IncomingBody, sent: WireResponse, server: ServerState): void {
  const { socket } = exchange.request;
  const sentWhole = (): void => {
    body.release();
    if (exchange.request.complete) return;
    const { reading, writing } = connectionOf(socket);
    const { left } = body;
    if (left !== undefined && left <= discardLimit && !body.isLost) return dropRest(exchange, body, server);
    reading.closes();
    lingerAtEnd(socket, server.deadlines);
    writing.whenIdle(() => socket.destroySoon());
  };
  send(exchange, sent, server, closesAfter(exchange, sent, server), sentWhole);
}

function closesAfter(exchange: NodeExchange, sent: WireResponse, { stopping }: ServerState): boolean {
  const { request, response } = exchange;
  if (sent.closes || !response.shouldKeepAlive) return true;
  // The others that were pipelined are answered, too.
  if (stopping && exchange.turn === connectionOf(request.socket).reading.requests) return true;
  if (request.httpVersionMinor === 0) return closesHttp10(exchange, sent);
  // Bun closes the connection for `Connection: close` without telling.
  return isBun && asksForClose(exchange);
}

// In HTTP/1.0 a body without a length ends with the connection. A proxy may have framed a chunked request differently (RFC
// 9112 §6.1). Of `keep-alive, close` Node reads only the first.
function closesHttp10(exchange: NodeExchange, { body }: WireResponse): boolean {
  if (exchange.framing === "chunked" || (isStream(body) && body.length === undefined)) return true;
  return asksForClose(exchange);
}

function asksForClose(exchange: NodeExchange): boolean {
  return lists(exchange.lines("connection"), "close");
}

function sendLast(exchange: NodeExchange, body: IncomingBody, sent: WireResponse, server: ServerState): void {
  lingerAtEnd(exchange.request.socket, server.deadlines);
  // A stream may be quiet for hours: only a socket that is read shows that its client has gone.
  if (isStream(sent.body)) body.discard();
  send(exchange, sent, server, true);
}

/** @param whenEnded Called once a stream has ended, before the response does. */
function send(
  exchange: NodeExchange,
  sent: WireResponse,
  server: ServerState,
  closes: boolean,
  whenEnded?: () => void,
): void {
  const { request, response } = exchange;
  const { body } = sent;
  const phrase = phrases[sent.status] ?? "";
  const staysOpen = !closes && request.httpVersionMinor === 1;
  if (staysOpen && !server.isMounted && isWholeHead(sent) && !isStream(body)) setWholeHead(response, sent, phrase);
  else writeHead(exchange, sent, phrase, server, closes);
  if (isStream(body)) return stream(response, body, isEventStream(sent), server, whenEnded);
  if (body === undefined) response.end();
  else response.end(body);
  if (response.writableLength === 0) return;
  connectionOf(request.socket).writing.trackSent(response);
  sendWithin(response, server);
}

function writeHead(
  exchange: NodeExchange,
  sent: WireResponse,
  phrase: string,
  server: ServerState,
  closes: boolean,
): void {
  const { request, response } = exchange;
  response.sendDate = false;
  if (closes) connectionOf(request.socket).reading.closes();
  // An HTTP/1.1 connection stays open without a header; Node adds one for HTTP/1.0.
  else if (request.httpVersionMinor === 1) response.removeHeader("connection");
  const head = framed(exchange, sent, closes);
  if (server.isMounted) mergeHead(response, head);
  if (server.isMounted) response.writeHead(sent.status, phrase);
  else response.writeHead(sent.status, phrase, head);
}

// Merges with the headers that a hosting server's middleware has set: the app's replaces one of the same name.
function mergeHead(response: ServerResponse, head: readonly string[]): void {
  for (let i = 0; i < head.length; i += 2) if (!isAdded(head[i])) response.removeHeader(head[i] as string);
  for (let i = 0; i < head.length; i += 2) response.appendHeader(head[i] as string, head[i + 1] as string);
}

function isAdded(name: string | undefined): boolean {
  return name === "set-cookie" || name === "vary";
}

// The headers that only the connection knows: how a stream is framed, and whether the connection closes.
function framed({ request }: NodeExchange, { head, body }: WireResponse, closes: boolean): string[] {
  const chunked = isStream(body) && body.length === undefined && request.httpVersionMinor === 1;
  if (!chunked && !closes) return head as string[];
  return [...head, ...(chunked ? ["transfer-encoding", "chunked"] : []), ...(closes ? ["connection", "close"] : [])];
}

/** Calls `take` with the response when it is made, or with undefined after a failure. `take` must not throw. */
export function whenAnswered(
  answer: Promise<WireResponse> | Deferred<WireResponse>,
  socket: Duplex,
  take: (sent: WireResponse | undefined) => void,
): void {
  whenResolved(answer, take, (thrown) => {
    caught(thrown, socket);
    take(undefined);
  });
}
