import { current } from "./context.ts";
import type { LogContext } from "./entry.ts";
import { log } from "./writer.ts";

/** What the log gets of a thrown value: its kind and its stack, never its message. */
export interface Raised {
  readonly kind: string;
  readonly stack: string;
}

/** Whether a thrown value is of a class. Any value may be thrown, also a `Proxy` that throws when its prototype is read. */
export function isA<A>(kind: abstract new (...args: never) => A, thrown: unknown): thrown is A {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** A thrown value's kind and frames. A message may quote anything, so its lines are removed. */
export function describeRaised(thrown: unknown): Raised {
  if (!isError(thrown)) return { kind: typeof thrown, stack: "" };
  return {
    kind: className(thrown),
    stack: textOr(() => frames(thrown.stack as string, String(thrown.message)), ""),
  };
}

/** A library may name a class by data: only a short identifier is written, as a class in a program has. */
const identifier = /^[A-Za-z_$][\w$]{0,63}$/;

function className(thrown: Error): string {
  const name = textOr(() => thrown.constructor.name, "Error");
  return identifier.test(name) ? name : "Error";
}

// Also an error of another realm (`vm`, Jest), whose class is another one.
function isError(thrown: unknown): thrown is Error {
  return isA(Error, thrown) || textOr(() => Object.prototype.toString.call(thrown), "") === "[object Error]";
}

/** A member of what was thrown; undefined where it cannot be read. */
function memberOf(thrown: unknown, name: "cause" | "errors" | "name" | "code"): unknown {
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

/** The names of functions in a frame: `async Pool.#run`, `new Order`, `Object.<anonymous>`, `Map.get [as find]`. */
const plainName = /^[\w$.#<>[\] ]{1,200}$/;

/** A frame, without the name of its function where that is no identifier: a function may be named by data, too. */
function withPlainName(frame: string): string {
  const [, name, place] = /^at (.*) \((.*?)\)$/.exec(frame) ?? [];
  return name === undefined || plainName.test(name) ? frame : `at ${place}`;
}

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
  const { kind, stack } = describeRaised(thrown);
  const fields = { "error.kind": kind, "error.stack": stack };
  log({ level: "error", source: "framework.http", message, fields, context });
}

/**
 * Runs work that is not awaited. A rejected promise without a handler ends the process on Node and Deno, so a rejection here
 * becomes an error line.
 */
export function inBackground(work: PromiseLike<unknown> | undefined | void): void {
  work?.then(undefined, (thrown: unknown) => logRaised("work in the background raised", thrown, current()));
}
