import type { Duplex } from "node:stream";
import type { Sent } from "../../src/app/exchange.ts";
import { Later } from "../../src/deferred.ts";
import { caught } from "../../src/logging/raised.ts";

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
