import { peerAddress, withOneCookie } from "../../src/doors/http.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Server, Socket } from "node:net";
import { isStream } from "../../src/doors/answers.ts";
import { needsApp } from "../../src/arguments.ts";
import type { App } from "../../src/doors/apps.ts";
import type { Exchange, WireResponse } from "../../src/app/exchange.ts";
import { FetchExchange, refusedRequest, responseOf, responseTo, unmade } from "../../src/doors/apps.ts";
import { inTime, unrefTimers, isPending } from "../../src/doors/base.ts";
import { internalRefusal } from "../../src/refusals.ts";
import type { MaybePromise } from "../../src/doors/base.ts";
import type { OpenStream } from "../../src/doors/events.ts";
import { gather, isFailure } from "../../src/doors/inputs.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/doors/inputs.ts";
import { guarded } from "../../src/doors/logging.ts";
import { HostCheck, badHost, refuse, EventStreams, discardLimit, lingerMs, lingerOn } from "../../src/doors/server.ts";
import type { RefusedHead } from "../../src/doors/server.ts";
import { isEventStream } from "../../src/app/exchange.ts";
import { PulledStream } from "../../src/doors/events.ts";

/** The adapter's context of a request: Node's objects, or those of a server that wraps them. */
export interface WhatwgContext {
  /** Node's request. */
  readonly req?: unknown;
  /** Node's response. */
  readonly res?: unknown;
  /** Fastify's reply. */
  readonly reply?: unknown;
  /** Keeps the platform running until the promise is settled. */
  readonly waitUntil?: (work: Promise<void>) => void;
}

/** Node's objects of a request, and the adapter's `waitUntil`. */
interface Node {
  /** `originalUrl` is Express's target before it removed the mount path. */
  readonly req: IncomingMessage & { readonly originalUrl?: string };
  readonly res: ServerResponse & { readonly stream?: ServerHttp2Stream };
  readonly waitUntil: ((work: Promise<void>) => void) | undefined;
}

/** Finds Node's objects, also where a server has wrapped them; undefined on another runtime. */
function nodeOf({ req, res, reply, waitUntil }: WhatwgContext): Node | undefined {
  const [incoming, response] = [rawOf(req), rawOf(res ?? reply)];
  if (!has(incoming, "rawHeaders") || !has(response, "flushHeaders")) return undefined;
  return { req: incoming as Node["req"], res: response as Node["res"], waitUntil };
}

function rawOf(given: unknown): unknown {
  return has(given, "raw") ? (given as { readonly raw: unknown }).raw : given;
}

function has(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && name in value;
}

const severalHosts: RefusedHead = { status: 400, why: "more than one Host" };
const hosts: HostCheck = new HostCheck();

/**
 * Refuses an invalid host, which a `node:http` server accepts (RFC 9112 §3.2). HTTP/2 has `:authority`, and may omit `Host`.
 */
function refusedHost({ req }: Node): RefusedHead | undefined {
  const { rawHeaders } = req;
  let host: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name !== ":authority" && (name.length !== 4 || name.toLowerCase() !== "host")) continue;
    const value = rawHeaders[i + 1] as string;
    if (host !== undefined && (req.httpVersionMajor === 1 || value !== host)) return severalHosts;
    host = value;
  }
  return hosts.isHost(host ?? "") ? undefined : badHost;
}

/** A body that counts the bytes read. */
class CountedBody implements BodySource {
  received = 0;
  readonly #body: BodySource;

  constructor(body: BodySource) {
    this.#body = body;
  }

  get length(): number | undefined {
    return this.#body.length;
  }

  async read(): Promise<Uint8Array | BodyFailure | undefined> {
    const read = await this.#body.read();
    if (read !== undefined && !isFailure(read)) this.received += read.byteLength;
    return read;
  }

  whole(limit: number, receiver: BodyReceiver): void {
    gather(this, limit, receiver);
  }
}

/**
 * Whether a response must close its connection, because too much of its request's body is unread. The length of a chunked
 * body is known only at its end: the rest is dropped before the head is written.
 */
function endsUnread({ counted: body, node: { req } }: WhatwgExchange): boolean | Promise<boolean> {
  if (body === undefined || req.complete || req.httpVersionMajor !== 1) return false;
  const { length } = body;
  if (length !== undefined) return length - body.received - req.readableLength > discardLimit;
  return dropped(body).then((isWhole) => !isWhole);
}

/** Whether the body ends within the limits of bytes and time. */
async function dropped(body: CountedBody): Promise<boolean> {
  const limit = body.received + discardLimit;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, lingerMs, "late" as const)));
  let part = await Promise.race([body.read(), late]);
  while (part instanceof Uint8Array && body.received <= limit) part = await Promise.race([body.read(), late]);
  clearTimeout(timer);
  return part === undefined;
}

