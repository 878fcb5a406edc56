import { App, Codec, Header, Log, Path, Query, Returns, Shape, get, json, param, post, route } from "usher-http";
import * as v from "valibot";
import { NewOrder, item, placed, quantity, sent } from "./order.mjs";
import { restRoutes } from "./rest-routes.mjs";

const wholeNumber = v.pipe(v.number(), v.integer());
const Order = v.object({ id: wholeNumber, item, quantity, placed_at: Shape.instant });
const Inputs = v.object({ id: wholeNumber, name: v.string(), tenant: v.string() });

const orders = Path.of("orders");
const orderId = Path.int("order_id");
const id = Path.int("id");

export const routes = [
  get(Path.root, { returns: Returns.text }, () => "Hello."),
  get(
    Path.of("id", id),
    {
      inputs: {
        id: param(id),
        name: Query.required("name", Codec.string),
        tenant: Header.required("x-tenant", Codec.string),
      },
      returns: Returns.json(Inputs),
    },
    (inputs) => inputs,
  ),
  get(Path.of("orders", orderId), { inputs: { id: param(orderId) }, returns: Returns.json(Order) }, ({ id }) =>
    placed(id, sent),
  ),
  post(orders, { inputs: { order: json(NewOrder) }, returns: Returns.json(Order, { status: 201 }) }, ({ order }) =>
    placed(7, order),
  ),
];

const key = Path.str("id");
const part = Path.str("item");

/** The routes of `rest-routes.mjs` for usher. @param {number} count */
export function tableRoutes(count) {
  return restRoutes(count).map(({ method, segments }) => {
    const path = Path.of(
      ...segments.map((segment) => (segment === ":id" ? key : segment === ":item" ? part : segment)),
    );
    const last = segments.at(-1);
    if (!segments.includes(":id")) return route(method, path, { returns: Returns.text }, () => last);
    return route(method, path, { inputs: { id: param(key) }, returns: Returns.text }, ({ id }) => id);
  });
}

/** @param {boolean} table Whether it has a thousand routes or a few. */
export function app(table) {
  return App.make(table ? tableRoutes(1000) : routes);
}

/** @param {"off" | "dropped" | "stderr"} lines Where access lines go. */
export function logTo(lines) {
  if (lines === "off") Log.setup({ level: undefined });
  if (lines === "dropped") Log.setup({ out: () => {} });
  if (lines === "stderr") Log.setup();
}
