import type { LogContext } from "./entry.ts";
import { describeRaised } from "./raised.ts";
import { log } from "./writer.ts";

/**
 * The last net under what a runtime calls: an event's listener, a timer, a signal. What one of them raises a runtime reports as
 * uncaught, which ends the process. No input is known to make one raise.
 */

/** A connection that an event is of. */
export type Connection = { destroy(): unknown } | { terminate(): unknown };

/** Does what an event is there for. Where that raises, this closes the event's connection, if it has one, and writes an error line. */
export function attempt<Given extends readonly unknown[]>(
  connection: Connection | undefined,
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
  connection: Connection | undefined,
  listener: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => attempt(connection, listener, ...given);
}

/** Closes the connection on whose event this was raised, and logs it. */
export function caught(thrown: unknown, connection: Connection | undefined): void {
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
