import { current } from "./context.ts";
import type { LogContext, LogFields, OpenSpan } from "./entry.ts";
import { log } from "./writer.ts";

/** Which error a thrown value is. */
interface Which {
  readonly kind: string;
  /** As `ENOENT`; undefined where it has none, or one that may be data. */
  readonly code: string | undefined;
}

/** What the log gets of a thrown value: its kind, its code and its frames, never its message. */
export interface Raised extends Which {
  readonly stack: string;
  /** Its first cause that has a code, among the errors of an `AggregateError` too; without one, its first cause. */
  readonly cause: Which | undefined;
  /** The nearest frame of the application; undefined where the stack has none, as for what the runtime rejects with later. */
  readonly at: string | undefined;
}

/** Whether a thrown value is of a class. Any value may be thrown, also a `Proxy` that throws when its prototype is read. */
export function isA<A>(kind: abstract new (...args: never) => A, thrown: unknown): thrown is A {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** What the log gets of a thrown value. A message may quote anything, so its lines are removed from the stack. */
export function describeRaised(thrown: unknown): Raised {
  if (!isError(thrown)) return { kind: typeof thrown, code: undefined, stack: "", cause: undefined, at: undefined };
  const stack = textOr(() => frames(thrown.stack as string, String(thrown.message)), "");
  return {
    ...whichOf(thrown),
    stack,
    cause: causeOf(thrown),
    at: stack.split("\n").find(isOwnFrame)?.slice("at ".length),
  };
}

/**
 * The log fields of a thrown value.
 *
 * @param place Where it was called from, for an error whose stack has no frame of the application.
 */
export function raisedFields(thrown: unknown, place?: () => string | undefined): LogFields {
  const raised = describeRaised(thrown);
  return { ...codesOf(raised), "error.at": raised.at ?? place?.(), "error.stack": raised.stack };
}

/** Those that say which error it is, and not where: its frames are those of another library. */
export function raisedCodes(thrown: unknown): LogFields {
  return codesOf(describeRaised(thrown));
}

function codesOf({ kind, code, cause }: Raised): LogFields {
  return { "error.kind": kind, "error.code": code, "error.cause.kind": cause?.kind, "error.cause.code": cause?.code };
}

/** The same as attributes of a span, under OpenTelemetry's name of the kind. A span has no stack. */
export function raisedAttributes(thrown: unknown): { readonly [name: string]: string } {
  const { "error.kind": kind, "error.stack": _, ...others } = raisedFields(thrown);
  const attributes = Object.entries({ "exception.type": kind, ...others });
  return Object.fromEntries(attributes.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Sets them on a span. */
export function noteRaised(span: OpenSpan | undefined, thrown: unknown): void {
  if (span === undefined) return;
  for (const [name, value] of Object.entries(raisedAttributes(thrown))) span.set(name, value);
}

function whichOf(thrown: unknown): Which {
  if (!isError(thrown)) return { kind: typeof thrown, code: undefined };
  const code = memberOf(thrown, "code");
  return { kind: className(thrown), code: typeof code === "string" && isCode(code) ? code : fetchCodeOf(thrown) };
}

/**
 * Codes for errors of `fetch` that have none: by the last words of their messages, which are the runtime's own. Deno has no code at all,
 * and workerd has one sentence for a connection that was refused, reset or cut.
 */
const fetchCodes: readonly (readonly [words: RegExp, code: string])[] = [
  [/: tcp connect error: Connection refused \(os error \d+\)$/, "ECONNREFUSED"],
  [/: connection closed before message completed$|^error reading a body from connection$/, "ECONNRESET"],
  [/: dns error: [\w :-]+$/, "ENOTFOUND"],
  [/^Network connection lost\.$/, "CONNECTION_LOST"],
  // Fetch Standard §2.9, of Node and of Deno.
  [/^bad port$|^Fetch failed: Requests to port \d+ are blocked$/, "BAD_PORT"],
];

function fetchCodeOf(thrown: Error): string | undefined {
  const message = memberOf(thrown, "message");
  if (typeof message !== "string") return undefined;
  const end = message.slice(-120);
  return fetchCodes.find(([words]) => words.test(end))?.[1];
}

/** A library may name a class by data: only a short identifier is written, as a class in a program has. */
const identifier = /^[A-Za-z_$][\w$]{0,63}$/;

/** Any program may set a name, and a minifier keeps it: only one that ends as the names of classes of errors do is written. */
const nameOfError = /^[A-Z][A-Za-z0-9]{0,53}(?:Error|Exception)$/;

/** Names of classes that say nothing: what a minifier leaves, and the two whose errors differ by `name`. */
const vague = /^(?:[\w$]{1,2}|Error|DOMException)$/;

function className(thrown: Error): string {
  const name = textOr(() => thrown.constructor.name, "Error");
  const kind = identifier.test(name) ? name : "Error";
  if (!vague.test(kind)) return kind;
  const own = memberOf(thrown, "name");
  return typeof own === "string" && nameOfError.test(own) ? own : kind;
}

/** Codes of Node, undici, OpenSSL and servers; those of PostgreSQL begin with a class of its appendix A, as no other digits do. */
const codes = [/^[A-Z][A-Z0-9_]{1,39}$/, /^(?:0[0-389ABFLPZ]|2[0-8BDF]|3[489BDF]|4[024]|5[34578])[0-9A-Z]{3}$/];

function isCode(code: string): boolean {
  return codes.some((form) => form.test(code));
}

/** How many causes are looked at: a chain of them may be a circle. */
const maxCauses = 8;

function causeOf(thrown: unknown): Which | undefined {
  let first: Which | undefined;
  const causes = [...innerOf(thrown)];
  for (let at = 0; at < causes.length && at < maxCauses; at++) {
    const which = whichOf(causes[at]);
    if (which.code !== undefined) return which;
    first ??= which;
    // The causes of this one before the other errors of an `AggregateError`.
    causes.splice(at + 1, 0, ...innerOf(causes[at]));
  }
  return first;
}

/** The cause of an error, or the errors of an `AggregateError`. */
function innerOf(thrown: unknown): readonly unknown[] {
  if (!isError(thrown)) return [];
  const cause = memberOf(thrown, "cause");
  if (cause !== undefined && cause !== null) return [cause];
  const errors = memberOf(thrown, "errors");
  if (!Array.isArray(errors)) return [];
  const first = Array.from({ length: maxCauses }, (_, at) => memberOf(errors, at));
  return first.filter((error) => error !== undefined);
}

// Also an error of another realm (`vm`, Jest), whose class is another one.
function isError(thrown: unknown): thrown is Error {
  return isA(Error, thrown) || textOr(() => Object.prototype.toString.call(thrown), "") === "[object Error]";
}

/** A member of what was thrown; undefined where it cannot be read. */
function memberOf(thrown: unknown, name: "cause" | "errors" | "message" | "name" | "code" | number): unknown {
  try {
    return (thrown as { readonly [member: string]: unknown } | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

/** How many errors are looked at: a program may make one that is its own cause. */
const maxErrors = 100;

/**
 * Whether a call rejected because of a signal that has aborted. `fetch` rejects with its reason, and a call of Node's with an
 * `AbortError` whose cause it is. A controller of the application's that follows the signal has a reason of its own: any `AbortError`
 * is then of the signal. Each of an `AggregateError`, such as that of `Promise.any`, must be.
 */
export function isOfSignal(signal: AbortSignal | undefined, thrown: unknown): boolean {
  return signal?.aborted === true && isOfReason(signal.reason, thrown, { left: maxErrors });
}

function isOfReason(reason: unknown, thrown: unknown, looked: { left: number }): boolean {
  if (thrown === reason || isAbortError(thrown)) return true;
  if (typeof thrown !== "object" || thrown === null || looked.left-- <= 0) return false;
  const errors = memberOf(thrown, "errors");
  if (Array.isArray(errors) && errors.length > 0) return errors.every((one) => isOfReason(reason, one, looked));
  return isOfReason(reason, memberOf(thrown, "cause"), looked);
}

// The code is axios's, which has no `AbortError`.
function isAbortError(thrown: unknown): boolean {
  if (typeof thrown !== "object") return false;
  return memberOf(thrown, "name") === "AbortError" || memberOf(thrown, "code") === "ERR_CANCELED";
}

// Members of an application's error may be missing, or throw when read.
function textOr(read: () => unknown, otherwise: string): string {
  try {
    const text = read();
    return typeof text === "string" ? text : otherwise;
  } catch {
    return otherwise;
  }
}

function frames(stack: string, message: string): string {
  const ofMessage = new Set(message.split("\n").map((line) => line.trim()));
  const isFrame = (line: string): boolean => /^\s+at .*(?::\d+:\d+\)?|<anonymous>\)?|native\)?)$/.test(line);
  return stack
    .split("\n")
    .filter((line) => isFrame(line) && !ofMessage.has(line.trim()))
    .map((line) => withPlainName(line.trim()))
    .join("\n");
}

/** Whether a frame is of the application: not of a dependency, the framework, the runtime or the engine. */
function isOwnFrame(frame: string): boolean {
  return /:\d+:\d+\)?$/.test(frame) && !foreignPlace.test(frame);
}

const foreignPlace =
  /[\\/]node_modules[\\/]|[\\/]usher-http[\\/](?:dist|src|adapters)[\\/]|(?:^at (?:async )?|\()(?:node|ext|bun|native|internal):/;

/** The place in the application from which an error was made in the framework; undefined where one file has both, as a bundle. */
export function callerIn(made: Error | undefined): string | undefined {
  const [own, ...callers] = textOr(() => frames(made?.stack as string, ""), "").split("\n");
  const file = fileOf(placeIn(own));
  return callers
    .filter(isOwnFrame)
    .map(placeIn)
    .find((place) => fileOf(place) !== file);
}

/** The file whose code made an error; a text that says so where the runtime does not tell. */
export function placeOfCopy(made: Error): string {
  const [own] = textOr(() => frames(made.stack as string, ""), "").split("\n");
  return fileOf(placeIn(own)) || "a place that the runtime does not tell";
}

/** `file:///srv/orders.ts:12:5` of a frame. */
function placeIn(frame = ""): string {
  return /\(([^()]*)\)$/.exec(frame)?.[1] ?? frame.replace(/^at (?:async )?/, "");
}

function fileOf(place: string): string {
  return place.replace(/:\d+:\d+$/, "");
}

/** A frame, without the name of its function where a runtime writes no such name: a function may be named by data, too. */
function withPlainName(frame: string): string {
  const [, name, place] = /^at (.*) \((.*?)\)$/.exec(frame) ?? [];
  return name === undefined || isPlainName(name) ? frame : `at ${place}`;
}

/** Whether code has such a name: `async Pool.#run`, `new Order`, `Order.get total`, `Map.get [as find]`; in JavaScriptCore `module code`. */
function isPlainName(name: string): boolean {
  if (name.length > 400) return false;
  const [, called = "", alias] = /^(?:async )?(?:new )?(.*?)(?: \[as (.*)\])?$/.exec(name) ?? [];
  return isCalled(called) && (alias === undefined || isCalled(alias));
}

function isCalled(name: string): boolean {
  const plain = name.replace(/(^|\.)(?:get|set|bound) /, "$1");
  return identifiers.test(plain) || /^(?:eval|global|module) code$/.test(name);
}

/** `Pool.#run`, `Object.<anonymous>`, `Object.[Symbol.iterator]`. A program has no identifier of 65 characters. */
const identifiers = /^(?!.*\w{65})[\w$.#<>[\]]{1,200}$/;

/**
 * The last catch around callbacks of a runtime: event listeners, timers, signals. A runtime reports their errors as
 * uncaught, which ends the process. No input is known to cause one.
 */

/** The connection of an event. */
type ClosableConnection = { destroy(): unknown } | { terminate(): unknown };

/** Handles an event. If that throws, this closes the event's connection, if it has one, and logs an error line. */
export function attempt<Given extends readonly unknown[]>(
  connection: ClosableConnection | undefined,
  act: (...given: Given) => void,
  ...given: Given
): void {
  try {
    act(...given);
  } catch (thrown) {
    caught(thrown, connection);
  }
}

/** A listener that never throws. */
export function guarded<Given extends readonly unknown[]>(
  connection: ClosableConnection | undefined,
  listener: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    try {
      listener(...given);
    } catch (thrown) {
      caught(thrown, connection);
    }
  };
}

/** Closes the connection whose event threw, and logs the error. */
export function caught(thrown: unknown, connection: ClosableConnection | undefined): void {
  if (connection === undefined) return logRaised("what was done on an event raised", thrown);
  logRaised("closed a connection: an event of it raised", thrown);
  try {
    if ("destroy" in connection) connection.destroy();
    else connection.terminate();
  } catch (thrown) {
    logRaised("closing a connection raised", thrown);
  }
}

/** Logs an error that no other code can catch, by its kind and its frames: its message may quote a client. */
export function logRaised(message: string, thrown: unknown, context?: LogContext): void {
  log({ level: "error", source: "framework.http", message, fields: raisedFields(thrown), context });
}

/**
 * Runs work that is not awaited. A rejected promise without a handler ends the process on Node and Deno, so a rejection here
 * becomes an error line.
 */
export function inBackground(work: PromiseLike<unknown> | undefined | void): void {
  work?.then(undefined, (thrown: unknown) => logRaised("work in the background raised", thrown, current()));
}
