/** `Dep.transaction`: one transaction for a request, which commits before its answer is sent. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { App, Dep, Path, Refusal, Returns, Test, post, refuse } from "usher-http";
import type { Answer } from "usher-http";
import { Pool, Statement, Type } from "usher-http/postgres";
import type { Database, TransactionOptions } from "usher-http/postgres";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { startServer } from "../../support/postgres/database.ts";
import "../../support/logs.ts";
import { messages } from "../../support/logs.ts";

let server: PostgresServer;
let pool: Pool;
const store = Dep.ofResource<Pool>("pool");
const add = Statement.exec("insert into seat values ($1)", { params: [Type.int] });
const addLater = Statement.exec("insert into late_seat values ($1)", { params: [Type.int] });
const count = Statement.find("select count(*) as n from seat", { row: { n: Type.int64 } });

beforeAll(async () => {
  server = await startServer();
  pool = await Pool.create(server.url(), { size: 2 });
  await pool.exec(Statement.exec("create table seat (id int primary key)"));
  await pool.exec(
    Statement.exec("create table late_seat (id int, constraint one_seat unique (id) deferrable initially deferred)"),
  );
});
beforeEach(() => pool.exec(Statement.exec("truncate seat, late_seat")));
afterAll(async () => {
  await pool.close();
  await server.stop();
});

const taken = Refusal.code("taken", { status: 409, doc: "Somebody has it." });
const tx = Dep.transaction(store);

/** The status of a request whose handler has `db`, and what is in the table after it. */
async function asked(
  handle: (db: Database) => Promise<unknown>,
  from: Dep<Database, string> = tx,
): Promise<readonly [number, bigint]> {
  const route = post(
    Path.of("x"),
    { inputs: { db: from as Dep<Database> }, returns: Returns.text, refuses: [taken] },
    ({ db }) => handle(db) as Promise<string>,
  );
  const { status } = await Test.call(Test.app([route], { resources: [Dep.resource(store, pool)] }), "POST", "/x");
  return [status, (await pool.exec(count)).n];
}

describe("a request's transaction", () => {
  it("commits before the answer is sent", async () => {
    let seen: bigint | undefined;
    const middleware = async (_request: unknown, next: () => Promise<Answer>): Promise<Answer> => {
      const answer = await next();
      seen = (await pool.exec(count)).n;
      return answer;
    };
    const route = post(Path.of("x"), { inputs: { tx }, returns: Returns.text }, async ({ tx }) => {
      await tx.exec(add, 1);
      return "";
    });
    const app = Test.app([route], { resources: [Dep.resource(store, pool)], middleware: [middleware] });
    expect((await Test.call(app, "POST", "/x")).status).toBe(200);
    expect(seen).toBe(1n);
  });

  it.each([
    ["a refusal", async () => refuse(taken, "It is taken."), 409],
    ["a thrown refusal", async () => Promise.reject(refuse(taken, "It is taken.")), 409],
    ["an exception", async () => Promise.reject(new Error("s3cret")), 500],
  ])("rolls back for %s", async (_what, end, status) => {
    expect(
      await asked(async (db) => {
        await db.exec(add, 1);
        return end();
      }),
    ).toEqual([status, 0n]);
  });

  it("keeps the writes of a refusal if the pool's `keep` says so", async () => {
    const keeping = Dep.transaction(store, { keep: ({ code }) => code.name === "taken" });
    const outcome = await asked(async (db) => {
      await db.exec(add, 1);
      return refuse(taken, "It is taken.");
    }, keeping);
    expect(outcome).toEqual([409, 1n]);
  });

  it("is answered with an error when its commit fails, and nothing is written", async () => {
    const outcome = await asked(async (db) => {
      await db.exec(add, 1);
      await db.exec(addLater, 1);
      await db.exec(addLater, 1);
      return "";
    });
    expect(outcome).toEqual([500, 0n]);
    expect(messages("error")).toEqual(["POST /x: internal: a constraint is violated: one_seat"]);
  });

  it("is not run again, also if the options are a variable with `retries`", async () => {
    const options: TransactionOptions = { retries: 2 };
    const conflict = Statement.exec("do $$ begin raise serialization_failure; end $$");
    const outcome = await asked(
      async (db) => {
        await db.exec(add, 1);
        await db.exec(conflict).catch(() => undefined);
        return "";
      },
      Dep.transaction(store, options),
    );
    expect(outcome).toEqual([503, 0n]);
  });
});

