import {
  Codec,
  Dep,
  Event,
  Header,
  Health,
  Path,
  Query,
  Refusal,
  Returns,
  Shape,
  del,
  get,
  json,
  jsonLines,
  param,
  post,
  refuse,
} from "usher-http";
import * as v from "valibot";

const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" });
const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });
const Order = Shape.named("Order", v.object({ id: v.number(), item: v.pipe(v.string(), v.maxLength(100)) }));
const NewOrder = Shape.named("NewOrder", v.object({ item: v.string() }));
const orderId = Path.int("order_id");
const credentials = Header.optional("authorization", Codec.credentials);
const clerk = Dep.credential(
  "bearer",
  Dep.join({ credentials }, () => refuse(signedOut), { refuses: [signedOut] }),
);

/** A small shop. */
export const routes = [
  post(
    Path.of("orders"),
    { inputs: { order: json(NewOrder) }, returns: Returns.json(Order, { status: 201 }), refuses: [soldOut] },
    () => refuse(soldOut),
  ),
  get(
    Path.of("orders"),
    { inputs: { page: Query.default("page", Codec.int, 1) }, returns: Returns.json(v.array(Order)) },
    () => [],
  ),
  del(
    Path.of("orders", orderId),
    { inputs: { clerk, id: param(orderId) }, returns: Returns.empty(), refuses: [Refusal.notFound] },
    () => {},
  ),
  get(
    Path.of("feed"),
    { returns: Returns.events([Event.json("placed", Order), Event.text("closed")]) },
    () => () => {},
  ),
  post(
    Path.of("orders", "import"),
    { inputs: { orders: jsonLines(NewOrder, { max: 1000 }) }, returns: Returns.jsonLines(Order) },
    async function* () {},
  ),
  ...Health.routes([]),
] as const;
