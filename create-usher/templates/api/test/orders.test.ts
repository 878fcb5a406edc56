import assert from "node:assert/strict";
import { test } from "node:test";
import { Dep, Test } from "usher-http";
import { routes } from "../src/orders.ts";
import { store } from "../src/store.ts";
import { memoryStore } from "./memory-store.ts";

// The whole app, called without a socket. A call fails if a route answers with something that it does not declare.
const makeApp = () => Test.app(routes, { resources: [Dep.resource(store, memoryStore({ pen: 10 }))] });

test("places an order, finds it and removes it", async () => {
  const app = makeApp();
  const placed = await Test.call(app, "POST", "/orders", { body: { item: "pen", quantity: 2 } });
  assert.equal(placed.status, 201);
  const { id } = placed.json() as { id: number };
  assert.deepEqual((await Test.call(app, "GET", `/orders/${id}`)).json(), placed.json());
  assert.deepEqual((await Test.call(app, "GET", "/orders")).json(), [placed.json()]);
  assert.equal((await Test.call(app, "DELETE", `/orders/${id}`)).status, 204);
  assert.equal((await Test.call(app, "GET", `/orders/${id}`)).status, 404);
});

test("refuses an order for more than there is", async () => {
  const answer = await Test.call(makeApp(), "POST", "/orders", { body: { item: "pen", quantity: 11 } });
  assert.equal(answer.status, 409);
  assert.deepEqual(answer.json(), { error: "sold_out", message: "There is too little left of pen." });
});

test("reports every problem at once", async () => {
  const answer = await Test.call(makeApp(), "GET", "/orders?page=0&per_page=1000");
  assert.equal(answer.status, 400);
  const { problems } = answer.json() as { problems: { at: string }[] };
  assert.deepEqual(
    problems.map(({ at }) => at),
    ["query.page", "query.per_page"],
  );
});
