/** The routes of the page: orders in pages, one of them, and one more. */
import * as v from "valibot";
import {
  Codec,
  Event,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  answer,
  del,
  get,
  json,
  param,
  post,
  refuse,
} from "usher-http";

const Order = v.object({ id: v.number(), item: v.string() });
const Page = v.object({ items: v.array(Order), next: v.optional(v.string()) });
const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });
const orderId = Path.int("order_id");
const ordersPath = Path.of("orders");

/** The orders of one server, and the requests that it got. */
export function ordersOf() {
  const orders: v.InferOutput<typeof Order>[] = [];
  const asked: string[] = [];
  /** Resolves where a request of `slow` was given up by its client. */
  let given: (() => void) | undefined;
  const gaveUp = new Promise<void>((resolve) => (given = resolve));

  const list = get(
    ordersPath,
    {
      inputs: {
        after: Query.default("after", Codec.int, 0),
        limit: Query.default("limit", Codec.int, 2),
        tag: Query.list("tag", Codec.string),
      },
      returns: Returns.json(Page),
    },
    ({ after, limit, tag }) => {
      asked.push(`list ${after} ${limit} ${tag.join()}`);
      const rest = orders.filter(({ id }) => id > after);
      const items = rest.slice(0, limit);
      const last = items.at(-1);
      if (rest.length <= limit || last === undefined) return { items };
      const next = Path.url(ordersPath, {}, { after: last.id, limit });
      return { items, next: next.ok ? next.value : "" };
    },
  );
  const one = get(
    Path.of("orders", orderId),
    { inputs: { id: param(orderId) }, returns: Returns.json(Order), refuses: [Refusal.notFound] },
    ({ id }) => {
      asked.push(`one ${id}`);
      return orders.find((order) => order.id === id) ?? refuse(Refusal.notFound, "There is no such order.");
    },
  );
  const place = post(
    ordersPath,
    {
      inputs: { order: json(v.object({ item: v.pipe(v.string(), v.minLength(1)) })) },
      returns: Returns.jsonResponse(Order, { 200: "It was placed before.", 201: "It is placed." }),
      refuses: [soldOut],
    },
    ({ order: { item } }) => {
      if (item === "unicorn") return refuse(soldOut, "There are no unicorns left.");
      const order = { id: orders.length + 1, item };
      orders.push(order);
      return answer(201, order);
    },
  );
  const clear = del(ordersPath, { returns: Returns.empty() }, () => void orders.splice(0));
  const nothing = get(Path.of("nothing"), { returns: Returns.empty() }, () => {});
  const big = get(
    Path.of("big"),
    {
      inputs: {
        size: Query.required("size", Codec.int64),
        at: Query.optional("at", Codec.instant),
        language: Header.optional("accept-language", Codec.string),
      },
      returns: Returns.text,
    },
    ({ size }) => `${size}`,
  );
  const slow = get(
    Path.of("slow"),
    { inputs: { size: Query.default("size", Codec.int, 1) }, returns: Returns.response },
    () => {
      asked.push("slow");
      return new Response(new ReadableStream({ cancel: () => given?.() }));
    },
  );
  const feed = get(Path.of("feed"), { returns: Returns.events([Event.text("word")]) }, () => async () => {});
  const pdf = get(
    Path.of("pdf"),
    { returns: Returns.responses({ 200: { doc: "", contentTypes: ["application/pdf"] } }) },
    () => new Response("x", { headers: { "content-type": "application/pdf" } }),
  );
  const rows = get(
    Path.of("rows"),
    {
      inputs: { from: Query.optional("from", Codec.int), size: Query.default("size", Codec.int, 2) },
      returns: Returns.json(v.array(v.number())),
    },
    ({ from = 0, size }) => Array.from({ length: Math.max(0, Math.min(size, 5 - from)) }, (_, i) => from + i),
  );
  const routes = [list, one, place, clear, nothing, big, slow, feed, pdf, rows] as const;
  return { routes, orders, asked, gaveUp };
}

/** The routes, for a client that imports their types alone. */
export type Routes = ReturnType<typeof ordersOf>["routes"];
