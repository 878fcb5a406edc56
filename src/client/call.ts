import type { ClientOptions } from "./calls.ts";
import { outcomeOf } from "./outcome.ts";
import { requestOf } from "./request.ts";
import type { Sent } from "./request.ts";

/** A function under every method and path, whatever there is. */
export function callsOf(options: ClientOptions): object {
  const get = (_: object, key: string | symbol) => {
    // A promise that is resolved with a client asks it for `then`: only a method and a path are a call.
    const [method, pattern] = String(key).split(/ (\/.*)/) as [string, string?];
    return (
      pattern &&
      (async (sent: Sent = {}) => outcomeOf(requestOf(options, method, pattern, sent), options.fetch, sent.form))
    );
  };
  return new Proxy({}, { get });
}
