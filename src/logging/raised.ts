import { current } from "./context.ts";
import type { LogContext } from "./entry.ts";
import { log } from "./writer.ts";

/** What a thrown value tells the log: what kind it was and where it was thrown, never its message. */
export interface Raised {
  readonly kind: string;
  readonly stack: string;
}

/**
 * Whether a thrown value is of a class. Anything may be thrown, a `Proxy` too, which throws where it is asked for its prototype.
 */
export function isA<A>(kind: abstract new (...args: never) => A, thrown: unknown): thrown is A {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** A thrown value's kind and frames. A message may quote anything, so no line of it goes with them. */
export function describeRaised(thrown: unknown): Raised {
  if (!isError(thrown)) return { kind: typeof thrown, stack: "" };
  return {
    kind: textOr(() => thrown.constructor.name, "Error"),
    stack: textOr(() => frames(thrown.stack as string, String(thrown.message)), ""),
  };
}

// One of another realm (`vm`, Jest) too, whose class is not this one's.
function isError(thrown: unknown): thrown is Error {
  return isA(Error, thrown) || textOr(() => Object.prototype.toString.call(thrown), "") === "[object Error]";
}

// An application's error may be anything: its members may be missing, or raise when they are read.
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
    .map((line) => line.trim())
    .join("\n");
}

/**
 * The last net under what a runtime calls: an event's listener, a timer, a signal. What one of them raises a runtime reports as
 * uncaught, which ends the process. No input is known to make one raise.
 */

/** A connection that an event is of. */
type ClosableConnection = { destroy(): unknown } | { terminate(): unknown };

/** Does what an event is there for. Where that raises, this closes the event's connection, if it has one, and writes an error line. */
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

/** A listener that never raises. */
export function guarded<Given extends readonly unknown[]>(
  connection: ClosableConnection | undefined,
  listener: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => attempt(connection, listener, ...given);
}

/** Closes the connection on whose event this was raised, and logs it. */
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

/** Logs what was raised where nobody else can catch it, by its kind and its frames: its message may quote a client. */
export function logRaised(message: string, thrown: unknown, context?: LogContext): void {
  const { kind, stack } = describeRaised(thrown);
  const fields = { "error.kind": kind, "error.stack": stack };
  log({ level: "error", source: "framework.http", message, fields, context });
}

/**
 * Runs work that nobody awaits, to its end. A rejected promise without a handler ends the process on Node and Deno, so a
 * rejection here becomes an error line.
 */
export function inBackground(work: PromiseLike<unknown> | undefined | void): void {
  work?.then(undefined, (thrown: unknown) => logRaised("work in the background raised", thrown, current()));
}
