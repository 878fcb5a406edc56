import type { Answer } from "../exchange/answer.ts";
import { findCookie } from "../codecs/cookie.ts";
import type { SetCookie } from "../codecs/cookie.ts";
import { networkOfClient } from "../http/addresses.ts";
import { authorityOf, originForm } from "../http/target.ts";
import type { BodyHolder, BodySource } from "../inputs/body-source.ts";
import type {
  BodyInUse,
  BodyRequest,
  HandlerGuard,
  Held,
  InputRequest,
  OpenBody,
  TaskList,
} from "../inputs/request.ts";
import { FieldValues } from "../inputs/text.ts";
import type { FieldNames } from "../inputs/text.ts";
import type { RequestValidity } from "../inputs/validity.ts";
import type { LogContext, LogFields, OpenSpan, TraceContext, WorkDeadline } from "../logging/entry.ts";
import { isOfSignal } from "../logging/raised.ts";
import { isAnyOn, log } from "../logging/writer.ts";
import { frameworkCodes, goneRefusal, internalRefusal, timedOutRefusal } from "../refusals.ts";
import type { Code, Refusal } from "../refusals.ts";
import type { Match } from "../routing/router.ts";
import { figures, isMeasured } from "../telemetry/measure.ts";
import { freshRequestId, joinTrace, registered } from "../telemetry/span.ts";
import type { Registered } from "../telemetry/span.ts";
import type { Place, PlacedRequest } from "./bounds.ts";
import type { CompiledApp, CompiledRoute, Inside } from "./compile.ts";
import { Ending } from "./ending.ts";
import type { EndActs } from "./ending.ts";
import { abortingWith } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestDeadline } from "./request-deadline.ts";
import type { ForwardedValues } from "./trusted-proxies.ts";

/**
 * The context of a request's work, which may outlive the answer. It does not hold the request: Deno keeps the contexts of all
 * work through the next garbage collections, and with a whole request in each, collecting took half of its time.
 */
class RequestContext implements LogContext {
  readonly requestId: string;
  /** The request's span, if it is recorded, while it is open. */
  span: OpenSpan | undefined = undefined;
  /** The deadline of its work, until it is answered. */
  deadline: WorkDeadline | undefined = undefined;
  /** What `Log.tag` added. */
  tags: LogFields | undefined = undefined;
  #exchange: Exchange | undefined;
  #trace: TraceContext | undefined = undefined;

  constructor(requestId: string, exchange: Exchange | undefined) {
    this.requestId = requestId;
    this.#exchange = exchange;
  }

