/** The route that rows OA and DC describe. */
import { Codec, Cookie, Dep, Header, Path, Query, Refusal, Returns, Shape, json, param, post } from "usher-http";
import * as v from "valibot";

const gone = Refusal.code("gone", { status: 410, doc: "The order is closed." });

export const Item = Shape.named(
  "Item",
  v.object({
    name: v.pipe(v.string(), v.description("What it is called.")),
    size: v.picklist(["small", "large"]),
    note: v.nullish(v.string()),
  }),
);

const orderId = Path.int("order_id");
const session = Cookie.named("session", Codec.string);

export const add = post(
  Path.of("orders", orderId, "items"),
  {
    summary: "Add an item",
    tags: ["orders"],
    inputs: {
      page: Query.required("page", Codec.int),
      weight: Query.optional("weight", Codec.float),
      limit: Query.default("limit", Codec.int, 20),
      since: Query.optional("since", Codec.instant),
      orderId: param(orderId),
      who: Dep.credential("session", Cookie.optional(session), { doc: "Who is signed in." }),
      after: Query.optional("after", Codec.uuid),
      request: Header.optional("x-request", Codec.string),
      item: json(Item, { examples: [{ name: "pencil", size: "large", note: null }] }),
    },
    returns: Returns.json(Item, { status: 201, examples: [{ name: "pen", size: "small" }] }),
    refuses: [gone],
  },
  ({ item }) => item,
);
