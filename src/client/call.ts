import type { ClientOptions } from "./calls.ts";
import { outcomeOf } from "./outcome.ts";
import type { Came } from "./outcome.ts";
import { requestOf } from "./request.ts";
import type { Sent } from "./request.ts";

/** A function under every method and path, whatever there is. */
export function callsOf(options: ClientOptions): object {
  // A promise that is resolved with a client asks it for `then`: only a method and a path are a call.
  const get = (_: object, key: string | symbol) =>
    typeof key === "string" && key.includes(" /") ? (sent: Sent = {}) => call(options, key, sent) : undefined;
  return new Proxy({}, { get });
}

async function call(options: ClientOptions, key: string, sent: Sent): Promise<Came> {
  const { fetch = (request: Request) => globalThis.fetch(request) } = options;
  const leaving = new AbortController();
  const signal = sent.signal ? AbortSignal.any([sent.signal, leaving.signal]) : leaving.signal;
  const request = requestOf(options, key, { ...sent, signal });
  const ask = (headers: Sent["headers"]) => fetch(requestOf(options, key, { ...sent, headers, signal }));
  return outcomeOf(
    async () => fetch(request),
    async (response) => {
      // Most pages open no stream: a bundler leaves what reads one until it is asked for.
      const { received } = await import("./received.ts");
      return received(response, sent.headers, key.startsWith("GET ") ? ask : undefined, leaving, signal);
    },
  );
}
