import { isStream } from "../../src/answers/answer.ts";
import type { Exchange, OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import { abortingWith } from "../../src/app/request.ts";
import { announcesBody, lengthAt, ownLengthResponseOf, responseOf, tellsTypeAndId } from "../../src/app/web.ts";
import type { StreamEnd } from "../../src/events/stream.ts";
import { HostCheck, refusedConnect } from "../../src/server/bad-request.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";
import type { EventStreams } from "../../src/server/lifecycle.ts";
import { PulledStream, isEventStream } from "../../src/server/stream.ts";
import type { StreamEvents } from "../../src/server/stream.ts";
import { bodyOf } from "../../src/server/timed-body.ts";
import type { BodyReadingLimits, TimedBody } from "../../src/server/timed-body.ts";
import type { BunServer } from "./listen.ts";
import type { SocketData } from "./socket.ts";

const badHost: RefusedHead = { status: 400, why: "a Host that is none" };
const hosts: HostCheck = new HostCheck();
const scheme = "http://";
/** What came before the path last: that nearly every request has the same spares it the reading. */
let lastOrigin = "http:///";

/** The request target, cut from the URL that Bun makes of it and of `Host`, where it can make one. */
export function targetOf(request: Request): string | RefusedHead {
  const { method, url } = request;
  if (url.startsWith(lastOrigin) && method !== "CONNECT") return url.slice(lastOrigin.length - 1);
  if (method === "CONNECT" || !url.startsWith(scheme)) return withoutHost(request);
  const path = url.indexOf("/", scheme.length);
  if (!hosts.isHost(url.slice(scheme.length, path))) return badHost;
  lastOrigin = url.slice(0, path + 1);
  return url.slice(path);
}

// Where `Host` is none that a URL can have, and for HTTP/1.0 without one, Bun tells the path alone, and for `CONNECT`
// the authority alone.
function withoutHost({ method, url, headers }: Request): string | RefusedHead {
  if (method === "CONNECT") return refusedConnect(url) ?? url;
  return hosts.isHost(headers.get("host") ?? "") ? url : badHost;
}

/** What an exchange needs to know of its listener. */
interface BunListener extends BodyReadingLimits {
  /** The path of the Unix socket it listens on. */
  readonly socket: string | undefined;
}

/** An exchange over a request of `Bun.serve`, which shows a repeated header as one joined line. */
export class BunExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly request: Request;
  readonly server: BunServer;
  readonly listener = "Bun.serve";
  readonly #listening: BunListener;
  /** Null once it is known that there is none. */
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

  /** Of HTTP/1.0 too: Bun does not tell the version. */
  get canUpgrade(): boolean {
    return this.method === "GET" && !announcesBody(this.request);
  }

  get peer(): string {
    const { socket } = this.#listening;
    if (socket !== undefined) return `unix:${socket}`;
    const address = this.server.requestIP(this.request)?.address ?? "";
    // An IPv4 peer of a socket that takes both families.
    return address.startsWith("::ffff:") ? address.slice(7) : address;
  }

  /** Bun tells it of itself, but to `HEAD`. */
  get date(): string {
    return this.method === "HEAD" ? this.#listening.deadlines.date : "";
  }

  get body(): TimedBody | undefined {
    if (this.#body === undefined) this.#body = bodyOf(this.request, this.method, this.#listening) ?? null;
    return this.#body ?? undefined;
  }

  get gone(): AbortSignal {
    return (this.#controller ??= abortingWith(this.request.signal)).signal;
  }

  /** The connection has ended; of an end that this side made, Bun tells nothing. */
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

/** What the sending of an answer needs to know of its server. Seconds are whole, 255 at the most. */
interface BunServerState {
  readonly idleSeconds: number;
  readonly sendSeconds: number;
  /** No further request is taken: every answer says so. */
  readonly stopping: boolean;
  /** Connections are closed now whoever waits on them. */
  readonly cutting: boolean;
  /** The streams of events that are being sent, which end when the server stops. */
  readonly feeds: EventStreams;
  /** How many other streams are being sent. */
  streams: number;
}

/** Bytes of a body nobody reads that Bun may take off the wire: of itself, it would take any number. */
const discardLimit = 65_536;
/** How long a client may take to send them. */
const lingerMs = 1000;

/**
 * An answer as Bun takes it. In chunks, only the end of a body tells how much of it there is: what is left is dropped
 * first, so that the head can say whether the connection goes on.
 */
export function respond(
  exchange: BunExchange,
  sent: WireResponse,
  responding: BunServerState,
): Response | undefined | Promise<Response> {
  if (sent.socket !== undefined) return opened(exchange, sent, sent.socket);
  const { body } = exchange;
  if (body === undefined || body.length !== undefined) return responseTo(exchange, sent, responding);
  return body.drop(discardLimit, lingerMs).then(() => responseTo(exchange, sent, responding));
}

/** Has Bun answer the 101 itself. A client that has gone meanwhile is told nothing. */
function opened({ server, request }: BunExchange, { head }: WireResponse, socket: OpenedSocket): Response | undefined {
  // With none of ours it would answer with the first that the client offers.
  const headers: [string, string][] = [["sec-websocket-protocol", socket.subprotocol ?? ""]];
  for (let i = 0; i < head.length; i += 2) headers.push([head[i] as string, head[i + 1] as string]);
  const data: SocketData = { opened: socket, link: undefined };
  return server.upgrade(request, { headers, data }) ? undefined : new Response(null, { status: 400 });
}

function responseTo(exchange: BunExchange, sent: WireResponse, responding: BunServerState): Response {
  // Behind a CONNECT, Bun takes nothing for a request any more.
  const isLast = responding.stopping || exchange.method === "CONNECT" || leavesTooMuch(exchange);
  const answer = toSend(exchange, sent, sent.closes || isLast);
  exchange.body?.release();
  const { body } = answer;
  if (!isStream(body)) return wholeResponse(answer, body);
  const watch = new Watch(exchange, responding);
  if (!isEventStream(answer)) {
    responding.streams++;
    return responseOf(answer, new PulledStream(body, watch).readable);
  }
  const feed = new PulledStream(body, watch, emptyComment);
  watch.feed = feed;
  responding.feeds.add(feed);
  return responseOf(answer, feed.readable);
}

/** Of an object of its headers Bun makes a Response 0.2 µs sooner than it adds them to one. */
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
    // What comes twice has to be added; and to a text without a type Bun would give one.
    if (headers[name] !== undefined || (i === 0 && name !== "content-type")) return ownLengthResponseOf(sent);
    headers[name] = head[i + 1] as string;
  }
  if (closes) headers["connection"] = "close";
  return new Response(bytes, { status, headers });
}

/** What an answer is made with that tells its type and its request's id alone, by its type. A Response copies it. */
const kept = new Map<string, { status: number; readonly headers: Headers }>();
/** More types than routes have: an application may take them from its clients. */
const mostKept = 64;

/** Of headers that are there already Bun makes a Response another 0.2 µs sooner. */
function keptFor(type: string): { status: number; readonly headers: Headers } | undefined {
  const there = kept.get(type);
  if (there !== undefined || kept.size === mostKept) return there;
  const made = { status: 200, headers: new Headers({ "content-type": type }) };
  kept.set(type, made);
  return made;
}

function toSend({ method }: BunExchange, sent: WireResponse, closes: boolean): WireResponse {
  const { status, head } = sent;
  // To HEAD, Bun tells a length of 0 for an answer without a body, where GET has one of no length.
  if (method === "HEAD" && status !== 204 && status !== 304 && head.at(-2) !== "content-length") {
    return { ...sent, closes, head: [...head, "transfer-encoding", "chunked"] };
  }
  return closes === sent.closes ? sent : { ...sent, closes };
}

/** What is left of a body is not waited for: it stopped coming, or nobody would want as much. */
function leavesTooMuch({ body }: BunExchange): boolean {
  return body !== undefined && (body.isLost || body.left > discardLimit);
}

// Bun keeps the end of a head until there is a part. Whoever subscribes waits for it, and may see no event for long.
const emptyComment: Uint8Array = new TextEncoder().encode(":\n\n");

/**
 * Has Bun's own time-out mind the client alone. It is set for the connection, and would otherwise end one whose stream
 * is quiet, or whose handler is slow.
 */
class Watch implements StreamEvents {
  readonly stopsAtLength = false;
  readonly #exchange: BunExchange;
  readonly #responding: BunServerState;
  /** What it watches, where that is a stream of events. */
  feed: PulledStream | undefined = undefined;
  /** Since when the client is waited for. */
  #since = Number.POSITIVE_INFINITY;

  constructor(exchange: BunExchange, responding: BunServerState) {
    this.#exchange = exchange;
    this.#responding = responding;
  }

  making(): void {
    // It was asked for while the server ran, and is answered when it does not any more.
    if (this.#responding.feeds.hasEnded) this.feed?.end("connection closed");
    this.#since = Number.POSITIVE_INFINITY;
    this.#timeout(0);
  }

  made(): void {
    this.#since = performance.now();
    this.#timeout(this.#responding.sendSeconds);
  }

  cancelled(): StreamEnd {
    const { cutting, sendSeconds } = this.#responding;
    if (cutting) return "connection closed";
    return performance.now() - this.#since < sendSeconds * 1000 ? "client gone" : "client stopped reading";
  }

  ended(how: StreamEnd): void {
    if (how !== "finished") this.#exchange.left();
    if (this.feed === undefined) this.#responding.streams--;
    else this.#responding.feeds.remove(this.feed);
    this.#timeout(this.#responding.idleSeconds);
  }

  #timeout(seconds: number): void {
    this.#exchange.server.timeout(this.#exchange.request, seconds);
  }
}
