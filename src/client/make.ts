import { knownMethods } from "../http/target.ts";
import { current, passOn } from "../logging/context.ts";
import type { OpenSpan } from "../logging/entry.ts";
import { log } from "../logging/writer.ts";
import { isMeasured, measure } from "../telemetry/measure.ts";
import { inSpan, openSpan, registered } from "../telemetry/span.ts";
import { freshHex } from "../telemetry/trace-context.ts";
import { send } from "./of.ts";

/** A body is longer than the client reads. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";

  constructor(maxBody: number) {
    super(`the answer's body is longer than ${maxBody} bytes`);
  }
}

/** The same answer, of whose body so many bytes can be read and no more. */
function bounded(response: Response, maxBody: number): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  let left = maxBody;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        left -= part.byteLength;
        if (left < 0) throw new TooLarge(maxBody);
        controller.enqueue(part);
      },
    }),
  );
  const made = new Response(counted, { status, statusText, headers });
  // What a `Response` that is made says of neither.
  const { url, redirected } = response;
  return Object.defineProperties(made, { url: { value: url }, redirected: { value: redirected } });
}

/** A `fetch` for calls to other servers; a resource of the application's, made once where it starts. */
export interface Client {
  /**
   * Calls a server as the platform's `fetch` does, with these differences: it passes on the request's id and trace, waits
   * no longer than it is told, reads no more than it is told, and follows no redirect unless `init.redirect` says so. A GET
   * or a HEAD whose connection closes before an answer comes is sent once more, and nothing else ever is. What an address
   * says of a user is not sent.
   *
   * @param input Under `baseUrl`, where there is one: any other origin is refused, whatever a text of a request's made of it.
   * @throws TypeError for an address that is none or of another origin, and where the server cannot be reached;
   * a `DOMException` named `TimeoutError` once the time is over, while the body is read too; the reason of `init.signal`
   * where that aborts. Reading a body past `maxBody` raises a {@link TooLarge}.
   */
  fetch(input: string | URL, init?: ClientInit): Promise<Response>;
}

/** What one call is made with. */
export interface ClientInit extends RequestInit {
  /** In place of the client's own: for the whole call, its body read to the end. */
  readonly timeoutMs?: number;
}

/** What a client is made with. */
export interface MakeOptions {
  /** What relative addresses are relative to. With one, no other origin is called. */
  readonly baseUrl?: string;
  /** How long a call takes at the most, until its body is read: 30 s. */
  readonly timeoutMs?: number;
  /** Bytes of a body that are read, as they are once decoded: 16 MiB. */
  readonly maxBody?: number;
  /** Sent with every call that has none of that name. */
  readonly headers?: { readonly [name: string]: string };
}

/**
 * Makes a client. Every call is a span named by its method, and a line of `framework.client` at debug; neither tells a
 * header, a body or a query.
 *
 * @throws TypeError for a `baseUrl` that is no URL of http or https, RangeError for a limit that is none.
 *
 * @example
 * ```ts
 * const stock = Dep.ofResource<Client>("stock");
 * const client = Client.make({ baseUrl: "https://stock.example", timeoutMs: 2000 });
 * await serve(routes, { resources: [Dep.resource(stock, client)] });
 * ```
 */
export function make(options: MakeOptions = {}): Client {
  const { timeoutMs = 30_000, maxBody = 16_777_216, headers = {} } = options;
  const base = options.baseUrl === undefined ? undefined : baseOf(options.baseUrl);
  checkTime(timeoutMs);
  if (!Number.isSafeInteger(maxBody) || maxBody < 0) {
    throw new RangeError(`Client.make: maxBody cannot be ${maxBody}: it is a whole number of bytes`);
  }
  passOn();
  return {
    async fetch(input, { timeoutMs: ownTimeoutMs = timeoutMs, ...init } = {}) {
      checkTime(ownTimeoutMs);
      const url = addressOf(input, base);
      const call = new OutgoingCall(url, init.method);
      const sent = call.headers(headers, init.headers);
      const signal = timed(ownTimeoutMs, init.signal);
      // The platform wants it said that what is streamed is sent before anything is answered.
      const streamed = init.body instanceof ReadableStream ? { duplex: "half" as const } : {};
      const asked: RequestInit = { redirect: "manual", ...streamed, ...init, headers: sent, signal };
      const response = await call.run(() => send(url, asked));
      return bounded(response, maxBody);
    },
  };
}

function baseOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new TypeError("Client.make: baseUrl is a URL of http or https");
}

// Longer than a timer can be, it would be over at once.
const longestMs = 2 ** 31 - 1;

