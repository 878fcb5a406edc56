import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Dep, Test } from "usher-http";
import { Pool, migrate } from "usher-http/postgres";
import { database } from "./database.ts";
import { routes } from "./routes.ts";

const { DATABASE_URL = "postgres://postgres:demo@localhost/postgres" } = process.env;

await migrate(DATABASE_URL, { directory: "migrations" });
const pool = await Pool.create(DATABASE_URL, { size: 1 });
after(() => pool.close());

const app = Test.app(routes, { resources: [Dep.resource(database, pool)] });

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
