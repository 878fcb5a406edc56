import type { Answer } from "../answers/answer.ts";
import { knownMethods } from "../http/target.ts";
import type { LogEntry, LogFields, Level, LogContext, OpenSpan } from "../logging/entry.ts";
import { escaped, jsonContext, timestamp } from "../logging/line.ts";
import { isAnyOn, isOn, log, write } from "../logging/writer.ts";
import type { Refusal } from "../refusals.ts";
import { figures, measure } from "../telemetry/measure.ts";
import { registeredTracer } from "../telemetry/span.ts";
import { codeOf, replacedCode } from "./compile.ts";
import type { AccessTexts, Inside } from "./compile.ts";
import { levelOf, raisedOf } from "./failures.ts";
import type { RequestState } from "./request.ts";

/** A request's access line (contract 2.12). Every request has one, so its JSON is put together by hand. */
class AccessEntry implements LogEntry {
  readonly level: Level;
  readonly source = "framework.http";
  readonly #asked: RequestState;
  readonly #status: number;
  readonly #code: string | undefined;
  readonly #replaced: string | undefined;
  readonly #size: number;
  /** Nanoseconds: how long the answer took to make, and not to write. */
  readonly #duration: number;

  constructor(level: Level, asked: RequestState, { status, refused }: Answer, size: number) {
    this.level = level;
    this.#asked = asked;
    this.#status = status;
    this.#code = codeOf(asked.inside, refused);
    this.#replaced = replacedCode(asked.inside, refused);
    this.#size = size;
    this.#duration = Math.round((performance.now() - asked.startedAt) * 1e6);
  }

  get context(): LogContext {
    return this.#asked.context;
  }

  get message(): string {
    return `${this.#asked.method} ${this.#asked.path} ${this.#status}`;
  }

  get fields(): LogFields {
    const { method, path, route } = this.#asked;
    return {
      "http.request.method": method,
      "url.path": path,
      "http.response.status_code": this.#status,
      duration: this.#duration,
      "http.response.body.size": this.#size,
      "http.route": route?.route.pattern,
      "framework.refusal.code": this.#code,
      "framework.refusal.replaced": this.#replaced,
    };
  }

  json(at: number): string {
    const { path, context } = this.#asked;
    const { level, status, method, code, route } = this.#texts();
    const shown = escaped(path);
    return (
      `{"timestamp":"${timestamp(at)}${level}${shown}${status}${jsonContext(context)}${method}${shown}${code}` +
      `${this.#duration},"http.response.body.size":${this.#size}${route}`
    );
  }

