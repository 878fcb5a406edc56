import type { Duplex } from "node:stream";
import type { WireResponse } from "../../src/app/exchange.ts";
import { Deferred } from "../../src/deferred.ts";
import { caught } from "../../src/logging/raised.ts";

/** Calls `take` with the response when it is made, or with undefined after a failure. `take` must not throw. */
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