  /** The trace that the request joined or began, recorded or not. Reading it releases the exchange. */
  get trace(): TraceContext {
    if (this.#trace !== undefined) return this.#trace;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    return (this.#trace = joinTrace((name) => exchange?.lines(name) ?? nothing));
  }
  /** Releases the exchange, once its `traceparent` is read. A trace that begins here begins when it is first used. */
  settle(): void {
    if (this.#exchange === undefined) return;
    if (this.#exchange.lines("traceparent").length > 0) void this.trace;
    else this.#exchange = undefined;
  }
  /** The same for work that has no deadline. */
  split(): RequestContext {
    const other = new RequestContext(this.requestId, undefined);
    other.#trace = this.trace;
    other.span = this.span;
    other.tags = this.tags;
    return other;
  }
  addTags(fields: LogFields): void {
    this.tags = { ...this.tags, ...fields };
  }
  get traceId(): string {
    return this.span?.traceId ?? this.trace.traceId;
  }
  get spanId(): string {
    return this.span?.spanId ?? this.trace.spanId;
  }
  get isSampled(): boolean {
    return this.span?.isSampled ?? this.trace.isSampled;
  }
  get isRandom(): boolean {
    return this.trace.isRandom;
  }
  get traceState(): string | undefined {
    return this.trace.state;
  }
}

/** What the inputs and the handler of a request set for its answer, and how its refusals are written. */
export class AnswerParts {
  readonly headers: (readonly [name: string, value: string])[] = [];
  readonly cookies: SetCookie[] = [];
  change: ((answer: Answer) => Answer) | undefined = undefined;
  /** The codes of the inputs that were chosen during the request. */
  readonly codes: Code[] = [];
  /** The answer of a refusal that was written in the app's own format last. */
  formatted: Answer | undefined = undefined;

  /** The answer with them, unless that is a refusal (contract 4.3). */
  addTo(answer: Answer, isReplay: boolean): Answer {
    const { headers, cookies } = this;
    if (answer.refused !== undefined) return answer;
    // The kept answer has the headers. Cookies are those that this request's own inputs set, such as a renewed session's.
    if (isReplay) return cookies.length === 0 ? answer : { ...answer, cookies };
    const isAsMade = headers.length === 0 && cookies.length === 0;
    const ended = isAsMade
      ? answer
      : { ...answer, headers: [...answer.headers, ...headers], cookies: [...answer.cookies, ...cookies] };
    return this.change === undefined ? ended : this.change(ended);
  }
}

const nothing: readonly never[] = [];
const noBytes: Uint8Array = /* @__PURE__ */ new Uint8Array();
/** What an application does that adds to an answer, for a warn line. */
const additions = "set a cookie or a header";
const nothingForwarded: ForwardedValues = { client: undefined, host: undefined, proto: undefined, prefix: "" };
const frameworkNames: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ [goneRefusal.code, ...frameworkCodes].map(({ name }) => name),
);

/** The state of one request: what is read from its exchange, and what its handler has set. */
export class RequestState implements InputRequest, BodyRequest, PlacedRequest {
  readonly id: string;
  readonly method: string;
  readonly target: string;
  readonly rawPath: string;
  readonly search: string;
  captured: readonly string[] = nothing;
  /** The route of its method and path, if there is one. */
  match: Match<CompiledRoute> | undefined = undefined;
  /** The route that answers, set after the cross-origin check. */
  route: CompiledRoute | undefined = undefined;
  /** What the routes answered inside of the app's middleware, where there is any. */
  inside: Inside | undefined = undefined;
  /** Where its work and its reply are. */
  readonly ending: Ending<RequestState>;
  /** Set where its route, or its app, has one. */
  deadline: RequestDeadline | undefined = undefined;
  /** How long what its inputs checked is valid, if one gave that. */
  validity: RequestValidity | undefined = undefined;
  /** What is read of its body, if its route reads one. */
  reading: BodyInUse | undefined = undefined;
  place: Place = "none";
  /** The provider that the application registered with `@opentelemetry/api`. */
  readonly otel: Registered | undefined = registered();
  readonly isMeasured: boolean = isMeasured(this.otel);
  /** Milliseconds of the monotonic clock; 0 where nothing is logged or measured. */
  readonly startedAt: number = this.isMeasured || isAnyOn() ? performance.now() : 0;
  readonly exchange: Exchange;
  readonly app: CompiledApp;
  #query: FieldValues | undefined = undefined;
  /** Cached: a runtime has no address for a connection that has ended. Null where there is no network. */
  #network: string | null | undefined = undefined;
  #forwarded: ForwardedValues | undefined = undefined;
  #now: Date | undefined = undefined;
  #givenNow: Date | undefined = undefined;
  /** Aborts with the exchange's signal, and where what follows the answer is ended. */
  #gone: AbortController | undefined = undefined;
  #context: RequestContext | undefined = undefined;
  /** What is set for its answer, if anything is. */
  parts: AnswerParts | undefined = undefined;

  constructor(app: CompiledApp, exchange: Exchange, acts: EndActs<RequestState>) {
    this.ending = new Ending(this, acts);
    figures.requests++;
    this.app = app;
    this.exchange = exchange;
    this.id = app.proxies?.passedOnId(exchange) ?? freshRequestId();
    this.method = exchange.method;
    this.target = exchange.target;
    const form = originForm(exchange.target);
    const question = form.indexOf("?");
    this.rawPath = question === -1 ? form : form.slice(0, question);
    this.search = question === -1 ? "" : form.slice(question + 1);
  }

  get span(): OpenSpan | undefined {
    return this.#context?.span;
  }
  /** Made on first use: a request that is not logged or traced needs no context. */
  get context(): RequestContext {
    return (this.#context ??= this.#newContext());
  }
  get ownsTurn(): boolean {
    return this.exchange.ownsTurn === true;
  }
  get scheme(): "http" | "https" {
    const proto = this.#forwardedValues()?.proto;
    return (proto ?? this.exchange.scheme) === "https" ? "https" : "http";
  }
  get host(): string | undefined {
    return (this.#forwardedValues()?.host ?? authorityOf(this.target) ?? this.exchange.lines("host")[0])?.toLowerCase();
  }
  get peer(): string {
    return this.exchange.peer;
  }
  get client(): string {
    return this.#forwardedValues()?.client ?? this.exchange.peer;
  }
  get network(): string | undefined {
    if (this.#network === undefined) this.#network = networkOfClient(this.client) ?? null;
    return this.#network ?? undefined;
  }
  get secure(): boolean {
    return this.scheme === "https";
  }
  get secureCookies(): boolean {
    if (this.secure) return true;
    return this.host === undefined || !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d*)?$/.test(this.host);
  }
  get now(): Date {
    return (this.#now ??= this.exchange.now ?? this.app.now?.() ?? new Date());
  }
  get givenNow(): Date {
    return (this.#givenNow ??= new Date(this.now));
  }
  get isStopping(): boolean {
    return this.app.isStopping;
  }
  get gone(): AbortSignal {
    return (this.#gone ??= abortingWith(this.exchange.gone)).signal;
  }
  get deadlineSignal(): AbortSignal | undefined {
    return this.deadline?.signal;
  }
  get timedOut(): Refusal | undefined {
    return this.ending.hasTimedOut ? timedOutRefusal : undefined;
  }
  get isAnswered(): boolean {
    return this.ending.at.isFrozen;
  }
  get isSent(): boolean {
    return this.ending.at.isAnswered;
  }
  get text(): string | undefined {
    return this.exchange.decode(this.reading?.bytes ?? noBytes);
  }
  get maxBody(): number {
    return this.app.maxBody;
  }
  get maxProblems(): number {
    return this.app.maxProblems;
  }
  get body(): BodySource | undefined {
    return this.reading === undefined ? this.exchange.body : this.reading.source;
  }
  get bytes(): Uint8Array {
    return this.reading?.bytes ?? noBytes;
  }

  lines(name: string): readonly string[] {
    return this.exchange.lines(name);
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.exchange.headers();
  }

  query(names: FieldNames): FieldValues {
    if (this.#query?.isOf(names) !== true) this.#query = new FieldValues(this.search, names);
    return this.#query;
  }

  cookie(name: string): string | undefined {
    for (const line of this.exchange.lines("cookie")) {
      const value = findCookie(line, name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** Whether a call that got `clientGone` rejected because the client disconnected. */
  isOfClientGone(thrown: unknown): boolean {
    return isOfSignal(this.#gone?.signal, thrown);
  }

  /** What follows the answer ends as soon as what an input checked is not valid any more. */
  endWithValidity(end: () => void): void {
    this.validity?.open(() => {
      end();
      this.#gone?.abort();
    });
  }

  /** Aborts `clientGone`, also for what reads it later. */
  left(): void {
    (this.#gone ??= new AbortController()).abort();
  }

  /** Whether a call rejected because the client disconnected or the deadline passed, which is no fault. */
  isOfEnd(thrown: unknown): boolean {
    return this.isOfClientGone(thrown) || this.deadline?.isOwn(thrown) === true;
  }

  /** Its work has a deadline from now on. */
  startDeadline(deadline: RequestDeadline): void {
    this.deadline = deadline;
    this.enterDeadline();
  }

  enterDeadline(): void {
    if (this.#context !== undefined) this.#context.deadline = this.deadline;
  }

  /** What follows the answer has no deadline. */
  leaveDeadline(): void {
    if (this.#context !== undefined) this.#context.deadline = undefined;
  }

  /** The work so far keeps its deadline, which has passed; the work from now on has none. */
  splitContext(): void {
    this.#context = this.#context?.split();
  }

  #newContext(): RequestContext {
    const context = new RequestContext(this.id, this.exchange);
    if (this.deadline !== undefined && !this.ending.hasTimedOut) context.deadline = this.deadline;
    return context;
  }

  openBody<Reader extends OpenBody>(
    make: (source: BodySource | undefined, holder: BodyHolder) => Reader,
    until: "handled" | "replied" = "handled",
  ): Reader {
    if (this.reading === undefined) throw internalRefusal("a body was read by an input that declares none");
    return this.reading.open(make, until);
  }

  declare(codes: readonly Code[]): void {
    this.answerParts().codes.push(...codes);
  }

  /**
   * Whether a refusal's code is declared: by the framework, by the route or one of its inputs, or by the app where the route
   * did not make the refusal.
   */
  declares(name: string, isRoutes: boolean): boolean {
    const declared = (isRoutes ? this.route?.codes : undefined) ?? this.app.codes;
    return (
      frameworkNames.has(name) || declared.has(name) || this.parts?.codes.some((code) => code.name === name) === true
    );
  }

  resource(name: string): unknown {
    return this.app.supplied.get(name);
  }

  setCookie(cookie: SetCookie): void {
    if (!this.#isLateFor(additions)) this.answerParts().cookies.push(cookie);
  }

  addHeader(name: string, value: string): void {
    if (!this.#isLateFor(additions)) this.answerParts().headers.push([name, value]);
  }

  changeAnswer(change: (answer: Answer) => Answer): void {
    if (!this.#isLateFor(additions)) this.answerParts().change = change;
  }

  sendEarlyHints(links: readonly string[]): void {
    if (!this.#isLateFor("sent early hints") && links.length > 0) this.exchange.sendEarlyHints?.(links);
  }

  later(): TaskList {
    return this.ending;
  }

  acquires(value: Promise<unknown>): void {
    this.ending.acquires(value);
  }

  hold(held: Held): void {
    this.ending.hold(held);
  }

  guardHandler(guard: HandlerGuard): void {
    const { ending, route, reading } = this;
    if (ending.guard !== undefined) throw new Error(`${route?.route.pattern} has two idempotency keys`);
    reading?.guarded();
    ending.guard = guard;
  }

  lendPlace(): void {
    this.app.overload?.lendPlace(this);
  }

  awaitPlace(): Promise<void> | undefined {
    return this.app.overload?.awaitPlace(this);
  }

  freeze(isCut: boolean): void {
    this.reading?.freeze(isCut);
  }

  /** Called once it is logged and measured: work that outlives it, as an alarm, holds its context and nothing more. */
  settle(): void {
    figures.requests--;
    if (this.place !== "none") this.app.overload?.leavePlace(this);
    this.#context?.settle();
  }

  /** Made on first use. */
  answerParts(): AnswerParts {
    return (this.parts ??= new AnswerParts());
  }

  /** Whether its answer is made. A warn line then says what the application did for nothing. */
  #isLateFor(did: string): boolean {
    const { isFrozen } = this.ending.at;
    if (isFrozen) this.warn(`${did} after its answer had gone, which changed nothing`);
    return isFrozen;
  }

  /** Logs a bug of the application that does not affect the client. */
  warn(did: string): void {
    const message = `${this.route?.route.pattern} ${did}`;
    log({ level: "warn", source: "framework.http", message, fields: {}, context: this.context });
  }

  /** The beginning of the path as a trusted proxy was asked for it, which it removed; empty where none did. */
  get prefix(): string {
    return this.#forwardedValues()?.prefix ?? "";
  }

  /** What a trusted proxy forwarded; undefined for an app without trusted proxies. */
  #forwardedValues(): ForwardedValues | undefined {
    const { proxies } = this.app;
    if (proxies === undefined) return undefined;
    return (this.#forwarded ??= proxies.trusts(this.peer)
      ? proxies.forwardedValues((name) => this.lines(name))
      : nothingForwarded);
  }
}
