import assert from "node:assert/strict";
import { test } from "node:test";
import { Test } from "usher-http";
import { routes } from "./routes.ts";

const app = Test.app(routes);

test("keeps an order", async () => {
  const answer = await Test.call(app, "POST", "/orders", { body: { item: "pen", quantity: 2 } });
  assert.equal(answer.status, 201);
  const order = { id: 1, item: "pen", quantity: 2, cents: 240 };
  assert.deepEqual(answer.json(), order);
  assert.deepEqual((await Test.call(app, "GET", "/orders")).json(), [order]);
});

test("refuses a body that is not an order", async () => {
  const answer = await Test.call(app, "POST", "/orders", { body: { item: "unicorn" } });
  const { problems } = answer.json() as { problems: { at: string }[] };
  assert.equal(answer.status, 400);
  assert.deepEqual(
    problems.map(({ at }) => at),
    ["body.item", "body.quantity"],
  );
});
