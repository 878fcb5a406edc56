/**
 * A request that a route makes of another route of its app, in process and as a request of its own client. It is the door of routes
 * that serve others in a form of their own: a tool of an agent.
 */
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { Deferred } from "../deferred.ts";
import type { AnswerBody } from "../exchange/answer.ts";
import { pathOf } from "../http/target.ts";
import type { CompiledRoute } from "./compile.ts";
import type { Exchange, WireResponse } from "./exchange.ts";
import type { RequestState } from "./request.ts";
import { formatted } from "./refused.ts";
import { respond } from "./respond.ts";
import { bodyTooLarge } from "../inputs/body-source.ts";
import type { BodyReceiver, BodySource } from "../inputs/body-source.ts";
import type { InputRequest } from "../inputs/request.ts";
import type { Refusal } from "../refusals.ts";
import type { Match } from "../routing/router.ts";
import type { Route } from "../routing/route.ts";
import { traceFlags, traceparentOf } from "../telemetry/traceparent.ts";

/** A request of another route. */
export interface InnerRequest {
  readonly target: string;
  /** Its own headers, by name in lower case. A header of the outer request takes precedence. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: { readonly content: string | Uint8Array; readonly contentType: string } | undefined;
}

/**
 * What the outer request has of its own and a route must not see: how it is framed and negotiated. Everything else is the
 * caller's: its credentials, its cookies, what a proxy says of it.
 */
const ofOuter =
  /^(?:accept|accept-encoding|accept-charset|range|if-.+|content-.+|mcp-.+|last-event-id|expect|connection|keep-alive|te|trailer|transfer-encoding|upgrade|sec-websocket-.+|traceparent)$/;

/** One request inside of another. */
class InnerExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly peer: string;
  readonly match: Match<CompiledRoute>;
  readonly body: InnerBody | undefined;
  readonly isTest: boolean;
  readonly isInner = true;
  /** Empty: nothing of the head is sent. */
  readonly date = "";
  readonly #outer: RequestState;
  readonly #request: InnerRequest;
  readonly #gone: () => AbortSignal;

  constructor(
    outer: RequestState,
    method: string,
    request: InnerRequest,
    match: Match<CompiledRoute>,
    gone: () => AbortSignal,
  ) {
    this.method = method;
    this.target = request.target;
    this.peer = outer.peer;
    this.#gone = gone;
    this.match = match;
    this.body = request.body === undefined ? undefined : new InnerBody(request.body.content);
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
    if (!ofOuter.test(name)) {
      // A proxy may have written it, and a model chooses the headers of the inner request: it must not replace this one.
      const lines = this.#outer.lines(name);
      if (lines.length > 0) return lines;
    }
    const own = this.#ownLine(name);
    return own === undefined ? [] : [own];
  }

  *headers(): Iterable<readonly [name: string, value: string]> {
    const names = new Set<string>();
    for (const [name, value] of this.#outer.headers()) {
      if (ofOuter.test(name)) continue;
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

/** The request's trace goes through the call: the span of the inner request is below that of the outer one. */
function traceOf({ context }: RequestState): string {
  return traceparentOf(context.traceId, context.spanId, traceFlags(context));
}

const encoder = new TextEncoder();

class InnerBody implements BodySource {
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

/** What a request may ask of its app, besides what its inputs read. */
export class InnerCalls {
  readonly #outer: RequestState;

  constructor(request: InputRequest) {
    // The state of a request is what an app makes of an exchange, and it alone.
    this.#outer = request as RequestState;
  }

  /** Whether the app has middleware, which may answer a call in place of the route and with anything. */
  get hasMiddleware(): boolean {
    return this.#outer.app.middleware !== undefined;
  }

  /** A refusal of the caller's own as the refusals of routes are: in the format of the app, and in a language of the request. */
  refusal(refusal: Refusal): { readonly body: AnswerBody; readonly contentType: string | undefined } {
    const { body, contentType } = formatted(this.#outer, refusalAnswer(refusal));
    return { body, contentType };
  }

  /** Whether the app trusts an origin, or lets its pages read the answers of this route. Where any may read them, none is named. */
  trustsOrigin(origin: string): boolean {
    const { app, match } = this.#outer;
    if (app.trustedOrigins?.has(origin) === true) return true;
    return app.cors?.names(origin, match?.route.route) === true;
  }

  /**
   * Calls a route through its whole app. Undefined where another route answers the target: the value of a parameter chooses no
   * other route.
   *
   * @param gone Makes the signal that aborts the call. It is called once the route reads it.
   */
  call(route: Route, request: InnerRequest, gone: () => AbortSignal): WireResponse | Promise<WireResponse> | undefined {
    const { app } = this.#outer;
    const method = route.method === "HEAD" ? "GET" : route.method;
    const match = app.router.find(method, pathOf(request.target));
    if (match?.route.route !== route) return undefined;
    const answered = respond(app, new InnerExchange(this.#outer, route.method, request, match, gone));
    return answered instanceof Deferred ? answered.valueOrPromise() : answered;
  }
}
