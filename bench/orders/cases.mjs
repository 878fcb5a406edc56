/** The requests, and a check that every server answers them alike. */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { items } from "./database.mjs";

const quantity = 3;
const [item] = items;

/** The GET reads the first placed order. */
export const measured = {
  get: { name: "GET /orders/{order_id}", method: "GET", target: "/orders/1000000", headers: {}, status: 200 },
  post: {
    name: "POST /orders",
    method: "POST",
    target: "/orders",
    ...body({ item, quantity }),
    bodies: items.map((item) => JSON.stringify({ item, quantity })),
    status: 201,
    key: "idempotency-key",
  },
};

/** The number of orders that {@link check} places. */
export const placedByCheck = 1;
export const quantityOfOne = quantity;

/** Places the first order. Throws, naming the server, if an answer is wrong. */
export async function check(who, port) {
  const ask = async (asked, key) => {
    const response = await fetch(`http://127.0.0.1:${port}${asked.target}`, {
      method: asked.method,
      headers: { ...asked.headers, ...(key === undefined ? {} : { "idempotency-key": key }) },
      body: asked.body ?? null,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, value: text === "" ? undefined : JSON.parse(text) };
  };
  const expect = (what, is, answer) => {
    if (!is) throw new Error(`${who}, ${what}: ${answer.status} ${JSON.stringify(answer.value)}`);
  };
  const key = randomUUID();
  const placed = await ask(measured.post, key);
  const { id, placed_at, ...rest } = placed.value;
  expect("an order", placed.status === 201 && id === 1_000_000 && isDeepStrictEqual(rest, { item, quantity }), placed);
  expect("its time", Math.abs(Date.parse(placed_at) - Date.now()) < 60_000, placed);
  const got = await ask(measured.get);
  expect("the order got", got.status === 200 && isDeepStrictEqual(got.value, placed.value), got);
  expect("its tag and id", got.headers.get("etag") === '"1"' && got.headers.get("x-request-id") !== null, got);
  for (const [tags, status] of [
    ['"1"', 304],
    ['"0", W/"1"', 304],
    ['"0"', 200],
  ]) {
    const known = await ask({ ...measured.get, headers: { "if-none-match": tags } });
    expect(`the order that is known as ${tags}`, known.status === status, known);
  }
  const again = await ask(measured.post, key);
  expect("the same key", again.status === 201 && isDeepStrictEqual(again.value, placed.value), again);
  const other = await ask({ ...measured.post, ...body({ item, quantity: quantity + 1 }) }, key);
  expect("the key with another order", other.status === 422 && other.value.error === "idempotency_key_reused", other);
  const unicorn = await ask({ ...measured.post, ...body({ item: "unicorn", quantity }) }, randomUUID());
  expect("too little stock", unicorn.status === 409 && unicorn.value.error === "sold_out", unicorn);
  const missing = await ask({ ...measured.get, target: "/orders/1" });
  expect("no such order", missing.status === 404, missing);
  for (const wrong of [{ item: "", quantity }, { item, quantity: 0 }, { item: "a\0b", quantity }, { item }]) {
    const refused = await ask({ ...measured.post, ...body(wrong) });
    expect(JSON.stringify(wrong), refused.status >= 400 && refused.status < 500, refused);
  }
  const badKey = await ask(measured.post, "no key");
  expect("a key that is none", badKey.status >= 400 && badKey.status < 500, badKey);
}

function body(order) {
  const text = JSON.stringify(order);
  return {
    body: text,
    headers: { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) },
  };
}