describe("the connection of a request's transaction", () => {
  it("is the same for all inputs that use it", async () => {
    const seat = Dep.join({ tx }, async ({ tx }) => {
      await tx.exec(add, 1);
      return 1;
    });
    const route = post(Path.of("x"), { inputs: { seat, tx }, returns: Returns.text }, async ({ tx }) =>
      String((await tx.exec(count)).n),
    );
    const app = Test.app([route], { resources: [Dep.resource(store, pool)] });
    expect((await Test.call(app, "POST", "/x")).body).toBe("1");
  });

  it("refuses a statement after the answer", async () => {
    let late: Database | undefined;
    await asked(async (db) => {
      late = db;
      return "";
    });
    await expect(late?.exec(add, 2)).rejects.toThrow(
      "the transaction has ended, and nothing was sent: await what uses it before its end, or use the pool",
    );
  });

  it("is named where the handler waits for another one of the pool, and not after its end", async () => {
    const small = await Pool.create(server.url(), { size: 1, waitMs: 10 });
    onTestFinished(() => small.close());
    const inputs = { tx, small: store };
    const nested = post(
      Path.of("x"),
      { inputs, returns: Returns.text },
      async ({ small }) => `${(await small.exec(count)).n}`,
    );
    const app = Test.app([nested], { resources: [Dep.resource(store, small)] });
    expect((await Test.call(app, "POST", "/x")).status).toBe(503);
    const warning = "work that holds a connection waits for another of the same pool: hand the first one on";
    expect(messages("warn").filter((line) => String(line).includes(warning))).toHaveLength(1);
    const released = Dep.scoped(
      { small: store },
      ({ small }) => small,
      async (small) => {
        await Promise.all([small.exec(count), small.exec(count)]);
      },
    );
    const after = post(Path.of("x"), { inputs: { released, tx }, returns: Returns.text }, () => "done");
    const other = Test.app([after], { resources: [Dep.resource(store, small)] });
    expect((await Test.call(other, "POST", "/x")).status).toBe(200);
    expect(messages("warn").filter((line) => String(line).includes(warning))).toHaveLength(1);
  });

  it("is returned, however the request ends", async () => {
    for (let round = 0; round < 20; round++) {
      await asked(async () => "");
      await asked(async () => refuse(taken, "It is taken."));
      await asked(async () => Promise.reject(new Error("s3cret")));
    }
    expect(pool.stats()).toMatchObject({ size: 2, idle: 2, waiting: 0, replaced: 0 });
  });

  it("fails like the pool when it cannot begin", async () => {
    const closed = await Pool.create(server.url(), { size: 1 });
    await closed.close();
    const route = post(Path.of("x"), { inputs: { tx }, returns: Returns.text }, () => "");
    const app = Test.app([route], { resources: [Dep.resource(store, closed)] });
    expect((await Test.call(app, "POST", "/x")).status).toBe(503);
  });

  it("works the same in `app.fetch`", async () => {
    const route = post(Path.of("x"), { inputs: { tx }, returns: Returns.text }, async ({ tx }) => {
      await tx.exec(add, 1);
      return "done";
    });
    const { fetch } = App.make([route], { resources: [Dep.resource(store, pool)] });
    expect(await (await fetch(new Request("http://h/x", { method: "POST" }))).text()).toBe("done");
    expect((await pool.exec(count)).n).toBe(1n);
  });
});
