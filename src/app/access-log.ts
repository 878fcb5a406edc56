import type { Answer } from "../exchange/answer.ts";
import { isThenable } from "../async.ts";
import type { StreamEnd, StreamRequest } from "../events/stream.ts";
import { knownMethods } from "../http/target.ts";
import type { RequestEnd } from "../inputs/request.ts";
import { current, within } from "../logging/context.ts";
import { logRaised, noteRaised, raisedFields } from "../logging/raised.ts";
import { escaped, jsonContext, jsonLine, timestamp } from "../logging/entry.ts";
import type { Level, LogContext, LogEntry, LogFields, OpenSpan } from "../logging/entry.ts";
import { isAnyOn, isAskedFor, isOn, log, write } from "../logging/writer.ts";
import { goneRefusal, isRefusal, stoppedRefusal } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { placeOfRoute } from "../routing/route.ts";
import { measure } from "../telemetry/measure.ts";
import { registeredTracer } from "../telemetry/span.ts";
import { dropBodies } from "./cancel-body.ts";
import type { AccessTexts, FailedRequest, Inside } from "./compile.ts";
import { failureOf, levelOf } from "./failures.ts";
import type { RaisedFailure } from "./failures.ts";
import type { RequestState } from "./request.ts";
import type { SocketRequest } from "../exchange/transport.ts";

const source = "framework.http";

/** A request's access line (contract 2.12). Each request has one, so its JSON is concatenated by hand. */
class AccessEntry implements LogEntry {
  readonly level: Level;
  readonly source = source;
  readonly #request: RequestState;
  readonly #status: number;
  readonly #code: string | undefined;
  readonly #replaced: string | undefined;
  readonly #size: number;
  /** Nanoseconds that the answer took to make, without writing it; undefined where no source was on when it began. */
  readonly #duration: number | undefined;

  constructor(level: Level, request: RequestState, { status, refused }: Answer, size: number) {
    this.level = level;
    this.#request = request;
    this.#status = status;
    this.#code = codeOf(request.inside, refused);
    this.#replaced = replacedCode(request.inside, refused);
    this.#size = size;
    const { startedAt } = request;
    this.#duration = startedAt === 0 ? undefined : Math.round((performance.now() - startedAt) * 1e6);
  }

  get context(): LogContext {
    return this.#request.context;
  }

  get message(): string {
    return `${this.#request.method} ${this.#request.rawPath} ${this.#status}`;
  }

  get fields(): LogFields {
    const { method, rawPath, route } = this.#request;
    return {
      "http.request.method": method,
      "url.path": rawPath,
      "url.scheme": this.#request.scheme,
      "http.response.status_code": this.#status,
      duration: this.#duration,
      "http.response.body.size": this.#size,
      "http.route": route?.route.pattern,
      "framework.refusal.code": this.#code,
      "framework.refusal.replaced": this.#replaced,
    };
  }

  json(at: number): string {
    const { rawPath, context, scheme } = this.#request;
    if (context.tags !== undefined) return jsonLine(this, at);
    const { level, status, method, code, route } = this.#texts();
    const shown = escaped(rawPath);
    return (
      `{"timestamp":"${timestamp(at)}${level}${shown}${status}${jsonContext(context)}${method}${shown}","url.scheme":"${scheme}${code}` +
      `${this.#duration ?? "null"},"http.response.body.size":${this.#size}${route}`
    );
  }

