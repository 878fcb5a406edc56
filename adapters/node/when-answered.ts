import type { Duplex } from "node:stream";
import type { WireResponse } from "../../src/app/exchange.ts";
import { Deferred } from "../../src/deferred.ts";
import { caught } from "../../src/logging/raised.ts";

/** Calls back with an answer when it is there, or with undefined where it never will be. `take` is not to raise. */
export function whenAnswered(
  answer: Promise<WireResponse> | Deferred<WireResponse>,
  socket: Duplex,
  take: (sent: WireResponse | undefined) => void,
): void {
  if (answer instanceof Deferred) return answer.onResolve(take);
  answer.then(take, (thrown: unknown) => {
    caught(thrown, socket);
    take(undefined);
  });
}
