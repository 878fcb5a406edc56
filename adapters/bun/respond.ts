import { peerAddress } from "../../src/doors/http.ts";
import type { App } from "../../src/doors/apps.ts";
import { isStream } from "../../src/doors/answers.ts";
import type { Exchange, OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import {
  announcesBody,
  lengthAt,
  ownLengthResponseOf,
  responseOf,
  tellsTypeAndId,
  unmade,
} from "../../src/doors/apps.ts";
import type { ValueReceiver } from "../../src/doors/base.ts";
import type { OpenStream, StreamEnd, StreamEvents } from "../../src/doors/events.ts";
import {
  HostCheck,
  badHost,
  refusedConnect,
  discardLimit,
  lingerBytes,
  lingerMs,
  PulledUnsent,
  timedBodyOf,
} from "../../src/doors/server.ts";
import type { RefusedHead, EventStreams, SendingState, BodyReadingLimits, TimedBody } from "../../src/doors/server.ts";
import { abortingWith, isEventStream } from "../../src/app/exchange.ts";
import { PulledStream } from "../../src/doors/events.ts";
import type { BunServer } from "./listen.ts";
import type { SocketData } from "./socket.ts";
import { asStream, roomBytes } from "./held.ts";
import type { HeldResponses } from "./held.ts";

const hosts: HostCheck = new HostCheck();
/** The last valid origin: nearly every request has the same one, which is then not parsed. */
let lastOrigin = "http:///";

/** The request target, cut from the URL that Bun builds from it and `Host`, if it can build one. */
export function targetOf(request: Request): string | RefusedHead {
  const { method, url } = request;
  if (url.startsWith(lastOrigin) && method !== "CONNECT") return url.slice(lastOrigin.length - 1);
  const authority = url.indexOf("://") + 3;
  if (method === "CONNECT" || !/^https?:\/\//.test(url)) return withoutHost(request);
  const path = url.indexOf("/", authority);
  if (!hosts.isHost(url.slice(authority, path))) return badHost;
  lastOrigin = url.slice(0, path + 1);
  return url.slice(path);
}

// For a `Host` that no URL can have, and for HTTP/1.0 without one, Bun gives only the path, and for `CONNECT` only the
// authority.
function withoutHost({ method, url, headers }: Request): string | RefusedHead {
  if (method === "CONNECT") return refusedConnect(url) ?? url;
  return hosts.isHost(headers.get("host") ?? "") ? url : badHost;
}

/** The listener's state that an exchange needs. */
interface BunListener extends BodyReadingLimits {
  /** The path of the listener's Unix socket. */
  readonly socket: string | undefined;
  readonly scheme: "https" | undefined;
}

/** An exchange over a request of `Bun.serve`, which shows a repeated header as one joined line. */
export class BunExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly request: Request;
  readonly server: BunServer;
  readonly listener = "Bun.serve";
  readonly #listening: BunListener;
  /** Null once it is known to be absent. */
  #body: TimedBody | undefined | null = undefined;
  #controller: AbortController | undefined = undefined;

  constructor(request: Request, target: string, server: BunServer, listening: BunListener) {
    const { method } = request;
    this.method = method;
    this.target = target;
    this.request = request;
    this.server = server;
    this.#listening = listening;
  }

  /** Also for HTTP/1.0, because Bun does not give the version. */
  get canUpgrade(): boolean {
    return this.method === "GET" && !announcesBody(this.request);
  }

  get scheme(): "https" | undefined {
    return this.#listening.scheme;
  }

  get peer(): string {
    const { socket } = this.#listening;
    if (socket !== undefined) return `unix:${socket}`;
    return peerAddress(this.server.requestIP(this.request)?.address ?? "");
  }

  /** Bun sends `Date` itself, except for `HEAD`. */
  get date(): string {
    return this.method === "HEAD" ? this.#listening.deadlines.date : "";
  }

  get body(): TimedBody | undefined {
    if (this.#body === undefined) this.#body = timedBodyOf(this.request, this.method, this.#listening) ?? null;
    return this.#body ?? undefined;
  }

  get gone(): AbortSignal {
    return (this.#controller ??= abortingWith(this.request.signal)).signal;
  }

  get isCut(): boolean {
    return this.#listening.deadlines.isCut;
  }

  /** The connection has ended: Bun does not report an end that this side caused. */
  left(): void {
    this.#controller?.abort();
  }

  lines(name: string): readonly string[] {
    const value = this.request.headers.get(name);
    return value === null ? nothing : [value];
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.request.headers;
  }

  byteLength(text: string): number {
    return Buffer.byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }
}

const nothing: readonly string[] = [];
const decoder: TextDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The server's state that responses need. Seconds are whole, at most 255. */
interface BunServerState extends SendingState {
  readonly app: App;
  readonly idleSeconds: number;
  readonly sendSeconds: number;
  /** No further request is accepted: every response closes its connection. */
  readonly stopping: boolean;
  /** The open event streams, which end when the server stops. */
  readonly eventStreams: EventStreams;
  /** The number of other open streams. */
  streams: number;
  /** What Bun holds until its client takes it. */
  readonly held: HeldResponses;
}

/** The same, for what is answered later. */
interface LateState extends BunServerState {
  /** The number of requests without a response. */
  inFlightNow: number;
}

/**
 * The `Response` for Bun. The length of a chunked body is known only at its end. The rest is dropped before the head is
 * sent, which says whether the connection stays open. So is that of a long body.
 */
export function bunResponse(
  exchange: BunExchange,
  sent: WireResponse,
  state: BunServerState,
): Response | undefined | Promise<Response> {
  if (sent.socket !== undefined) return opened(exchange, sent, sent.socket, state);
  const { body } = exchange;
  if (body === undefined || sent.readsBody === true || !isDropped(exchange, body))
    return responseTo(exchange, sent, state);
  return body.drop(lingerBytes, lingerMs).then(() => responseTo(exchange, sent, state));
}

/**
 * A response that is not made yet. It is one promise: `then` of the answer would make two more, and as many turns of the
 * microtask queue.
 */
export class LateAnswer implements ValueReceiver<WireResponse> {
  readonly response: Promise<Response | undefined>;
  readonly #exchange: BunExchange;
  readonly #state: LateState;
  #resolve: (response: Response | undefined | Promise<Response>) => void = ignore;

  constructor(exchange: BunExchange, state: LateState) {
    this.#exchange = exchange;
    this.#state = state;
    this.response = new Promise((resolve) => (this.#resolve = resolve));
  }

  pass(sent: WireResponse): void {
    const { server, request } = this.#exchange;
    this.#state.inFlightNow--;
    try {
      server.timeout(request, this.#state.idleSeconds);
      this.#resolve(bunResponse(this.#exchange, sent, this.#state));
    } catch (thrown) {
      this.#resolve(unmade(thrown));
    }
  }

  fail(thrown: unknown): void {
    this.#state.inFlightNow--;
    this.#resolve(unmade(thrown));
  }
}

function ignore(): void {}

/** Makes Bun answer the 101. A client that has gone meanwhile gets nothing. */
function opened(
  exchange: BunExchange,
  { head, unsent }: WireResponse,
  socket: OpenedSocket,
  state: BunServerState,
): Response | undefined {
  const { server, request } = exchange;
  // Without the header Bun would answer with the client's first protocol.
  const headers: [string, string][] = [["sec-websocket-protocol", socket.subprotocol ?? ""]];
  for (let i = 0; i < head.length; i += 2) headers.push([head[i] as string, head[i + 1] as string]);
  // Bun does not tell the address of a WebSocket's request.
  const network = networkOf(exchange, state);
  const data: SocketData = { opened: socket, network, transport: undefined };
  if (server.upgrade(request, { headers, data })) return undefined;
  unsent?.();
  return new Response(null, { status: 400 });
}

function responseTo(exchange: BunExchange, sent: WireResponse, state: BunServerState): Response {
  // After a CONNECT, Bun reads no further requests.
  const readsBody = sent.readsBody === true;
  const isLast = state.stopping || exchange.method === "CONNECT" || (!readsBody && leavesTooMuch(exchange));
  const answer = toSend(exchange, sent, sent.closes || isLast);
  if (!readsBody) exchange.body?.release();
  const { body } = answer;
  if (!isStream(body)) {
    if (body === undefined || body.length <= roomBytes) return wholeResponse(answer, body);
    if (state.held.takes(exchange, body, networkOf(exchange, state))) return wholeResponse(answer, body);
    state.streams++;
    return responseOf(answer, new ClientWatch(exchange, state).pulled(asStream(body)).readable);
  }
  const watch = new ClientWatch(exchange, state);
  if (!isEventStream(answer)) {
    state.streams++;
    return responseOf(answer, watch.pulled(body).readable);
  }
  const isEncoded = answer.head.some((name, i) => i % 2 === 0 && name === "content-encoding");
  const eventStream = watch.pulled(body, isEncoded ? undefined : emptyComment);
  watch.eventStream = eventStream;
  state.eventStreams.add(eventStream);
  return responseOf(answer, eventStream.readable);
}

/** Bun makes a `Response` from an object of headers 0.2 µs faster than by adding them. */
function wholeResponse(sent: WireResponse, body: string | Uint8Array | undefined): Response {
  const { status, head, closes } = sent;
  const end = lengthAt(sent);
  const bytes = (body as string | Uint8Array<ArrayBuffer> | undefined) ?? null;
  const init = tellsTypeAndId(sent, end) ? keptFor(head[1] as string) : undefined;
  if (init !== undefined) {
    init.status = status;
    init.headers.set("x-request-id", head[3] as string);
    return new Response(bytes, init);
  }
  const headers: { [name: string]: string } = {};
  for (let i = 0; i < end; i += 2) {
    const name = head[i] as string;
    // A repeated header must be added, and Bun would add a type to a text without one.
    if (headers[name] !== undefined || (i === 0 && name !== "content-type")) return ownLengthResponseOf(sent);
    headers[name] = head[i + 1] as string;
  }
  if (closes) headers["connection"] = "close";
  return new Response(bytes, { status, headers });
}

/** The `ResponseInit` of responses with only a type and a request's id, by type. A `Response` copies it. */
const kept = new Map<string, { status: number; readonly headers: Headers }>();
/** More than the types of routes; an application may take types from its clients. */
const maxKept = 64;

/** Existing `Headers` save another 0.2 µs. */
function keptFor(type: string): { status: number; readonly headers: Headers } | undefined {
  const known = kept.get(type);
  if (known !== undefined || kept.size === maxKept) return known;
  const made = { status: 200, headers: new Headers({ "content-type": type }) };
  kept.set(type, made);
  return made;
}

/** The client network that a response counts in. */
function networkOf(exchange: BunExchange, { app }: BunServerState): string | undefined {
  return app.networkOf(exchange.peer, (name) => exchange.lines(name));
}

function toSend({ method }: BunExchange, sent: WireResponse, closes: boolean): WireResponse {
  const { status, head } = sent;
  // For HEAD, Bun sends `Content-Length: 0` for a response without a body, where GET has no length.
  if (method === "HEAD" && status !== 204 && status !== 304 && head.at(-2) !== "content-length") {
    return { ...sent, closes, head: [...head, "transfer-encoding", "chunked"] };
  }
  return closes === sent.closes ? sent : { ...sent, closes };
}

/**
 * Whether what is unread of a body is dropped before its response. Bun resets a connection that it closes, and a client that writes its
 * whole body before it reads would lose the response.
 */
function isDropped(exchange: BunExchange, { length, left }: TimedBody): boolean {
  if (length === undefined) return true;
  return left > discardLimit && left <= lingerBytes && exchange.lines("expect").length === 0;
}

/** The rest of a body is not awaited: it has stalled, or it is too long. */
function leavesTooMuch({ body }: BunExchange): boolean {
  return body !== undefined && (body.isLost || body.left > discardLimit);
}

// Bun holds the end of a head back until there is a part. A subscriber waits for it, and may get no event for long.
const emptyComment: Uint8Array = new TextEncoder().encode(":\n\n");

/** The ends of streams whose client may read nothing: Bun closes no connection while it holds bytes for it. */
const mayBeUnread: ReadonlySet<StreamEnd> = new Set<StreamEnd>(["client stopped reading", "server stopped", "stopped"]);

/**
 * Applies Bun's connection timeout only while the client is awaited. Otherwise it would end a quiet stream, or a request
 * with a slow handler.
 */
class ClientWatch implements StreamEvents {
  readonly stopsAtLength = false;
  readonly printsErrors = true;
  readonly #exchange: BunExchange;
  readonly #state: BunServerState;
  readonly #unsent: PulledUnsent;
  #stream: PulledStream | undefined = undefined;
  /** The watched stream, if it is an event stream. */
  eventStream: PulledStream | undefined = undefined;
  /** When the wait for the client began. */
  #since = Number.POSITIVE_INFINITY;
  /** The length of the part that Bun got last. */
  #lastBytes = 0;

  constructor(exchange: BunExchange, state: BunServerState) {
    this.#exchange = exchange;
    this.#state = state;
    this.#unsent = new PulledUnsent(state, this);
  }

  /** The stream that it watches. */
  pulled(body: OpenStream, opening?: Uint8Array): PulledStream {
    return (this.#stream = new PulledStream(body, this, opening));
  }

  get network(): string | undefined {
    return networkOf(this.#exchange, this.#state);
  }

  get longestPart(): number {
    return this.#state.held.longestPart;
  }

  stoppedReading(): void {
    this.#stream?.end("client stopped reading");
  }

  making(): void {
    // It was requested while the server ran, and is answered after it stopped.
    const { eventStreams } = this.#state;
    if (eventStreams.isStopping && this.eventStream !== undefined) eventStreams.stopOne(this.eventStream);
    this.#since = Number.POSITIVE_INFINITY;
    this.#unsent.making();
    this.#timeout(0);
  }

  made(bytes: number, waiting: number): void {
    this.#since = performance.now();
    this.#lastBytes = bytes;
    this.#unsent.made(bytes, waiting);
    this.#timeout(this.#state.sendSeconds);
  }

  cancelled(): StreamEnd {
    const { deadlines, sendSeconds } = this.#state;
    if (deadlines.isCut) return "server stopped";
    return performance.now() - this.#since < sendSeconds * 1000 ? "client gone" : "client stopped reading";
  }

  ended(how: StreamEnd): void {
    this.#unsent.ended();
    // Its stream may have been made of it.
    this.#exchange.body?.release();
    if (how !== "finished") this.#exchange.left();
    if (this.eventStream === undefined) this.#state.streams--;
    else this.#state.eventStreams.remove(this.eventStream);
    if (mayBeUnread.has(how)) this.#state.held.cut(this.#exchange, this.#lastBytes, this.network);
    else this.#timeout(this.#state.idleSeconds);
  }

  #timeout(seconds: number): void {
    this.#exchange.server.timeout(this.#exchange.request, seconds);
  }
}
