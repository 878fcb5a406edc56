import { unrefTimer } from "../async.ts";
import { following } from "../following.ts";
import type { Following } from "../following.ts";
import { isObject, needsObject, needsOptions, shown } from "../arguments.ts";
import { utf8Of } from "../http/bytes.ts";
import { knownMethods } from "../http/target.ts";
import { current, currentDeadline, passOn } from "../logging/context.ts";
import type { OpenSpan } from "../logging/entry.ts";
import { log } from "../logging/writer.ts";
import { isMeasured, measure } from "../telemetry/measure.ts";
import { freshHex, inSpan, openSpan, registered } from "../telemetry/span.ts";
import { traceFlags, traceparentOf } from "../telemetry/traceparent.ts";
import { bodyUntil } from "./body-until.ts";
import { send } from "./of.ts";

export { TooLarge } from "./body-until.ts";

/** A `fetch` for calls to other servers. Make it once, where the application starts, as a resource. */
export interface HttpClient {
  /**
   * Like the platform's `fetch`, with these differences: it passes on the request id and the trace, has a time-out and a
   * size limit, and follows no redirect unless `init.redirect` is set; with a `baseUrl`, only to its origin. Where the
   * connection closed before a response arrived, it retries once: a GET or HEAD, and a request with an `idempotency-key` whose
   * body is text, bytes or `URLSearchParams`. A user name or password in the URL is not sent.
   *
   * @param input Relative to `baseUrl`, if there is one: a URL of another origin is refused. A `Request` has its own `redirect`,
   * and its body is sent as a stream.
   * @throws TypeError for an invalid URL or another origin, and if the server cannot be reached; a `DOMException` named
   * `TimeoutError` after `timeoutMs` and at the deadline of the request that calls, also while the body is read; the reason of
   * `init.signal` if it aborts. Reading a body past `maxBody` throws {@link TooLarge}.
   */
  fetch(input: string | URL | Request, init?: HttpClientInit): Promise<Response>;
}

/** The options of one call. */
export interface HttpClientInit extends RequestInit {
  /** Overrides the client's: the limit of the whole call, with reading the body. */
  readonly timeoutMs?: number | undefined;
}

/** The options of a client. */
export interface HttpClientOptions {
  /** The base of relative URLs. If it is set, the client calls no other origin. */
  readonly baseUrl?: string | undefined;
  /** The limit of a call, with reading the body; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  /** The most bytes of a body, after decompression; 16 MiB by default. */
  readonly maxBody?: number | undefined;
  /** Default headers; a call's own headers override them. */
  readonly headers?: { readonly [name: string]: string } | undefined;
}

/**
 * Makes an HTTP client. Every call makes a span named by its method, and a line of `framework.client` at debug. Neither contains
 * a header, body or query string.
 *
 * @throws TypeError for a `baseUrl` that is not an http or https URL, RangeError for an invalid limit.
 *
 * @example
 * ```ts
 * const stock = Dep.ofResource<HttpClient>("stock");
 * const client = HttpClient.make({ baseUrl: "https://stock.example", timeoutMs: 2000 });
 * await serve(routes, { resources: [Dep.resource(stock, client)] });
 * ```
 */
export function make(options: HttpClientOptions = {}): HttpClient {
  needsOptions("HttpClient.make", options, "baseUrl timeoutMs maxBody headers");
  const { timeoutMs = 30_000, maxBody = 16_777_216, headers = {} } = options;
  const base = options.baseUrl === undefined ? undefined : baseOf(options.baseUrl);
  needsObject("HttpClient.make: headers", headers);
  checkTime(timeoutMs);
  if (!Number.isSafeInteger(maxBody) || maxBody < 0) {
    throw new RangeError(`HttpClient.make: maxBody must be a whole number of bytes, not ${shown(maxBody)}`);
  }
  passOn();
  return {
    async fetch(input, options = {}) {
      needsObject("HttpClient.fetch: options", options);
      const { timeoutMs: ownTimeoutMs = timeoutMs, ...init } = { ...membersOf(input), ...membersOf(options) };
      checkTime(ownTimeoutMs);
      const url = addressOf(input instanceof Request ? input.url : input, base);
      const ending = callEnd(ownTimeoutMs, init.signal);
      const { signal } = ending;
      // The platform requires this for a streamed body.
      const streamed = init.body instanceof ReadableStream ? { duplex: "half" as const } : {};
      try {
        const call = new OutgoingCall(url, signal, init.method);
        const response = await call.run(() => {
          const sent = call.headers(headers, init.headers);
          const request: RequestInit = { redirect: "manual", ...streamed, ...init, headers: sent, signal };
          return base === undefined || request.redirect !== "follow" ? send(url, request) : follow(url, request);
        });
        return bodyUntil(response, ending, maxBody);
      } catch (thrown) {
        ending.release();
        throw thrown;
      }
    },
  };
}

