import type { Duplex } from "node:stream";
import type { Sent } from "../../src/app/exchange.ts";
import { raisedOf } from "../../src/app/failure.ts";
import { say } from "../../src/app/listener-log.ts";
import { Later } from "../../src/inputs/later.ts";

/**
 * A listener of a connection's that never raises. Node reports what a listener raises as an uncaught exception, which ends
 * the process: this destroys the one connection, writes an error line, and the others go on.
 */
export function guarded<Given extends readonly unknown[]>(
  socket: Duplex,
  listener: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    try {
      listener(...given);
    } catch (thrown) {
      caught(thrown, socket);
    }
  };
}

/** Does on an event of a connection what it is there for, likewise. */
export function attempt(socket: Duplex, act: () => void): void {
  try {
    act();
  } catch (thrown) {
    caught(thrown, socket);
  }
}

/** Ends the connection on whose event this was raised, and logs its kind and stack: its message may quote a client. */
export function caught(thrown: unknown, socket: Duplex): void {
  socket.destroy();
  const raised = raisedOf(thrown);
  say("error", "closed a connection: an event of it raised", {
    "error.kind": raised?.kind,
    "error.stack": raised?.stack,
  });
}

/** Calls back with an answer when it is there, or with undefined where it never will be. `take` is not to raise. */
export function whenAnswered(
  answer: Promise<Sent> | Later<Sent>,
  socket: Duplex,
  take: (sent: Sent | undefined) => void,
): void {
  if (answer instanceof Later) return answer.hear(take);
  answer.then(take, (thrown: unknown) => {
    caught(thrown, socket);
    take(undefined);
  });
}
