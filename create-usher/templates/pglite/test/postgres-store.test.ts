import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "usher-http";
import { Pool, Statement, migrate } from "usher-http/postgres";
import { postgresStore, statements } from "../src/postgres-store.ts";
import { testDatabase } from "./database.ts";

test("keeps orders in PostgreSQL", async () => {
  const { url, close } = await testDatabase();
  await migrate(url, { directory: "migrations" });
  const pool = await Pool.create(url, { size: 1 });
  try {
    await Statement.verify(pool, statements);
    const store = postgresStore(pool);
    const placed = await store.place({ item: "pen", quantity: 1 });
    assert(!(placed instanceof Refusal));
    assert.deepEqual(await store.find(placed.id), placed);
    assert.deepEqual(await store.list({ offset: 0, limit: 1 }), [placed]);
    assert.equal(await store.remove(placed.id), true);
    assert.equal(await store.find(placed.id), undefined);
    assert((await store.place({ item: "pen", quantity: 2_000_000 })) instanceof Refusal);
  } finally {
    await pool.close();
    await close();
  }
});