  /** Cached by route and status: they are half of the parts of a line. */
  #texts(): AccessTexts {
    const { method, route } = this.#request;
    if (this.#code !== undefined || route === undefined || method !== route.route.method) return this.#textsAnew();
    const { accessTexts } = route;
    if (accessTexts?.for === this.#status) return accessTexts;
    return (route.accessTexts = this.#textsAnew());
  }

  #textsAnew(): AccessTexts {
    const status = this.#status;
    const method = escaped(this.#request.method);
    const pattern = this.#request.route?.route.pattern;
    const route = pattern === undefined ? "" : `,"http.route":${JSON.stringify(pattern)}`;
    const code = member("framework.refusal.code", this.#code) + member("framework.refusal.replaced", this.#replaced);
    return {
      for: status,
      level: `","level":"${this.level}","logger.name":"framework.http","message":"${method} `,
      status: ` ${status}"`,
      method: `,"http.request.method":"${method}","url.path":"`,
      code: `","http.response.status_code":${status},"duration":`,
      route: `${route}${code}}`,
    };
  }
}

/** The code for the line and the span: the answer's, or the one inside where middleware answered without a refusal. */
function codeOf(inside: Inside | undefined, refused: Refusal | undefined): string | undefined {
  return (refused ?? inside?.refused[0])?.code.name;
}

/** The code inside, where middleware answered with another one. */
function replacedCode(inside: Inside | undefined, refused: Refusal | undefined): string | undefined {
  if (refused === undefined || inside === undefined) return undefined;
  return inside.refused.find((other) => other !== refused && other.code.name !== refused.code.name)?.code.name;
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":"${escaped(value)}"`;
}

/** Whether its lines of what went well are not written: a test shows its own failures. */
function isQuiet({ exchange }: RequestState): boolean {
  return exchange.isTest === true && !isAskedFor(source);
}

/** Writes the access line, at its route's level. */
export function logAccess(request: RequestState, answer: Answer, size: number): void {
  if (!isAnyOn()) return;
  const level = request.route?.accessLevel ?? "info";
  if (isOn(level, source) && !isQuiet(request)) write(new AccessEntry(level, request, answer, size));
}

/** Writes a refusal's detail, which only the log gets. */
export function logRefusal(request: RequestState, refusal: Refusal): void {
  const { code, detail } = refusal;
  const message = `${request.method} ${request.rawPath}: ${code.name}: ${detail}`;
  line(request, levelOf(refusal), message, refusalFields(request, refusal));
}

/** Writes the details of refusals that middleware replaced. */
export function logReplaced(request: RequestState, { refused }: Inside, answer: Answer): void {
  for (const refusal of refused) {
    if (refusal !== answer.refused && refusal.detail !== undefined) logRefusal(request, refusal);
  }
}

/**
 * Writes which exception it is and where, and gives it to `onError`. Its message may quote a client, so only the detail of its
 * refusal is written.
 */
export function logRaise(request: RequestState, refusal: Refusal, thrown: unknown): void {
  if (isRefusal(thrown)) return;
  const why = refusal.detail ?? "it raised";
  line(request, levelOf(refusal), `${request.method} ${request.rawPath}: ${refusal.code.name}: ${why}`, {
    ...refusalFields(request, refusal),
    ...raisedIn(request, thrown),
  });
  noteRaised(request.context.span, thrown);
  reportError(request, thrown, "answer");
}

/** Writes an exception that does not change the answer. */
export function logFault(request: RequestState, what: string, thrown: unknown): void {
  line(request, "error", `${request.method} ${request.rawPath}: ${what} raised`, {
    "url.path": request.rawPath,
    ...(isRefusal(thrown) ? {} : raisedIn(request, thrown)),
  });
  reportError(request, thrown, "answer");
}

/** Writes what a task of `after` raised, unless the client's leaving ended it. */
export function logAfter(request: RequestState, thrown: unknown): void {
  if (request.isOfClientGone(thrown)) return;
  const { level, why, fields } = failureOf(thrown, declaredAt(request));
  line(request, level, `${request.method} ${request.rawPath}: its work after the answer raised${why}`, {
    "url.path": request.rawPath,
    "http.route": request.route?.route.pattern,
    ...fields,
  });
  reportError(request, thrown, "after");
}

/** The fields of an exception. The message is for `onError`, and an application without one gets that as a hint. */
function raisedIn(request: RequestState, thrown: unknown): LogFields {
  const fields = raisedFields(thrown, declaredAt(request));
  return request.app.onError === undefined ? { ...fields, "error.hint": unreported } : fields;
}

const unreported = "the option onError gets the error itself, with its message";

function declaredAt({ route }: RequestState): () => string | undefined {
  return () => route && placeOfRoute(route.route);
}

/** Writes that the release of an input takes too long: the next one runs without waiting for it. */
export function logHanging(request: RequestState, ms: number): void {
  const message = `${request.method} ${request.rawPath}: the release of an input has not ended in ${ms / 1000}s`;
  line(request, "warn", message, { "url.path": request.rawPath, "http.route": request.route?.route.pattern });
}

/** Writes that a handler answered after the deadline of its request. */
export function logLate(request: RequestState, status: number): void {
  const { startedAt } = request;
  const ms = startedAt === 0 ? undefined : Math.round(performance.now() - startedAt);
  const message = `${request.method} ${request.rawPath}: its handler answered ${status} after its deadline, which is not sent`;
  const fields = { "url.path": request.rawPath, "http.route": request.route?.route.pattern };
  line(request, "warn", message, { ...fields, "framework.late.status": status, "framework.late.after_ms": ms });
}

/** Gives an error to the application's `onError`, if it has one. A refusal is an answer and no error. Never throws. */
function reportError(request: RequestState, thrown: unknown, during: FailedRequest["during"]): void {
  const { onError } = request.app;
  if (onError === undefined || isRefusal(thrown)) return;
  try {
    const failed = failedRequest(request, during);
    // In the context of the work that threw, which `within` would leave for that of the request.
    const isWithin = current()?.requestId === request.id;
    const reporting = isWithin ? onError(thrown, failed) : within(request, () => onError(thrown, failed));
    if (!isThenable(reporting)) return;
    const done = Promise.resolve(reporting).then(undefined, (raised: unknown) => logOwn(request, raised));
    request.exchange.keepAlive?.(done);
  } catch (raised) {
    logOwn(request, raised);
  }
}

function failedRequest(request: RequestState, during: FailedRequest["during"]): FailedRequest {
  const { id, method, rawPath, match, context } = request;
  const { spanId = context.spanId } = innerContext(request);
  return { id, method, rawPath, route: match?.route.route, traceId: context.traceId, spanId, during };
}

function logOwn({ context }: RequestState, raised: unknown): void {
  logRaised("onError raised", raised, context);
}

/** Writes that the application answered what it had not declared, which is a bug. */
export function logUndeclared(request: RequestState, undeclared: string): void {
  line(request, "error", undeclared, { "url.path": request.rawPath, "http.route": request.route?.route.pattern });
}

function refusalFields(request: RequestState, refusal: Refusal): LogFields {
  return {
    "http.request.method": request.method,
    "url.path": request.rawPath,
    "framework.refusal.code": refusal.code.name,
    "http.route": request.route?.route.pattern,
  };
}

function line(request: RequestState, level: Level, message: string, fields: LogFields): void {
  log({ level, source, message, fields, context: innerContext(request) });
}

/** The context of the request's work that runs now, with its tags and its span; otherwise that of the request. */
function innerContext(request: RequestState): LogContext {
  const inner = current();
  return inner?.requestId === request.id ? inner : request.context;
}

/**
 * Opens a request's span, if there is a tracer. A method that is not known is `HTTP` in its name (OpenTelemetry's semantic
 * conventions for HTTP).
 */
export function openSpan(request: RequestState): void {
  const tracer = request.app.tracer ?? registeredTracer(request.otel);
  if (tracer === undefined) return;
  const { method } = request;
  const isKnown = knownMethods.has(method);
  request.context.span = tracer.open(request.context.trace, isKnown ? method : "HTTP", {
    "http.request.method": isKnown ? method : "_OTHER",
    "http.request.method_original": isKnown ? undefined : method,
    "url.path": request.rawPath,
    "url.scheme": request.scheme,
  });
}

/** Ends the span with the answer and its route. It gets no header, query, body or parameter. */
export function endSpan(request: RequestState, span: OpenSpan, { status, refused }: Answer, size: number): void {
  const pattern = request.route?.route.pattern;
  if (pattern !== undefined) {
    span.rename(`${knownMethods.has(request.method) ? request.method : "HTTP"} ${pattern}`);
    span.set("http.route", pattern);
  }
  span.set("http.response.status_code", status);
  span.set("http.response.body.size", size);
  const code = codeOf(request.inside, refused);
  if (code !== undefined) span.set("framework.refusal.code", code);
  const replaced = replacedCode(request.inside, refused);
  if (replaced !== undefined) span.set("framework.refusal.replaced", replaced);
  if (status >= 500) {
    span.set("error.type", String(status));
    span.fail(String(status));
  }
  span.end();
}

/** Records the answer's duration, where metrics are recorded. */
export function measureRequest(request: RequestState, { status }: Answer): void {
  if (!request.isMeasured) return;
  const route = request.route?.route.pattern;
  measure("served", (performance.now() - request.startedAt) / 1000, {
    "http.request.method": knownMethods.has(request.method) ? request.method : "_OTHER",
    "url.scheme": request.scheme,
    ...(route === undefined ? {} : { "http.route": route }),
    "http.response.status_code": status,
    ...(status >= 500 ? { "error.type": String(status) } : {}),
  });
}

/** How a stream ends by a bug of the application, which leaves its response incomplete. */
const faults: { readonly [End in StreamEnd]?: string } = {
  short: "sent less than the length it was given, so its connection is closed",
  long: "sent more than the length it was given, so its connection is closed",
  failed: "failed, so its connection is closed",
};

/** How the request ends with its stream; `failed` for any other end. */
const requestEnds: { readonly [End in StreamEnd]?: RequestEnd["how"] } = {
  finished: "answered",
  "client gone": "client gone",
  "client stopped reading": "client gone",
  "server stopped": "stopped",
  stopped: "stopped",
};

/** How a request whose client is gone ends, and what follows its answer; and with what it is answered. */
interface GoneEnds {
  readonly request: "client gone" | "stopped";
  readonly stream: "client gone" | "server stopped";
  readonly refusal: Refusal;
}

const clientLeft: GoneEnds = { request: "client gone", stream: "client gone", refusal: goneRefusal };
const serverCut: GoneEnds = { request: "stopped", stream: "server stopped", refusal: stoppedRefusal };

/** Its client is gone because it has left, or because the server has cut it. */
export function endsOfGone({ exchange }: RequestState): GoneEnds {
  return exchange.isCut === true ? serverCut : clientLeft;
}

/** The ends that the end of an input's validity makes: the application is to read that access has ended. */
const endsByValidity: ReadonlySet<string> = /* @__PURE__ */ new Set(["finished", "closed", "server stopped"]);

/** How an end is logged. */
function loggedEnd(how: string, validity: RequestState["validity"]): string {
  if (validity?.hasLapsed === true && endsByValidity.has(how)) return "access ended";
  return how === "stopped" ? "server stopped" : how;
}

const nothingRaised: RaisedFailure = { level: "error", why: "", fields: {} };

/** Runs the producer of a streamed body in its request's context, and logs how the stream ended. */
export class StreamLog implements StreamRequest {
  readonly #request: RequestState;
  readonly #startedAt = performance.now();

  constructor(request: RequestState) {
    this.#request = request;
  }

  run<A>(work: () => A): A {
    return within(this.#request, work);
  }

  undeclared(did: string): void {
    const request = this.#request;
    const what = `${request.route?.route.pattern ?? request.rawPath} ${did}`;
    request.exchange.undeclared?.(what);
    logUndeclared(request, what);
  }

  producing(over: Promise<void>): void {
    this.#request.ending.producing = over;
  }

  ended(end: StreamEnd, thrown?: unknown): void {
    // The client may have gone before the stream began, or before its listener knows.
    const how = end === "failed" && this.#request.isOfClientGone(thrown) ? endsOfGone(this.#request).stream : end;
    const { rawPath, context, ending, deadline, validity } = this.#request;
    deadline?.stop();
    validity?.over();
    dropBodies(this.#request);
    this.#request.reading?.close();
    // To its runtime the response is whole.
    if (how === "stopped") this.#request.left();
    ending.over(requestEnds[how] ?? "failed");
    const fault = faults[how];
    if (fault !== undefined) {
      if (how === "failed") reportError(this.#request, thrown, "stream");
      const { level, why, fields } = how === "failed" ? failureOf(thrown, declaredAt(this.#request)) : nothingRaised;
      log({
        level,
        source,
        message: `stream on ${rawPath} ${fault}${why}`,
        fields: { "url.path": rawPath, ...fields },
        context,
      });
      return;
    }
    if (isQuiet(this.#request)) return;
    const duration = Math.round((performance.now() - this.#startedAt) * 1e6);
    const shown = loggedEnd(how, validity);
    const fields = { "url.path": rawPath, duration, "framework.stream.ended": shown };
    log({ level: "info", source, message: `stream on ${rawPath} ended: ${shown}`, fields, context });
  }
}

/** The log field with the end of a connection, by its kind. */
const endFields = { socket: "framework.websocket.ended", takeover: "framework.takeover.ended" } as const;

/** Runs the handler of a socket or a takeover in its request's context, and logs how the connection ended. */
export class ConnectionLog implements SocketRequest {
  readonly #request: RequestState;
  readonly #kind: keyof typeof endFields;
  readonly #startedAt = performance.now();
  #requestEnd: RequestEnd["how"] = "answered";

  constructor(request: RequestState, kind: keyof typeof endFields) {
    this.#request = request;
    this.#kind = kind;
  }

  run<A>(work: () => A): A {
    return within(this.#request, work);
  }

  warn(message: string): void {
    this.#log("warn", `${this.#request.route?.route.pattern} ${message}`, {});
  }

  raised(thrown: unknown, lost?: StreamEnd): boolean {
    if (lost !== undefined || this.#request.isOfEnd(thrown)) {
      this.#requestEnd = lost === undefined ? endsOfGone(this.#request).request : (requestEnds[lost] ?? "failed");
      return false;
    }
    this.#request.ending.went("failed");
    const { level, why, fields } = failureOf(thrown, declaredAt(this.#request));
    this.#log(level, `${this.#kind} on ${this.#request.rawPath}: its handler raised${why}`, fields);
    reportError(this.#request, thrown, this.#kind);
    return true;
  }

  expires(end: () => void): void {
    this.#request.deadline?.continues(end);
  }

  lapses(end: () => void): void {
    this.#request.endWithValidity(end);
  }

  ended(how: string, closeCode?: number): void {
    const { rawPath, ending, deadline, validity } = this.#request;
    deadline?.stop();
    validity?.over();
    ending.over(this.#requestEnd);
    if (isQuiet(this.#request)) return;
    const duration = Math.round((performance.now() - this.#startedAt) * 1e6);
    const shown = loggedEnd(how, validity);
    this.#log("info", `${this.#kind} on ${rawPath} ended: ${shown}`, {
      duration,
      [endFields[this.#kind]]: shown,
      ...(closeCode === undefined ? {} : { "framework.websocket.close_code": closeCode }),
    });
  }

  #log(level: Level, message: string, fields: LogFields): void {
    const { rawPath, context } = this.#request;
    log({ level, source, message, fields: { "url.path": rawPath, ...fields }, context });
  }
}
