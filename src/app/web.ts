import { isStream } from "../exchange/answer.ts";
import { inTime } from "../async.ts";
import { Deferred } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { PulledStream } from "../events/readable.ts";
import type { OpenStream } from "../events/open-stream.ts";
import type { StreamEnd } from "../events/stream.ts";
import { byteLength, decode } from "../http/bytes.ts";
import { endedEarly, gather, partOf } from "../inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../inputs/body-source.ts";
import { fieldsOf } from "../http/fields.ts";
import { endOfAuthority, isHost } from "../http/target.ts";
import { guarded } from "../logging/raised.ts";
import { internalRefusal } from "../refusals.ts";
import { abortingWith } from "./exchange.ts";
import type { Exchange, WireResponse } from "./exchange.ts";
import { logRefusedHead, logReported } from "./failures.ts";

/** The context of a Worker's request, or what another caller passes in its place. */
interface KeepingContext {
  /** Keeps the request's work running until the promise is settled. */
  waitUntil?(work: Promise<unknown>): void;
}

/** An exchange over a standard `Request`, which shows a repeated header as one joined line. */
export class FetchExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly peer: string;
  /** The body as the request has it. */
  protected readonly given: BodySource | undefined;
  /** Sends the spans that wait, if the app has an exporter. */
  flush: (() => Promise<unknown>) | undefined = undefined;
  readonly #request: Request;
  readonly #host: string;
  readonly #context: KeepingContext | undefined;
  /** Other code has read of the body, or reads it: what is left would be taken for the whole. */
  readonly #isRead: boolean;
  #going: AbortController | undefined = undefined;
  #isAnswered = false;

  constructor(request: Request, peer: string, context?: KeepingContext) {
    this.method = request.method;
    const { host, target } = hostAndTarget(request.url);
    this.target = target;
    this.#host = host;
    this.peer = peer;
    this.#request = request;
    this.#context = context;
    this.given = request.body === null ? undefined : new RequestBody(request, request.body);
    this.#isRead = request.bodyUsed || request.body?.locked === true;
  }

  /**
   * On Deno a path in `Host` would become part of the target, past the rules of a proxy. It always leaves a second slash there:
   * `Host` itself is read only then, because that costs Bun 0.7 µs.
   */
  get isHostValid(): boolean {
    const isExact = this.#host !== "" && !this.target.includes("/", 1);
    return isHost(this.#host) && (isExact || isHost(this.#request.headers.get("host") ?? ""));
  }

  get body(): BodySource | undefined {
    if (this.#isRead) throw internalRefusal("its body was read before the app got it");
    return this.given;
  }

  /** Deno's signal also aborts after a complete response. */
  get gone(): AbortSignal {
    return (this.#going ??= abortingWith(this.#request.signal, () => this.#isAnswered)).signal;
  }

  /** There is a whole response, or its stream has finished. */
  answered(): void {
    this.#isAnswered = true;
  }

  /**
   * Only Workers stop the work, unless the context keeps it. But it runs by itself: a runtime may allow a request only its own
   * connections.
   */
  keepAlive(work: Promise<unknown>, ms?: number): void {
    if (typeof this.#context?.waitUntil !== "function") return;
    const done = ms === undefined ? work : inTime(work, ms);
    // Nothing runs between requests: what ends later than its request's answer would leave its spans to the next request.
    this.#context.waitUntil(done.then(this.flush).then(nothing, nothing));
  }

  /** The client cancelled the response. workerd throws what a listener of the signal throws. */
  left(): void {
    guarded(undefined, () => this.#going?.abort())();
  }

  get scheme(): "https" | undefined {
    return this.#request.url.startsWith("https:") ? "https" : undefined;
  }

  lines(name: string): readonly string[] {
    const value = this.#request.headers.get(name);
    if (value !== null) return [value];
    return name === "host" && this.#host !== "" ? [this.#host] : [];
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return fieldsOf(this.#request.headers);
  }

  byteLength(text: string): number {
    return byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    return decode(bytes);
  }
}

class RequestBody implements BodySource {
  readonly #request: Request;
  readonly #stream: ReadableStream<Uint8Array>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(request: Request, stream: ReadableStream<Uint8Array>) {
    this.#request = request;
    this.#stream = stream;
  }

  get length(): number | undefined {
    const length = this.#request.headers.get("content-length");
    return length === null || !/^\d{1,15}$/.test(length) ? undefined : Number(length);
  }

  async read(): Promise<Uint8Array | BodyFailure | undefined> {
    try {
      this.#reader ??= this.#stream.getReader();
      return partOf(await this.#reader.read());
    } catch {
      return endedEarly;
    }
  }

  whole(limit: number, receiver: BodyReceiver): void {
    gather(this, limit, receiver);
  }
}

/** Whether a request announces a body, which would have to be read before an upgrade (RFC 9110 §7.8). */
export function announcesBody({ headers }: Request): boolean {
  return Number(headers.get("content-length") ?? 0) !== 0 || headers.has("transfer-encoding");
}

/**
 * The host and the target in a request's URL, which Deno joins from `Host` and target without validation. Bun gives the
 * target alone where `Host` is missing, as in HTTP/1.0, or invalid, and for `CONNECT`.
 */
function hostAndTarget(url: string): { readonly host: string; readonly target: string } {
  if (url.startsWith("/") || !url.includes("://")) return { host: "", target: url };
  const start = url.indexOf("://") + 3;
  const end = endOfAuthority(url, start);
  const rest = url.slice(end);
  return { host: url.slice(start, end), target: rest.startsWith("/") ? rest : `/${rest}` };
}

/** The answer to a request with an invalid host; undefined for any other. */
export function refusedRequest(exchange: FetchExchange): Response | undefined {
  if (exchange.isHostValid) return undefined;
  logRefusedHead(400, "a Host that is none");
  return new Response(null, { status: 400 });
}

/** The part of an app that answers a standard `Request`. */
interface FetchedApp {
  readonly answer: (exchange: Exchange) => MaybePromise<WireResponse>;
  readonly flush?: (() => Promise<unknown>) | undefined;
}

/** Answers a standard `Request`. Never rejects. */
export async function fetchFrom(
  { answer, flush }: FetchedApp,
  request: Request,
  peer: string,
  context: object | null | undefined,
): Promise<Response> {
  try {
    const exchange = new FetchExchange(request, peer, context ?? undefined);
    const refused = refusedRequest(exchange);
    if (refused !== undefined) return refused;
    exchange.flush = flush;
    const made = answer(exchange);
    // A deferred value has one receiver, and here are two.
    const sent = made instanceof Deferred ? made.valueOrPromise() : made;
    if (context !== undefined) exchange.keepAlive(Promise.resolve(sent));
    return responseTo(exchange, await sent);
  } catch (thrown) {
    return unmade(thrown);
  }
}

/** A bare 500, where the platform threw for a `Response`, or the argument of `app.fetch` is not a `Request`. */
export function unmade(thrown: unknown): Response {
  logReported(thrown);
  return new Response(null, { status: 500 });
}

/** The answer to an exchange as a standard `Response`. Cancelling its body aborts `clientGone`. */
export function responseTo(exchange: FetchExchange, sent: WireResponse): Response {
  const { body } = sent;
  if (isStream(body)) return responseOf(sent, readable(body, exchange));
  exchange.answered();
  return responseOf(sent);
}

/** An answer as a standard `Response`, for a runtime that writes `Content-Length` itself: a header costs 60 to 380 ns. */
export function ownLengthResponseOf(sent: WireResponse): Response {
  return responseOf(sent, undefined, lengthAt(sent));
}

/** The index in the head of a `Content-Length` that the runtime writes itself; the end of the head where it does not. */
export function lengthAt({ body, head }: WireResponse): number {
  const isMeasured = body !== undefined && body.length !== 0 && head.at(-2) === "content-length";
  return isMeasured ? head.length - 2 : head.length;
}

/** Whether a head has only a type and an id before `until`, as nearly every head does. */
export function tellsTypeAndId({ head, closes }: WireResponse, until: number): boolean {
  return until === 4 && head[0] === "content-type" && head[2] === "x-request-id" && !closes;
}

/**
 * An answer as a standard `Response`.
 *
 * @param stream The body of a streamed answer.
 * @param until The end of the head's part that is written.
 */
export function responseOf(
  { status, head, body, closes }: WireResponse,
  stream?: ReadableStream<Uint8Array>,
  until: number = head.length,
): Response {
  // Appending to a Response costs half of making its Headers before. The type must be there from the start.
  const type = head[0] === "content-type" ? (head[1] as string) : undefined;
  // Workers would compress the bytes again where the answer has a `Content-Encoding`.
  const encodeBody = "manual";
  const init = type === undefined ? { status, encodeBody } : { status, encodeBody, headers: { "content-type": type } };
  // An empty body stays a body: without one a runtime would leave out the declared type.
  const bytes = (body as string | Uint8Array<ArrayBuffer> | undefined) ?? null;
  const response = new Response(stream ?? bytes, init);
  const { headers } = response;
  if (type === undefined) headers.delete("content-type");
  for (let i = type === undefined ? 0 : 2; i < until; i += 2) headers.append(head[i] as string, head[i + 1] as string);
  if (closes) headers.set("connection", "close");
  return response;
}

/** A streamed body as a `ReadableStream`, cut at its `Content-Length`. Its reader's `cancel` is the client's leaving. */
function readable(body: OpenStream, exchange: FetchExchange): ReadableStream<Uint8Array> {
  const cancelled = (): StreamEnd => {
    exchange.left();
    return "client gone";
  };
  const ended = (how: StreamEnd): void => {
    if (how === "finished") exchange.answered();
  };
  return new PulledStream(body, { stopsAtLength: false, making: nothing, made: nothing, cancelled, ended }).readable;
}

function nothing(): void {}