/**
 * The options of a call. A `Request` has getters, which a spread leaves out: it would become a GET without headers. An undefined
 * option counts as absent, as for the platform: it must not replace that of a `Request`.
 */
function membersOf(given: string | URL | Request | HttpClientInit): HttpClientInit {
  if (isUrlText(given) || !isObject(given)) return {};
  if (!(given instanceof Request)) {
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  }
  const { method, headers, body, redirect, signal } = given;
  return { method, headers, body, redirect, signal };
}

function isUrlText(text: unknown): boolean {
  return typeof text === "string" || text instanceof URL;
}

function baseOf(text: string): URL {
  const url = isUrlText(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new TypeError("HttpClient.make: baseUrl must be an http or https URL");
}

// A longer timer would fire at once.
const maxTimerMs = 2 ** 31 - 1;

function checkTime(ms: number): void {
  if (typeof ms === "number" && ms > 0 && ms <= maxTimerMs) return;
  throw new RangeError(`HttpClient: timeoutMs must be above 0 and at most ${maxTimerMs}, not ${shown(ms)}`);
}

// The errors do not quote the URL: it may contain text of a request.
function addressOf(input: string | URL, base: URL | undefined): URL {
  if (!isUrlText(input) || !URL.canParse(input, base)) throw new TypeError("HttpClient.fetch: the URL is invalid");
  const url = new URL(input, base);
  if (base !== undefined && url.origin !== base.origin) {
    throw new TypeError(`HttpClient.fetch: the URL is not of ${base.origin}`);
  }
  // Some platforms refuse user information, others send it as Authorization (RFC 9110 §4.2.4).
  url.username = "";
  url.password = "";
  return url;
}

const redirects: ReadonlySet<number> = /* @__PURE__ */ new Set([301, 302, 303, 307, 308]);
const maxRedirects = 20;

/** Follows redirects within the origin of the URL. The platform follows them to any other, with the headers of the client. */
async function follow(url: URL, init: RequestInit): Promise<Response> {
  let at = url;
  let request = init;
  for (let followed = 0; ; followed++) {
    const response = await send(at, { ...request, redirect: "manual" });
    const location = redirects.has(response.status) ? response.headers.get("location") : null;
    if (location === null) {
      return followed === 0 ? response : Object.defineProperty(response, "redirected", { value: true });
    }
    response.body?.cancel().catch(() => {});
    if (followed === maxRedirects) throw new TypeError(`HttpClient.fetch: more than ${maxRedirects} redirects`);
    request = redirected(request, response.status);
    at = addressOf(utf8Of(location), at);
  }
}

const bodyHeaders = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];

/** The request that follows a redirect (Fetch, "HTTP-redirect fetch"). */
function redirected(init: RequestInit, status: number): RequestInit {
  const { method = "GET", body, ...others } = init;
  const becomesGet = status === 303 ? !/^(get|head)$/i.test(method) : status < 303 && /^post$/i.test(method);
  if (!becomesGet) {
    if (body instanceof ReadableStream) throw new TypeError("HttpClient.fetch: a redirect asks for a stream once more");
    return init;
  }
  const headers = new Headers(init.headers);
  for (const name of bodyHeaders) headers.delete(name);
  return { ...others, method: "GET", headers };
}

