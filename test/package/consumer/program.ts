// Compiled against the packed package: what a user writes, and one thing the compiler must refuse.
import { App, Codec, Path, Query, Refusal, Returns, Shape, Test, get, json, param, post, refuse } from "usher-http";
import type { Dep, Route } from "usher-http";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import * as v from "valibot";

const id = Path.int("id");
const Order = Shape.named("Order", v.object({ id: v.number(), placed_at: Shape.instant }));
const page: Dep<number, never, { query?: { page?: number | undefined } }> = Query.default("page", Codec.int, 1);

const order = get(
  Path.of("orders", id),
  { inputs: { id: param(id), page }, returns: Returns.json(Order), refuses: [Refusal.notFound] },
  ({ id, page }) => (id > page ? refuse(Refusal.notFound) : { id, placed_at: new Date() }),
);
const place = post(
  Path.of("orders"),
  { inputs: { order: json(Order) }, returns: Returns.text },
  // @ts-expect-error a refusal the route does not declare
  ({ order }) => (order.id > 0 ? refuse(Refusal.notFound) : "placed"),
);

export const routes: readonly Route[] = [order, place];
export const start = (): Promise<Server> => serve(routes, { port: 0 });
export const answered: Promise<Response> = App.make(routes).fetch(new Request("http://localhost/orders/1"));
export const called = Test.call(Test.app(routes), "GET", "/orders/1");
