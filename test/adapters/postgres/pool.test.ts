import { describe, expect, it } from "vitest";
import { Path, Returns, Test, get } from "usher-http";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import { messages } from "../../support/logs.ts";
import { startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";

const server = await startPostgres();
const pool = pools(server);

const next = Statement.find("select $1 + 1 as next", { params: [Type.int], row: { next: Type.int } });

describe("exec", () => {
  it("runs a statement, its parameters and its row of their types", async () => {
    expect(await (await pool()).exec(next, 41)).toEqual({ next: 42 });
  });

  it("runs on a connection that the server closed no more than once", async () => {
    const one = await pool({ size: 1 });
    const killed = one.exec(Statement.exec("select pg_terminate_backend(pg_backend_pid())"));
    await expect(killed).rejects.toMatchObject({ failure: { kind: "lost" } });
    expect(await one.exec(next, 1)).toEqual({ next: 2 });
  });
});

describe("a failure that nobody handles", () => {
  it("is answered as the contract has it, and its detail is logged", async () => {
    const closed = await pool({ size: 1 });
    await closed.close();
    const route = get(Path.of("next"), { summary: "Next", returns: Returns.text }, async () => {
      return String((await closed.exec(next, 1)).next);
    });
    const answered = await Test.call(Test.app([route]), "GET", "/next");
    expect(answered.status).toBe(503);
    expect(messages("warn").join()).toContain("the database pool is closed");
  });
});

it("keeps a parameter's value out of every text", async () => {
  const cast = Statement.exec("select $1::text::int", { params: [Type.text] });
  const thrown = await (await pool()).exec(cast, "secret-word").catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(DatabaseError);
  expect(String((thrown as Error).stack)).not.toContain("secret-word");
});
