import type { Route } from "../routes/route.ts";
import { callsOf } from "./call.ts";
import type { Calls, ClientOptions } from "./calls.ts";

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
export const of = callsOf as <Routes extends readonly Route[]>(options: ClientOptions) => Calls<Routes>;
