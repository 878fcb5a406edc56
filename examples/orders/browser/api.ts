import * as Client from "usher-http/client";
import type { ClientOptions } from "usher-http/client";
import type { routes } from "../routes.ts";

type Api = Client.Client<typeof routes>;
export type Order = Extract<Awaited<ReturnType<Api["GET /orders/{order_id}"]>>, { readonly ok: true }>["value"];

/** The typed client of the server that serves this page. */
export function apiOf(options: Pick<ClientOptions, "fetch"> = {}): Api {
  return Client.of<typeof routes>({ baseUrl: location.origin, ...options });
}
