/** A call of a route of the same app, in process: the request of a tool, as one of the client that called the tool. */
import { Deferred } from "../../src/deferred.ts";
import { pathOf } from "../../src/http/target.ts";
import type { CompiledRoute } from "../../src/app/compile.ts";
import type { Exchange, WireResponse } from "../../src/app/exchange.ts";
import type { RequestState } from "../../src/app/request.ts";
import { respond } from "../../src/app/respond.ts";
import { bodyTooLarge } from "../../src/inputs/body-source.ts";
import type { BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import type { Match } from "../../src/routing/router.ts";
import type { Route } from "../../src/routing/route.ts";
import { traceFlags, traceparentOf } from "../../src/telemetry/traceparent.ts";

/** A request of a tool. */
export interface ToolRequest {
  readonly target: string;
  /** What the arguments are in headers, by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: { readonly content: string | Uint8Array; readonly contentType: string } | undefined;
}

/**
 * What the message itself has of its own and a route must not see: how it is framed and negotiated. Everything else is the
 * caller's: its credentials, its cookies, what a proxy says of it.
 */
const ofMessage =
  /^(?:accept|accept-encoding|accept-charset|range|if-.+|content-.+|mcp-.+|last-event-id|expect|connection|keep-alive|te|trailer|transfer-encoding|upgrade|sec-websocket-.+|traceparent)$/;

/** One request inside of another. */
class InnerExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly peer: string;
  readonly match: Match<CompiledRoute>;
  readonly body: ArgumentBody | undefined;
  readonly isTest: boolean;
  readonly isInner = true;
  /** Empty: nothing of the head is sent. */
  readonly date = "";
  readonly #outer: RequestState;
  readonly #request: ToolRequest;
  readonly #gone: () => AbortSignal;

  constructor(
    outer: RequestState,
    method: string,
    request: ToolRequest,
    match: Match<CompiledRoute>,
    gone: () => AbortSignal,
  ) {
    this.method = method;
    this.target = request.target;
    this.peer = outer.peer;
    this.#gone = gone;
    this.match = match;
    this.body = request.body === undefined ? undefined : new ArgumentBody(request.body.content);
    this.isTest = outer.exchange.isTest === true;
    this.#outer = outer;
    this.#request = request;
  }

  get gone(): AbortSignal {
    return this.#gone();
  }

  /** Of a test alone: the clock of an app is read again, and only where something needs it. */
  get now(): Date | undefined {
    return this.#outer.exchange.now;
  }

  get scheme(): "https" | undefined {
    return this.#outer.exchange.scheme;
  }

  get peerCertificate(): Exchange["peerCertificate"] {
    return this.#outer.exchange.peerCertificate;
  }

  get tlsClientAuth(): Exchange["tlsClientAuth"] {
    return this.#outer.exchange.tlsClientAuth;
  }

  lines(name: string): readonly string[] {
    if (!ofMessage.test(name)) {
      // A header that the request has is not the model's to choose: a proxy may have written it.
      const lines = this.#outer.lines(name);
      if (lines.length > 0) return lines;
    }
    const own = this.#ownLine(name);
    return own === undefined ? [] : [own];
  }

  *headers(): Iterable<readonly [name: string, value: string]> {
    const names = new Set<string>();
    for (const [name, value] of this.#outer.headers()) {
      if (ofMessage.test(name)) continue;
      names.add(name);
      yield [name, value];
    }
    for (const name of ["content-type", "traceparent", ...this.#request.headers.keys()]) {
      const own = names.has(name) ? undefined : this.#ownLine(name);
      if (own !== undefined) yield [name, own];
    }
  }

  #ownLine(name: string): string | undefined {
    if (name === "traceparent") return traceOf(this.#outer);
    if (name === "content-type" && this.#request.body !== undefined) return this.#request.body.contentType;
    return this.#request.headers.get(name);
  }

  byteLength(text: string): number {
    return this.#outer.exchange.byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    return this.body?.textOf(bytes) ?? this.#outer.exchange.decode(bytes);
  }

  undeclared(deed: string): void {
    this.#outer.exchange.undeclared?.(deed);
  }

  keepAlive(work: Promise<unknown>, ms?: number): void {
    this.#outer.exchange.keepAlive?.(work, ms);
  }
}

/** The request's trace goes through the call: the span of the route is below that of the message. */
function traceOf({ context }: RequestState): string {
  return traceparentOf(context.traceId, context.spanId, traceFlags(context));
}

const encoder = new TextEncoder();

class ArgumentBody implements BodySource {
  readonly length: number;
  readonly #bytes: Uint8Array;
  /** The same, where it was made of text. */
  readonly #text: string | undefined;
  #isRead = false;

  constructor(content: string | Uint8Array) {
    this.#text = typeof content === "string" ? content.toWellFormed() : undefined;
    this.#bytes = typeof content === "string" ? encoder.encode(content) : content;
    this.length = this.#bytes.byteLength;
  }

  /** The text of its own bytes, which need no decoding. */
  textOf(bytes: Uint8Array): string | undefined {
    return bytes === this.#bytes ? this.#text : undefined;
  }

  read(): Promise<Uint8Array | undefined> {
    const bytes = this.#isRead || this.length === 0 ? undefined : this.#bytes;
    this.#isRead = true;
    return Promise.resolve(bytes);
  }

  whole(limit: number, receiver: BodyReceiver): void {
    // Not taken from the budget: the message has its bytes, which are.
    receiver.done(this.length > limit ? bodyTooLarge : this.#bytes);
  }
}

/**
 * Calls a route through its whole app. Undefined where another route answers the target: a tool is one route, and no other one
 * by the value of a parameter.
 */
export function callRoute(
  outer: RequestState,
  route: Route,
  request: ToolRequest,
  gone: () => AbortSignal,
): WireResponse | Promise<WireResponse> | undefined {
  const method = route.method === "HEAD" ? "GET" : route.method;
  const match = outer.app.router.find(method, pathOf(request.target));
  if (match?.route.route !== route) return undefined;
  const answered = respond(outer.app, new InnerExchange(outer, route.method, request, match, gone));
  return answered instanceof Deferred ? answered.valueOrPromise() : answered;
}
