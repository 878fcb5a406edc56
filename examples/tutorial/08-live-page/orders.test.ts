import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Broadcast, Dep, Sessions, Test } from "usher-http";
import { Pool, migrate } from "usher-http/postgres";
import { database } from "./database.ts";
import { news } from "./news.ts";
import { routes } from "./routes.ts";
import { sessionStore } from "./sign-in.ts";

const { DATABASE_URL = "postgres://postgres:demo@localhost/postgres" } = process.env;

await migrate(DATABASE_URL, { directory: "migrations" });
const pool = await Pool.create(DATABASE_URL, { size: 1 });
after(() => pool.close());

const resources = [
  Dep.resource(database, pool),
  Dep.resource(sessionStore, Sessions.memory()),
  Dep.resource(news, Broadcast.create<never>()),
];
const app = Test.app(routes, { resources });

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

test("removes an order for a clerk only", async () => {
  const browser = Test.browser(app); // keeps cookies
  const placed = await browser.call("POST", "/orders", { body: { item: "pen", quantity: 2 } });
  const { id } = placed.json() as { id: number };
  assert.equal((await browser.call("DELETE", `/orders/${id}`)).status, 401);

  await browser.call("POST", "/sign-in", { body: { name: "ada", password: "demo" } });
  assert.equal((await browser.call("DELETE", `/orders/${id}`)).status, 204);
  assert.equal((await browser.call("DELETE", `/orders/${id}`)).status, 404);
});

test("keeps an order", async () => {
  const placed = await Test.call(app, "POST", "/orders", { body: { item: "pen", quantity: 2 } });
  assert.equal(placed.status, 201);
  const { id } = placed.json() as { id: number };
  const found = await Test.call(app, "GET", `/orders/${id}`);
  assert.deepEqual(found.json(), placed.json());
});

test("refuses what is sold out", async () => {
  const answer = await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 100 } });
  assert.equal(answer.status, 409);
});
