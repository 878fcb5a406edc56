import assert from "node:assert/strict";
import { test } from "node:test";
import { Broadcast } from "usher-http";
import { Pool, Statement, migrate } from "usher-http/postgres";
import { postgresWall, statements } from "../src/postgres-wall.ts";

// It writes, so it never uses the database of DATABASE_URL.
const url = process.env["TEST_DATABASE_URL"] ?? "";

test("keeps messages in PostgreSQL", { skip: url === "" && "TEST_DATABASE_URL is not set" }, async () => {
  await migrate(url, { directory: "migrations" });
  const pool = await Pool.create(url, { size: 1 });
  try {
    await Statement.verify(pool, statements);
    const wall = postgresWall(pool, Broadcast.create<never>());
    const text = `Hello ${crypto.randomUUID()}`;
    const message = await wall.add(text);
    assert.equal(message?.text, text);
    assert.equal(await wall.add(text), undefined);
    assert.deepEqual(await wall.newest(1), [message]);
  } finally {
    await pool.close();
  }
});