  /** A route's are made again only where its answers change their status: they are half of the pieces of a line. */
  #texts(): AccessTexts {
    const { method, route } = this.#asked;
    if (this.#code !== undefined || route === undefined || method !== route.route.method) return this.#textsAnew();
    const { accessTexts } = route;
    if (accessTexts?.for === this.#status) return accessTexts;
    return (route.accessTexts = this.#textsAnew());
  }

  #textsAnew(): AccessTexts {
    const status = this.#status;
    const method = escaped(this.#asked.method);
    const pattern = this.#asked.route?.route.pattern;
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

function member(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":"${escaped(value)}"`;
}

const source = "framework.http";

/** Logs that a request was answered, at its route's level. */
export function logAccess(asked: RequestState, answer: Answer, size: number): void {
  if (!isAnyOn()) return;
  const level = asked.route?.accessLevel ?? "info";
  if (isOn(level, source)) write(new AccessEntry(level, asked, answer, size));
}

/** A refusal's detail, which only the log is told. */
export function logRefusal(asked: RequestState, refusal: Refusal): void {
  const { code, detail } = refusal;
  const message = `${asked.method} ${asked.path}: ${code.name}: ${detail}`;
  line(asked, levelOf(refusal), message, refusalFields(asked, refusal));
}

/** The details of what was refused inside of middleware that answered something else. */
export function logReplaced(asked: RequestState, { refused }: Inside, answer: Answer): void {
  for (const refusal of refused) {
    if (refusal !== answer.refused && refusal.detail !== undefined) logRefusal(asked, refusal);
  }
}

/**
 * A raise: its kind and where it came from. What it said only where that is known to hold no value: in what refuses, and in
 * what is wrong with an answer.
 */
export function logRaise(asked: RequestState, refusal: Refusal, thrown: unknown): void {
  const raised = raisedOf(thrown);
  if (raised === undefined) return;
  const why = refusal.detail ?? "it raised";
  line(asked, levelOf(refusal), `${asked.method} ${asked.path}: ${refusal.code.name}: ${why}`, {
    ...refusalFields(asked, refusal),
    "error.kind": raised.kind,
    "error.stack": raised.stack,
  });
}

/** A raise of what only looks on, which changes nothing of the answer. */
export function logFault(asked: RequestState, what: string, thrown: unknown): void {
  const raised = raisedOf(thrown);
  line(asked, "error", `${asked.method} ${asked.path}: ${what} raised`, {
    "url.path": asked.path,
    "error.kind": raised?.kind,
    "error.stack": raised?.stack,
  });
}

/** What the application answered and had not declared: a bug. */
export function logUndeclared(asked: RequestState, undeclared: string): void {
  line(asked, "error", undeclared, { "url.path": asked.path, "http.route": asked.route?.route.pattern });
}

function refusalFields(asked: RequestState, refusal: Refusal): LogFields {
  return {
    "http.request.method": asked.method,
    "url.path": asked.path,
    "framework.refusal.code": refusal.code.name,
    "http.route": asked.route?.route.pattern,
  };
}

function line(asked: RequestState, level: Level, message: string, fields: LogFields): void {
  log({ level, source, message, fields, context: asked.context });
}

/**
 * Opens a request's span where one is recorded. What method a client makes up is not a name of its own (OpenTelemetry's
 * semantic conventions for HTTP).
 */
export function openSpan(asked: RequestState): void {
  const tracer = asked.app.tracer ?? registeredTracer(asked.otel);
  if (tracer === undefined) return;
  const { method } = asked;
  const isKnown = knownMethods.has(method);
  asked.context.span = tracer.open(asked.context.trace, isKnown ? method : "HTTP", {
    "http.request.method": isKnown ? method : "_OTHER",
    "http.request.method_original": isKnown ? undefined : method,
    "url.path": asked.path,
    "url.scheme": asked.scheme,
  });
}

/** Ends it: what was answered, and by which route. It is told of no header, query, body or parameter. */
export function endSpan(asked: RequestState, span: OpenSpan, { status, refused }: Answer, size: number): void {
  const pattern = asked.route?.route.pattern;
  if (pattern !== undefined) {
    span.rename(`${knownMethods.has(asked.method) ? asked.method : "HTTP"} ${pattern}`);
    span.set("http.route", pattern);
  }
  span.set("http.response.status_code", status);
  span.set("http.response.body.size", size);
  const code = codeOf(asked.inside, refused);
  if (code !== undefined) span.set("framework.refusal.code", code);
  const replaced = replacedCode(asked.inside, refused);
  if (replaced !== undefined) span.set("framework.refusal.replaced", replaced);
  if (status >= 500) {
    span.set("error.type", String(status));
    span.fail(String(status));
  }
  span.end();
}

/** Takes down what a request was answered with and how long that took, where anybody measures. */
export function measureRequest(asked: RequestState, { status }: Answer): void {
  if (asked.isCounted) figures.requests--;
  asked.isCounted = false;
  if (!asked.isMeasured) return;
  const route = asked.route?.route.pattern;
  measure("served", (performance.now() - asked.startedAt) / 1000, {
    "http.request.method": knownMethods.has(asked.method) ? asked.method : "_OTHER",
    "url.scheme": asked.scheme,
    ...(route === undefined ? {} : { "http.route": route }),
    "http.response.status_code": status,
    ...(status >= 500 ? { "error.type": String(status) } : {}),
  });
}
