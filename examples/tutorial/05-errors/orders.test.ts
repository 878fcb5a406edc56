import assert from "node:assert/strict";
import { test } from "node:test";
import { Test } from "usher-http";
import { routes } from "./routes.ts";

const app = Test.app(routes);

test("finds an order that was placed, and no other", async () => {
  const placed = await Test.call(app, "POST", "/orders", { body: { item: "pen", quantity: 2 } });
  const { id } = placed.json() as { id: number };
  assert.deepEqual((await Test.call(app, "GET", `/orders/${id}`)).json(), placed.json());
  assert.equal((await Test.call(app, "GET", "/orders/0")).status, 404);
});

test("refuses what is sold out", async () => {
  const answer = await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 4 } });
  assert.equal(answer.status, 409);
  assert.deepEqual(answer.json(), { error: "sold_out", message: "Only 3 of that item are left." });
});