/** Makes a connection linger after its last response, where Node would close it at once. */
function lingerAtEnd(socket: Socket): void {
  const destroySoon = guarded(socket, () => {
    lingerOn(socket, (expire) => {
      const timer = setTimeout(expire, lingerMs).unref();
      return () => clearTimeout(timer);
    });
  });
  socket.destroySoon = destroySoon;
}

/**
 * Drops what is left of a request's body, once its response is written. A stream of HTTP/2 stays open until its body is read to its end,
 * and Node's request stops at a part that is not taken.
 */
function dropRest(stream: ServerHttp2Stream): void {
  const drop = guarded(stream, () => {
    stream.removeAllListeners("data").resume();
  });
  stream.once("finish", drop);
}

/** Whether a response has closed. That of HTTP/2 does not say so, and its stream does. */
function isClosed(response: Node["res"]): boolean {
  return response.closed || response.stream?.destroyed === true;
}

/** The request of each connection that arrived last. */
const latest = new WeakMap<Socket, IncomingMessage>();

const nothing = (): void => {};

/**
 * A streamed body that watches its connection. The adapter reports neither a client that goes while it reads nothing, nor
 * one that goes after it has sent a body.
 */
function watched(
  body: OpenStream,
  response: Node["res"],
  eventStreams: EventStreams | undefined,
): ReadableStream<Uint8Array> {
  const streaming = new PulledStream(body, {
    stopsAtLength: false,
    making() {
      // The adapter has written the head by now, and Node holds it back until there is a part.
      if (response.headersSent) response.flushHeaders();
      // It was requested before the app stopped, and is answered after it.
      if (eventStreams?.isStopping === true) eventStreams.stopOne(streaming);
    },
    made: nothing,
    cancelled: () => "client gone",
    ended: () => eventStreams?.remove(streaming),
  });
  eventStreams?.add(streaming);
  const { readable } = streaming;
  const leave = guarded(response, () => streaming.end("client gone"));
  // The client may have gone before there was an answer.
  if (isClosed(response)) leave();
  else response.once("close", leave);
  return readable;
}

/** The address of a client, or the path of the Unix socket that it connected to. */
function peerOf({ remoteAddress, server }: Socket & { readonly server?: Server | null }): string {
  const path = remoteAddress === undefined ? server?.address() : undefined;
  if (typeof path === "string") return `unix:${path}`;
  return peerAddress(remoteAddress ?? "");
}

/**
 * An exchange over the adapter's request, of which only the body is exact. Its URL is `Host` and target joined, Node drops
 * some repeated headers, and its signal never aborts once `AbortSignal.any` has used it. The rest is read from Node's
 * objects.
 */
class WhatwgExchange extends FetchExchange implements Exchange {
  override readonly target: string;
  readonly listener = "@whatwg-node/server";
  readonly node: Node;
  readonly counted: CountedBody | undefined;
  /** Middleware ahead has read the body, or of it, and left neither a text nor bytes, which the adapter would take. */
  readonly #isTaken: boolean;
  #controller: AbortController | undefined = undefined;

  constructor(request: Request, node: Node) {
    const { socket, originalUrl, url = "/" } = node.req;
    super(request, peerOf(socket));
    this.target = originalUrl ?? url;
    this.counted = this.given && new CountedBody(this.given);
    this.#isTaken = node.req.readableDidRead && (this.given === undefined || !node.req.readableEnded);
    this.node = node;
  }

  override get body(): BodySource | undefined {
    if (this.#isTaken)
      throw internalRefusal("its body was read by what is mounted ahead of the app, which left no bytes of it");
    return super.body && this.counted;
  }

  override get gone(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    const { res } = this.node;
    const whenClosed = (): void => {
      // A stream of HTTP/2 is finished by its reset, too.
      if (!res.writableEnded || !res.writableFinished) controller.abort();
    };
    if (isClosed(res)) whenClosed();
    else res.once("close", guarded(res, whenClosed));
    return controller.signal;
  }

  override lines(name: string): readonly string[] {
    const lines: string[] = [];
    for (const [given, value] of this.headers()) if (given === name) lines.push(value);
    return lines;
  }

  override headers(): Iterable<readonly [name: string, value: string]> {
    const fields = this.#fields();
    return this.node.req.httpVersionMajor === 2 ? withOneCookie(fields) : fields;
  }

  *#fields(): Iterable<readonly [name: string, value: string]> {
    const { rawHeaders } = this.node.req;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = (rawHeaders[i] as string).toLowerCase();
      // HTTP/2 has `:authority` for the host, and other pseudo-headers, which are not headers.
      if (name === ":authority") yield ["host", rawHeaders[i + 1] as string];
      else if (!name.startsWith(":")) yield [name, rawHeaders[i + 1] as string];
    }
  }

  override keepAlive(work: Promise<unknown>, ms?: number): void {
    if (this.node.waitUntil === undefined) return;
    const nothing = (): void => {};
    const kept = ms === undefined ? work : inTime(work, ms, unrefTimers);
    this.node.waitUntil(kept.then(nothing, nothing));
  }
}

