import assert from "node:assert/strict";
import { test } from "node:test";
import { Test } from "usher-http";
import { getPrice } from "./items.ts";

const app = Test.app([getPrice]);

test("prices an item", async () => {
  const answer = await Test.call(app, "GET", "/items/pen/price?quantity=3&gift=true");
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json(), { item: "pen", quantity: 3, cents: 560 });
});

test("lists every problem of a request", async () => {
  const answer = await Test.call(app, "GET", "/items/unicorn/price?quantity=0&gift=maybe");
  const { problems } = answer.json() as { problems: { at: string }[] };
  assert.equal(answer.status, 400);
  assert.deepEqual(
    problems.map(({ at }) => at),
    ["path.item", "query.quantity", "query.gift"],
  );
});
