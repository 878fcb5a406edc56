import type { Duplex } from "node:stream";
import type { Sent } from "../../src/app/exchange.ts";
import { raisedOf } from "../../src/app/failure.ts";
import { say } from "../../src/app/listener-log.ts";
import { whenThere } from "../../src/inputs/later.ts";
import type { Soon } from "../../src/inputs/later.ts";

/**
 * A listener of a connection's that never raises. Node reports what a listener raises as an uncaught exception, which ends
 * the process: this destroys the one connection, writes an error line, and the others go on.
 */
export function guarded<Given extends readonly unknown[]>(
  socket: Duplex,
  listener: (...given: Given) => void,
): (...given: Given) => void {
  return guardedOf(() => socket, listener);
}

/** Likewise, for an event that tells which connection it is of. */
export function guardedOf<Given extends readonly unknown[]>(
  socketOf: (...given: Given) => Duplex | undefined,
  listener: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    try {
      listener(...given);
    } catch (thrown) {
      caught(thrown, socketOf(...given));
    }
  };
}

/** Ends the connection on whose event this was raised, and logs its kind and stack: its message may quote a client. */
export function caught(thrown: unknown, socket: Duplex | undefined): void {
  socket?.destroy();
  const raised = raisedOf(thrown);
  say("error", "closed a connection: an event of it raised", {
    "error.kind": raised?.kind,
    "error.stack": raised?.stack,
  });
}

/** Calls back with an answer, now or when it is there. */
export function whenAnswered(answer: Soon<Sent>, socket: Duplex, act: (sent: Sent) => void): void {
  const safely = guarded(socket, act);
  if (answer instanceof Promise) answer.then(safely, (thrown: unknown) => caught(thrown, socket));
  else whenThere(answer, safely);
}