function checkTime(ms: number): void {
  if (ms > 0 && ms <= longestMs) return;
  throw new RangeError(`Client: timeoutMs cannot be ${ms}: it is above 0, and ${longestMs} at the most`);
}

// Its text may be made of what a request says: neither that nor what is wrong with it is told.
function addressOf(input: string | URL, base: URL | undefined): URL {
  if (!URL.canParse(input, base)) throw new TypeError("Client.fetch: that address is none");
  const url = new URL(input, base);
  if (base !== undefined && url.origin !== base.origin) {
    throw new TypeError(`Client.fetch: that address is not of ${base.origin}`);
  }
  // Some platforms would refuse it, and others make a header of it (RFC 9110 §4.2.4).
  url.username = "";
  url.password = "";
  return url;
}

function timed(ms: number, own: AbortSignal | null | undefined): AbortSignal {
  const over = AbortSignal.timeout(ms);
  return own === null || own === undefined ? over : AbortSignal.any([own, over]);
}

/** One call, and what is told of it. */
class OutgoingCall {
  readonly #url: URL;
  readonly #method: string;
  readonly #span: OpenSpan | undefined;
  readonly #startedAt = performance.now();

  constructor(url: URL, method = "GET") {
    this.#url = url;
    // As `fetch` itself does.
    this.#method = knownMethods.has(method.toUpperCase()) ? method.toUpperCase() : method;
    const isKnown = knownMethods.has(this.#method);
    this.#span = openSpan(isKnown ? this.#method : "HTTP", "client", {
      "http.request.method": isKnown ? this.#method : "_OTHER",
      "http.request.method_original": isKnown ? undefined : this.#method,
      "server.address": url.hostname,
      "server.port": url.port === "" ? undefined : Number(url.port),
      "url.scheme": url.protocol.slice(0, -1),
      "url.path": url.pathname,
    });
  }

  /** The call's own before the client's, and both before the request's id and trace. */
  headers(always: NonNullable<MakeOptions["headers"]>, own: RequestInit["headers"]): Headers {
    const headers = new Headers(own);
    for (const [name, value] of [...Object.entries(always), ...Object.entries(this.#passedOn())]) {
      if (!headers.has(name)) headers.set(name, value);
    }
    return headers;
  }

  #passedOn(): { readonly [name: string]: string } {
    const context = current();
    const traceId = this.#span?.traceId ?? context?.traceId;
    if (traceId === undefined) return {};
    const isSampled = this.#span?.isSampled ?? context?.isSampled;
    const state = context?.traceState;
    return {
      ...(context?.requestId === undefined ? {} : { "x-request-id": context.requestId }),
      traceparent: `00-${traceId}-${this.#span?.spanId ?? freshHex(8)}-${isSampled ? "01" : "00"}`,
      ...(state === undefined ? {} : { tracestate: state }),
    };
  }

  async run(send: () => Promise<Response>): Promise<Response> {
    try {
      const response = await (this.#span === undefined ? send() : inSpan(this.#span, send));
      this.#answered(response.status);
      return response;
    } catch (thrown) {
      this.#failed(thrown);
      throw thrown;
    }
  }

  #answered(status: number): void {
    this.#span?.set("http.response.status_code", status);
    if (status >= 400) this.#fail(String(status));
    this.#span?.end();
    const told = { "http.response.status_code": status };
    this.#measure(status >= 400 ? { ...told, "error.type": String(status) } : told);
    this.#say(String(status), told);
  }

  #failed(thrown: unknown): void {
    const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : "";
    const how = name === "TimeoutError" ? "timeout" : name === "AbortError" ? "cancelled" : "unreachable";
    this.#fail(how);
    this.#span?.end();
    this.#measure({ "error.type": how });
    this.#say(how, { "error.type": how });
  }

  #fail(why: string): void {
    this.#span?.set("error.type", why);
    this.#span?.fail(why);
  }

  #measure(ended: { readonly [name: string]: string | number }): void {
    if (!isMeasured(registered())) return;
    const { hostname, port, protocol } = this.#url;
    const method = knownMethods.has(this.#method) ? this.#method : "_OTHER";
    measure("called", (performance.now() - this.#startedAt) / 1000, {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
      ...ended,
    });
  }

  #say(how: string, ended: { readonly [name: string]: string | number }): void {
    const { hostname, pathname } = this.#url;
    const fields = {
      "http.request.method": this.#method,
      "server.address": hostname,
      "url.path": pathname,
      ...ended,
      duration: Math.round((performance.now() - this.#startedAt) * 1e6),
    };
    const message = `${this.#method} ${hostname}${pathname} ${how}`;
    log({ level: "debug", source: "framework.client", message, fields, context: current() });
  }
}
