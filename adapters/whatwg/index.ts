import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isStream } from "../../src/answers/answer.ts";
import type { App } from "../../src/app/app.ts";
import type { Exchange, WireResponse } from "../../src/app/exchange.ts";
import { FetchExchange, responseOf, responseTo, unmade } from "../../src/app/web.ts";
import { isPending } from "../../src/deferred.ts";
import type { MaybePromise } from "../../src/deferred.ts";
import type { StreamBody } from "../../src/events/stream.ts";
import { gather, isFailure } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { guarded } from "../../src/logging/raised.ts";
import { HostCheck, refuse } from "../../src/server/bad-request.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";
import { EventStreams } from "../../src/server/lifecycle.ts";
import { PulledStream, isEventStream } from "../../src/server/stream.ts";

/** What the adapter hands over beside a request: Node's own objects, or those of a server around them. */
export interface WhatwgContext {
  readonly req?: unknown;
  readonly res?: unknown;
  readonly reply?: unknown;
  readonly waitUntil?: (work: Promise<void>) => void;
}

/** Node's own objects of a request, and what the adapter lets go on after it. */
interface Node {
  /** `originalUrl` is what Express had before it took off where the app is mounted. */
  readonly req: IncomingMessage & { readonly originalUrl?: string };
  readonly res: ServerResponse;
  readonly waitUntil: ((work: Promise<void>) => void) | undefined;
}

/** Node's objects among those given, also where a server has wrapped them; undefined on another runtime. */
function nodeOf({ req, res, reply, waitUntil }: WhatwgContext): Node | undefined {
  const [incoming, response] = [rawOf(req), rawOf(res ?? reply)];
  if (!has(incoming, "rawHeaders") || !has(response, "flushHeaders")) return undefined;
  return { req: incoming as Node["req"], res: response as ServerResponse, waitUntil };
}

function rawOf(given: unknown): unknown {
  return has(given, "raw") ? (given as { readonly raw: unknown }).raw : given;
}

function has(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && name in value;
}

const severalHosts: RefusedHead = { status: 400, why: "more than one Host" };
const badHost: RefusedHead = { status: 400, why: "a Host that is none" };
const hosts: HostCheck = new HostCheck();

/**
 * What is wrong with the host of a head, which a server of `node:http` lets pass (RFC 9112 §3.2). HTTP/2 has a name of
 * its own for it, and need not send the other.
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

/** A body, and how much of it was read. */
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
    gather(() => this.read(), limit, receiver);
  }
}

/** Bytes of what nobody reads that are taken off the wire: of itself, `node:http` takes any number. */
const discardLimit = 65_536;
/** How long a client may take to send them. */
const lingerMs = 1000;

/**
 * Whether an answer is to end its connection, for more of its request's body is left than is waited for. In chunks, only
 * their end tells how much there is: what is left is dropped first, so that the head can say what is true.
 */
function endsUnread({ body, node: { req } }: WhatwgExchange): boolean | Promise<boolean> {
  if (body === undefined || req.complete || req.httpVersionMajor !== 1) return false;
  const { length } = body;
  if (length !== undefined) return length - body.received - req.readableLength > discardLimit;
  return dropped(body).then((isWhole) => !isWhole);
}

/** Whether the end of a body came, within the bytes and the time there are for it. */
async function dropped(body: NonNullable<WhatwgExchange["body"]>): Promise<boolean> {
  const most = body.received + discardLimit;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, lingerMs, "late" as const)));
  let part = await Promise.race([body.read(), late]);
  while (part instanceof Uint8Array && body.received <= most) part = await Promise.race([body.read(), late]);
  clearTimeout(timer);
  return part === undefined;
}

/**
 * Has a connection end in two steps behind its last answer (RFC 9112 §9.6): a close with bytes unread would reset it, and
 * the client could lose the answer.
 */
function lingerAtEnd(socket: Socket): void {
  const destroySoon = guarded(socket, () => {
    let left = discardLimit;
    const close = guarded(socket, () => {
      clearTimeout(timer);
      socket.destroy();
    });
    const timer = setTimeout(close, lingerMs).unref();
    socket.end();
    // Node's parser is to see none of it: it would find requests there.
    const drop = guarded(socket, (part: Buffer) => {
      left -= part.byteLength;
      if (left < 0) close();
    });
    socket.removeAllListeners("data").on("data", drop);
    socket.once("end", close).once("close", close).resume();
  });
  socket.destroySoon = destroySoon;
}

const nothing = (): void => {};

/**
 * A streamed body that knows its connection. The adapter tells it neither of a client that goes while it takes nothing,
 * nor of one that goes after it has sent a body of its own.
 */
