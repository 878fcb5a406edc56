import type { Route } from "../routes/route.ts";
import type { Calls, ClientOptions } from "./calls.ts";
import { outcomeOf } from "./outcome.ts";
import type { Came } from "./outcome.ts";
import { requestOf } from "./request.ts";
import type { Sent } from "./request.ts";

/**
 * A typed client from the routes' types alone: no code is generated, and nothing of the server is imported. A call never
 * rejects for what comes back: the answer or the refusal is its outcome, and so is `unreachable`, where the server's
 * answer did not come. It rejects for what no request can hold, as a path without its argument.
 *
 * What the routes read is sent as it is given: a query's list as repeated names, a form in parts where a `Blob` is in it,
 * a `Date` as an instant. What is `undefined` is left out. What comes back is the answer's JSON, its text, or the stream of
 * its events, which goes on after a cut where it stopped; an answer of any other type is the `Response` itself, unread.
 *
 * @example
 * ```ts
 * import type { routes } from "../server/routes.ts";
 *
 * const api = Client.of<typeof routes>({ baseUrl: "https://orders.example" });
 * const found = await api["GET /orders/{order_id}"]({ path: { order_id: 7 } });
 * if (found.ok) console.log(found.value.item);
 * else if (found.error === "not_found") console.log("There is no order 7.");
 * ```
 */
export function of<Routes extends readonly Route[]>(options: ClientOptions): Calls<Routes> {
  // A promise that is resolved with a client asks it for `then`: only a method and a path are a call.
  const get = (_: object, key: string | symbol) =>
    typeof key === "string" && key.includes(" /") ? (sent: Sent = {}) => call(options, key, sent) : undefined;
  return new Proxy({}, { get }) as Calls<Routes>;
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
