// A second project, which knows the routes by the declarations of the first one, and calls its client.
import { of } from "usher-http/client";
import { api } from "../library/routes.js";
import type { routes } from "../library/routes.js";

type IsAny<A> = 0 extends 1 & A ? true : false;

export const isApiAny: IsAny<typeof api> = false;
export const own = of<typeof routes>({ baseUrl: "https://orders.example" });
export const called = async () => {
  const found = await api["GET /orders/{order_id}"]({ path: { order_id: 1 }, query: { page: 2 } });
  const isAny: IsAny<typeof found> = false;
  if (!found.ok) return found.error === "not_found" ? "none" : isAny;
  const state: "new" | "sent" = found.value.state;
  const isValueAny: IsAny<typeof found.value> = false;
  // @ts-expect-error an argument of another type
  await own["GET /orders/{order_id}"]({ path: { order_id: "1" } });
  // @ts-expect-error no such route
  await own["GET /nope"]();
  const placed = await own["POST /orders"]({ json: { item: "pen" } });
  // @ts-expect-error a code this route never answers
  if (!placed.ok && placed.error === "not_found") return isValueAny;
  return state;
};
