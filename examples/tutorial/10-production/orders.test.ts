import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Dep, Health, Openapi, Test } from "usher-http";
import { Pool, migrate } from "usher-http/postgres";
import { database } from "./database.ts";
import { routes } from "./routes.ts";

const { TEST_DATABASE_URL = "postgres://postgres:demo@localhost/shop_test" } = process.env;

await migrate(TEST_DATABASE_URL, { directory: "migrations" });
const pool = await Pool.create(TEST_DATABASE_URL, {});
after(() => pool.close());

const app = Test.app([...routes, ...Health.routes([pool.check("database")])], {
  resources: [Dep.resource(database, pool)],
});

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

test("removes an order for a clerk only", async () => {
  const browser = Test.browser(app); // keeps cookies
  const placed = await browser.call("POST", "/orders", { body: { item: "pen", quantity: 2 } });
  const { id } = placed.json() as { id: number };
  assert.equal((await browser.call("DELETE", `/orders/${id}`)).status, 401);

  await browser.call("POST", "/sign-in", { body: { name: "ada", password: "demo" } });
  assert.equal((await browser.call("DELETE", `/orders/${id}`)).status, 204);
});

test("sends the newest orders when one is placed", async () => {
  let events = 0;
  await Test.events(app, "/orders/feed", async () => {
    events++;
    if (events === 2) return "stop"; // The client leaves.
    await Test.call(app, "POST", "/orders", { body: { item: "pen", quantity: 2 } });
    return undefined;
  });
  assert.equal(events, 2);
});

test("is ready while the database answers", async () => {
  const answer = await Test.call(app, "GET", "/readyz");
  assert.equal(answer.status, 200);
});

test("describes every route that a client calls", () => {
  const { paths } = Openapi.document(routes, { title: "Shop", version: "1" });
  assert.deepEqual(Object.keys(paths ?? {}).toSorted(), [
    "/items/{item}/price",
    "/orders",
    "/orders/feed",
    "/orders/{order_id}",
    "/sign-in",
  ]);
});