function watched(
  body: StreamBody,
  response: ServerResponse,
  feeds: EventStreams | undefined,
): ReadableStream<Uint8Array> {
  const streaming = new PulledStream(body, {
    stopsAtLength: false,
    making() {
      // The adapter has written the head by now, and Node keeps it back until there is a part.
      if (response.headersSent) response.flushHeaders();
      // It was asked for before the app stopped, and is answered behind that.
      if (feeds?.hasEnded === true) streaming.end("connection closed");
    },
    made: nothing,
    cancelled: () => "client gone",
    ended: () => feeds?.remove(streaming),
  });
  feeds?.add(streaming);
  response.once(
    "close",
    guarded(response, () => streaming.end("client gone")),
  );
  return streaming.readable;
}

/**
 * An exchange over the adapter's request, which is right about the body alone: its URL is `Host` and target written one
 * behind the other, of repeated headers Node has dropped some before, and its signal is deaf once `AbortSignal.any` has
 * seen it. The rest comes from Node.
 */
class WhatwgExchange extends FetchExchange implements Exchange {
  override readonly target: string;
  readonly listener = "@whatwg-node/server";
  declare readonly body: CountedBody | undefined;
  readonly node: Node;
  #controller: AbortController | undefined = undefined;

  constructor(request: Request, node: Node) {
    const { socket, originalUrl, url = "/" } = node.req;
    const address = socket.remoteAddress ?? "";
    // An IPv4 peer of a socket that takes both families.
    super(request, address.startsWith("::ffff:") ? address.slice(7) : address);
    this.target = originalUrl ?? url;
    this.body = this.body && new CountedBody(this.body);
    this.node = node;
  }

  override get gone(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    const { res } = this.node;
    const whenClosed = (): void => {
      if (!res.writableFinished) controller.abort();
    };
    if (res.closed) whenClosed();
    else res.once("close", guarded(res, whenClosed));
    return controller.signal;
  }

  override lines(name: string): readonly string[] {
    const lines: string[] = [];
    for (const [given, value] of this.headers()) if (given === name) lines.push(value);
    return lines;
  }

  override *headers(): Iterable<readonly [name: string, value: string]> {
    const { rawHeaders } = this.node.req;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = (rawHeaders[i] as string).toLowerCase();
      // HTTP/2 has its own name for the host, and names for what is no header.
      if (name === ":authority") yield ["host", rawHeaders[i + 1] as string];
      else if (!name.startsWith(":")) yield [name, rawHeaders[i + 1] as string];
    }
  }

  keepAlive(work: Promise<unknown>): void {
    const nothing = (): void => {};
    this.node.waitUntil?.(work.then(nothing, nothing));
  }
}

/** `usher-http/whatwg`: an app behind `@whatwg-node/server`, for servers that exist already. */

/** What `createServerAdapter` of `@whatwg-node/server` takes. It neither throws nor rejects. */
export type WhatwgHandler = (request: Request, context: WhatwgContext) => Response | Promise<Response>;

/**
 * Answers with an app behind `@whatwg-node/server`, which mounts in Node's own server, in Express, Koa, Fastify and
 * others. In Node the listener of `usher-http/node` is faster, and has the limits and the stopping that here are the
 * server's own.
 *
 * A server that hands the adapter objects of its own, as Fastify does, gives them as `{ req, reply }` too: from them
 * come `peer`, the target and the header lines as they were sent, and that the client has gone.
 *
 * @example
 * ```ts
 * createServer(createServerAdapter(whatwg(App.make(routes)))).listen(8080);
 * ```
 */
export function whatwg(app: App): WhatwgHandler {
  const feeds = new EventStreams();
  app.onDrain(() => feeds.end());
  return (request, context) => {
    const node = nodeOf(context);
    if (node === undefined) {
      const exchange = new FetchExchange(request, "");
      return whenSent(app.answer(exchange), (sent) => responseTo(exchange, sent));
    }
    const refused = refusedHost(node);
    if (refused !== undefined) return refuse(refused);
    const exchange = new WhatwgExchange(request, node);
    return whenSent(app.answer(exchange), (sent) => respond(exchange, sent, feeds));
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

function respond(exchange: WhatwgExchange, sent: WireResponse, feeds: EventStreams): Response | Promise<Response> {
  const ends = endsUnread(exchange);
  return ends instanceof Promise
    ? ends.then((ends) => nodeResponseTo(exchange, sent, ends, feeds))
    : nodeResponseTo(exchange, sent, ends, feeds);
}

function nodeResponseTo(
  { node: { req, res } }: WhatwgExchange,
  sent: WireResponse,
  ends: boolean,
  feeds: EventStreams,
): Response {
  if (ends) lingerAtEnd(req.socket);
  const { body } = sent;
  const stream = isStream(body) ? watched(body, res, isEventStream(sent) ? feeds : undefined) : undefined;
  return responseOf(ends ? { ...sent, closes: true } : sent, stream);
}