/** The end of a call: after its time, by the caller's own signal, and by the deadline of the request that calls. */
function callEnd(ms: number, own: AbortSignal | null | undefined): Following {
  const ending = following([own ?? undefined, currentDeadline()?.signal]);
  const over = (): void => ending.abort(new DOMException("the call took too long", "TimeoutError"));
  const timer = setTimeout(over, ms);
  unrefTimer(timer);
  return {
    ...ending,
    release() {
      clearTimeout(timer);
      ending.release();
    },
  };
}

function addMissing(headers: Headers, others: { readonly [name: string]: string }): void {
  for (const [name, value] of Object.entries(others)) if (!headers.has(name)) headers.set(name, value);
}

/** One call, with its span, log line and metrics. */
class OutgoingCall {
  readonly #url: URL;
  readonly #method: string;
  readonly #span: OpenSpan | undefined;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();

  constructor(url: URL, signal: AbortSignal, method = "GET") {
    this.#url = url;
    this.#signal = signal;
    // `fetch` does the same.
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

  /** The call's own headers override the client's, which override the request id and trace. */
  headers(always: NonNullable<HttpClientOptions["headers"]>, own: RequestInit["headers"]): Headers {
    const headers = new Headers(own);
    addMissing(headers, always);
    addMissing(headers, this.#contextHeaders(headers.has("traceparent")));
    return headers;
  }

  /** @param isOfOtherTrace Whether the call has a trace of its own, which the state of the request's is not for. */
  #contextHeaders(isOfOtherTrace: boolean): { readonly [name: string]: string } {
    const context = current();
    const traceId = this.#span?.traceId ?? context?.traceId;
    if (traceId === undefined) return {};
    const isSampled = this.#span?.isSampled ?? context?.isSampled ?? false;
    // The flag is of the caller's id, and an application's tracer may have begun another trace.
    const isRandom = context?.isRandom === true && context.traceId === traceId;
    const state = context?.traceState;
    return {
      ...(context?.requestId === undefined ? {} : { "x-request-id": context.requestId }),
      traceparent: traceparentOf(traceId, this.#span?.spanId ?? freshHex(8), traceFlags({ isSampled, isRandom })),
      ...(state === undefined || isOfOtherTrace ? {} : { tracestate: state }),
    };
  }

  async run(send: () => Promise<Response>): Promise<Response> {
    try {
      const response = await (this.#span === undefined ? send() : inSpan(this.#span, send));
      this.#onResponse(response.status);
      return response;
    } catch (thrown) {
      this.#onError(thrown);
      throw thrown;
    }
  }

  #onResponse(status: number): void {
    this.#span?.set("http.response.status_code", status);
    if (status >= 400) this.#fail(String(status));
    this.#span?.end();
    const attributes = { "http.response.status_code": status };
    this.#measure(status >= 400 ? { ...attributes, "error.type": String(status) } : attributes);
    this.#log(String(status), attributes);
  }

  #onError(thrown: unknown): void {
    const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : "";
    // A caller may abort with any reason.
    const isCancelled = name === "AbortError" || this.#signal.aborted;
    const outcome = name === "TimeoutError" ? "timeout" : isCancelled ? "cancelled" : "unreachable";
    this.#fail(outcome);
    this.#span?.end();
    this.#measure({ "error.type": outcome });
    this.#log(outcome, { "error.type": outcome });
  }

  #fail(why: string): void {
    this.#span?.set("error.type", why);
    this.#span?.fail(why);
  }

  #measure(attributes: { readonly [name: string]: string | number }): void {
    if (!isMeasured(registered())) return;
    const { hostname, port, protocol } = this.#url;
    const method = knownMethods.has(this.#method) ? this.#method : "_OTHER";
    measure("called", (performance.now() - this.#startedAt) / 1000, {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
      ...attributes,
    });
  }

  #log(outcome: string, attributes: { readonly [name: string]: string | number }): void {
    const { hostname, pathname } = this.#url;
    const fields = {
      "http.request.method": this.#method,
      "server.address": hostname,
      "url.path": pathname,
      ...attributes,
      duration: Math.round((performance.now() - this.#startedAt) * 1e6),
    };
    const message = `${this.#method} ${hostname}${pathname} ${outcome}`;
    log({ level: "debug", source: "framework.client", message, fields, context: current() });
  }
}