/** `usher-http/whatwg`: an app behind `@whatwg-node/server`, for servers that exist already. */

/** The handler for `createServerAdapter` of `@whatwg-node/server`. It neither throws nor rejects. */
export type WhatwgHandler = (request: Request, context: WhatwgContext) => Response | Promise<Response>;

/**
 * Answers with an app behind `@whatwg-node/server`, which mounts in a Node server, in Express, Koa, Fastify and others. In
 * Node the listener of `usher-http/node` is faster, and also has the limits and the stopping that here belong to the server.
 *
 * A server that passes its own objects to the adapter, as Fastify does, passes them as `{ req, reply }` too. `peer`, the
 * target, the raw header lines and the client's disconnect are read from them.
 *
 * Mount it before what parses bodies. Where that left no bytes, as Express's `json` does, a route that reads a body answers 500.
 *
 * @example
 * ```ts
 * createServer(createServerAdapter(whatwg(App.make(routes)))).listen(8080);
 * ```
 */
export function whatwg(app: App): WhatwgHandler {
  needsApp("whatwg: its app", app);
  const eventStreams = new EventStreams();
  app.onDrain(() => eventStreams.stop());
  return (request, context) => {
    const node = nodeOf(context);
    if (node === undefined) {
      const exchange = new FetchExchange(request, "");
      const refused = refusedRequest(exchange);
      if (refused !== undefined) return refused;
      return whenSent(app.answer(exchange), (sent) => responseTo(exchange, sent));
    }
    const refused = refusedHost(node);
    if (refused !== undefined) return refuse(refused);
    const exchange = new WhatwgExchange(request, node);
    latest.set(node.req.socket, node.req);
    return whenSent(app.answer(exchange), (sent) => respond(exchange, sent, eventStreams));
  };
}

function whenSent(
  sent: MaybePromise<WireResponse>,
  respond: (sent: WireResponse) => Response | Promise<Response>,
): Response | Promise<Response> {
  return isPending(sent) ? sent.then(respond).catch(unmade) : respondSafely(sent, respond);
}

function respondSafely(
  sent: WireResponse,
  respond: (sent: WireResponse) => Response | Promise<Response>,
): Response | Promise<Response> {
  try {
    const response = respond(sent);
    return response instanceof Promise ? response.catch(unmade) : response;
  } catch (thrown) {
    return unmade(thrown);
  }
}

function respond(
  exchange: WhatwgExchange,
  sent: WireResponse,
  eventStreams: EventStreams,
): Response | Promise<Response> {
  const ends = endsUnread(exchange);
  return ends instanceof Promise
    ? ends.then((ends) => nodeResponseTo(exchange, sent, ends, eventStreams))
    : nodeResponseTo(exchange, sent, ends, eventStreams);
}

function nodeResponseTo(
  { counted, node: { req, res } }: WhatwgExchange,
  sent: WireResponse,
  ends: boolean,
  eventStreams: EventStreams,
): Response {
  if (ends) lingerAtEnd(req.socket);
  if (counted !== undefined && res.stream !== undefined) dropRest(res.stream);
  const { body } = sent;
  const stream = isStream(body) ? watched(body, res, isEventStream(sent) ? eventStreams : undefined) : undefined;
  // A server that stops waits for its connections. Others that were pipelined are answered, too.
  const isLast = eventStreams.isStopping && latest.get(req.socket) === req;
  return responseOf(toSend(req, sent, ends || isLast), stream);
}

function toSend({ httpVersionMajor }: IncomingMessage, sent: WireResponse, closes: boolean): WireResponse {
  if (httpVersionMajor !== 2) return closes ? { ...sent, closes } : sent;
  // HTTP/2 has neither field (RFC 9113 §8.2.2). Node throws for `upgrade`, which a route of WebSockets names in its refusal.
  const head = sent.head.filter((_, i) => sent.head[i - (i % 2)] !== "upgrade");
  return { ...sent, head, closes: false };
}
