/** The page on query builders: its programs, and their adapters on a real pool. */
import type * as Usher from "usher-http";
import type * as Database from "usher-http/postgres";
import type { Kysely } from "kysely";
import type { PgRemoteDatabase } from "drizzle-orm/pg-proxy";
import { sql as drizzleSql } from "drizzle-orm";
import { sql as kyselySql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("orms");
guide.write("package.ts", 'export * from "usher-http";');
guide.write("database.ts", 'export * from "usher-http/postgres";');
const { Dep, Path, Returns, Test, get } = await guide.load<typeof Usher>("package.ts");
const { DatabaseError, Pool } = await guide.load<typeof Database>("database.ts");
const { kyselyOn } = await guide.load<{ kyselyOn: <T>(db: Database.Queryable) => Kysely<T> }>("kysely-usher.ts");
interface Drizzle {
  readonly drizzleOn: (db: Database.Queryable) => PgRemoteDatabase;
  readonly databaseErrors: <I, A>(handler: (inputs: I) => A | Promise<A>) => (inputs: I) => Promise<A>;
}
const { drizzleOn, databaseErrors } = await guide.load<Drizzle>("drizzle-usher.ts");
interface PrismaQueries {
  queryRaw(query: object): Promise<{ readonly rows: readonly unknown[] }>;
  executeRaw(query: object): Promise<number>;
}
interface PrismaTransaction extends PrismaQueries {
  commit(): Promise<void>;
  rollback(): Promise<void>;
  createSavepoint(name: string): Promise<void>;
  rollbackToSavepoint(name: string): Promise<void>;
}
interface PrismaAdapter extends PrismaQueries {
  startTransaction(level?: string): Promise<PrismaTransaction>;
}
interface Prisma {
  readonly prismaOn: (pool: Database.Pool) => { connect(): Promise<PrismaAdapter> };
  readonly within: <Db, A>(
    client: { readonly $transaction: (work: (db: Db) => Promise<A>) => Promise<unknown> },
    tx: Database.Queryable,
    work: (db: Db) => Promise<A>,
  ) => Promise<A>;
}
const { prismaOn, within } = await guide.load<Prisma>("prisma-usher.ts");

const server = await startPostgres();
const outside = observer(server);
const pool = await Pool.create(server.url(), { size: 3 });
afterAll(() => pool.close());

beforeAll(async () => {
  await outside.unsafe(/```sql\n([^]*?)```/.exec(guide.text)?.[1] ?? "");
});
beforeEach(() => outside`truncate people, visits restart identity`);

/** How each library runs a text on a pool or on a transaction. */
type Run = (db: Database.Queryable, text: string) => Promise<readonly unknown[]>;
const libraries: readonly (readonly [string, string, Run])[] = [
  ["Kysely", "kysely-server.ts", async (db, text) => (await kyselySql.raw(text).execute(kyselyOn(db))).rows],
  [
    "Drizzle",
    "drizzle-server.ts",
    (db, text) => databaseErrors(() => drizzleOn(db).execute(drizzleSql.raw(text)))(undefined),
  ],
];

async function emails(): Promise<readonly string[]> {
  return (await outside`select email from people order by id`).map(({ email }) => email as string);
}

describe.each(libraries)("%s", (_library, program, run) => {
  it("answers as its program on the page says", async () => {
    const env = { ...process.env, DATABASE_URL: server.url(), PORT: "0" };
    const started = await guide.start(program, env);
    const body = JSON.stringify({ email: "ada@shop.example" });
    const add = () =>
      fetch(`${started.url}/people`, { method: "POST", body, headers: { "Content-Type": "application/json" } });
    const added = await add();
    expect([added.status, await added.json()]).toEqual([201, { id: 1, email: "ada@shop.example" }]);
    await outside`insert into people overriding system value values (9007199254740993, 'big@shop.example')`;
    const again = await add();
    expect([again.status, await again.json()]).toMatchObject([409, { error: "taken" }]);
    // The refusal rolled its visit back.
    expect(await outside`select person from visits`).toEqual([{ person: "ada@shop.example" }]);
    const listed = await fetch(`${started.url}/people`);
    // Not `json()`, which would round.
    expect(await listed.text()).toBe(
      '[{"id":1,"email":"ada@shop.example"},{"id":9007199254740993,"email":"big@shop.example"}]',
    );
    expect(await started.stop()).toBe(0);
  });

  it("runs its work again after a conflict, where the transaction has retries", async () => {
    await outside`insert into people (email) values ('a')`;
    let runs = 0;
    await pool.transaction(
      async (tx) => {
        await run(tx, "select email from people");
        // Between the two statements of the first run.
        if (runs++ === 0) await outside`update people set email = 'b'`;
        await run(tx, "update people set email = email || '!'");
      },
      { isolation: "repeatable read", retries: 3 },
    );
    expect([runs, await emails()]).toEqual([2, ["b!"]]);
  });

  it("answers 503 to a conflict in the transaction of a request", async () => {
    await outside`insert into people (email) values ('a')`;
    const store = Dep.ofResource<Database.Pool>("pool");
    const tx = Dep.transaction(store, { isolation: "repeatable read" });
    const route = get(Path.of("x"), { inputs: { tx }, returns: Returns.text }, async ({ tx }) => {
      await run(tx, "select email from people");
      await outside`update people set email = 'b'`;
      await run(tx, "update people set email = email || '!'");
      return "";
    });
    const answer = await Test.call(Test.app([route], { resources: [Dep.resource(store, pool)] }), "GET", "/x");
    expect([answer.status, answer.json()]).toMatchObject([503, { error: "busy" }]);
    expect(await emails()).toEqual(["b"]);
  });

  it.each([
    ["commits what resolves", async (): Promise<string> => "done", ["a"]],
    ["rolls back what rejects", async (): Promise<string> => Promise.reject(new Error("no")), []],
  ] as const)("%s", async (_what, end, kept) => {
    const work = pool.transaction(async (tx): Promise<string> => {
      await run(tx, "insert into people (email) values ('a')");
      return end();
    });
    await work.catch(() => undefined);
    expect(await emails()).toEqual(kept);
  });

  it("neither begins nor ends a transaction inside another", async () => {
    const failing = pool.transaction((tx) => run(tx, "commit"));
    await expect(failing).rejects.toMatchObject({ failure: { kind: "not_committed" } });
  });

  it("fails with the error of the pool, without the values", async () => {
    await outside`insert into people (email) values ('s3cret')`;
    const failing = run(pool, "insert into people (email) values ('s3cret')");
    const thrown = await failing.then(() => undefined, (thrown: unknown) => thrown); // prettier-ignore
    expect(DatabaseError.conflict(thrown, "people_email")).toBe(true);
    expect((thrown as Error).message).not.toContain("s3cret");
  });
});

describe("Kysely's own transaction on a pool", () => {
  interface Tables {
    people: { id: bigint; email: string };
  }

  it("commits, rolls back, and frees the connection", async () => {
    const db = kyselyOn<{ people: { email: string } }>(pool);
    await db.transaction().execute((tx) => tx.insertInto("people").values({ email: "a" }).execute());
    const failing = db.transaction().execute(async (tx) => {
      await tx.insertInto("people").values({ email: "b" }).execute();
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect([await emails(), pool.stats().idle]).toEqual([["a"], 3]);
  });

  it("rejects where the commit does: a statement had failed", async () => {
    const db = kyselyOn<{ people: { email: string } }>(pool);
    const failing = db.transaction().execute(async (tx) => {
      await tx.insertInto("people").values([{ email: "a" }, { email: "a" }]).execute().catch(() => undefined); // prettier-ignore
    });
    await expect(failing).rejects.toMatchObject({ failure: { kind: "not_committed" } });
  });

  it("says how several statements get one connection, as db.connection() has none of its own", async () => {
    const pid = async (db: Kysely<Tables>) => (await kyselySql<{ a: number }>`select pg_backend_pid() as a`.execute(db)).rows[0]?.a; // prettier-ignore
    const db = kyselyOn<Tables>(pool);
    const ways = [pid, (one: Kysely<Tables>) => one.transaction().execute(pid)];
    for (const second of ways)
      await expect(db.connection().execute(async (one) => [await pid(one), await second(one)])).rejects.toThrow(
        "db.connection() has no connection of its own",
      );
    const pids = await pool.use(async (one) => {
      const other = pool.query("select pg_sleep(0.1)");
      const on = kyselyOn<Tables>(one);
      const found = [await pid(on), await pid(on)];
      await other;
      return found;
    });
    expect([new Set(pids).size, pool.stats().idle]).toEqual([1, 3]);
  });

  it("streams", async () => {
    await outside`insert into people (email) select n::text from generate_series(1, 25) as n`;
    const seen: bigint[] = [];
    for await (const { id } of kyselyOn<Tables>(pool).selectFrom("people").select("id").orderBy("id").stream(10))
      seen.push(id);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => BigInt(at + 1)));
    expect(pool.stats().idle).toBe(3);
  });

  it("counts what a statement changed", async () => {
    await outside`insert into people (email) values ('a'), ('b')`;
    const [deleted] = await kyselyOn<Tables>(pool).deleteFrom("people").execute();
    expect(deleted?.numDeletedRows).toBe(2n);
  });
});

/** The adapter for Prisma, by what Prisma calls: the package is not installed. */
describe("Prisma's adapter", () => {
  const scalar = { scalarType: "unknown", arity: "scalar" } as const;
  const asked = (sql: string, args: readonly unknown[] = [], argTypes: readonly object[] = args.map(() => scalar)) => ({
    sql,
    args,
    argTypes,
  });
  /** What a client does with the work of a transaction. */
  const clientOn = (db: Database.Pool) => ({
    async $transaction<A>(work: (db: PrismaTransaction) => Promise<A>): Promise<A> {
      const tx = await (await prismaOn(db).connect()).startTransaction();
      try {
        const given = await work(tx);
        await tx.commit();
        return given;
      } catch (thrown) {
        await tx.rollback();
        throw thrown;
      }
    },
  });
  const add = (email: string) => asked("insert into people (email) values ($1)", [email]);

  it("gives columns with Prisma's types, and values as it reads them", async () => {
    const adapter = await prismaOn(pool).connect();
    const text = `select 9007199254740993::int8 as a, array[1::int8, null] as b, 1.10::numeric as c, date '2026-02-28' as d,
      timestamptz '2026-02-28 13:00:00.5+01' as e, timestamp '2026-02-28 12:00:00' as f, '{"a": 1}'::jsonb as g,
      '\\x00ff'::bytea as h, 7 as i, true as j, 0.5::float8 as k, 'x' as l, array['a,b'] as m, null::uuid as n`;
    expect(await adapter.queryRaw(asked(text))).toEqual({
      columnNames: [..."abcdefghijklmn"],
      columnTypes: [1, 65, 4, 8, 10, 10, 11, 13, 0, 5, 3, 7, 71, 15],
      rows: [
        [
          "9007199254740993",
          ["1", null],
          "1.10",
          "2026-02-28",
          "2026-02-28T12:00:00.5+00:00",
          "2026-02-28T12:00:00+00:00",
          '{"a": 1}',
          Uint8Array.of(0, 255),
          7,
          true,
          0.5,
          "x",
          ["a,b"],
          null,
        ],
      ],
    });
  });

  it("sends bytes and instants by the types of their columns", async () => {
    const adapter = await prismaOn(pool).connect();
    const at = "2026-02-28T12:34:56.789Z";
    const types = [{ dbType: "DATE" }, { dbType: "TIME" }, { dbType: "TIMESTAMPTZ" }, { dbType: "TIMESTAMP" }];
    const { rows } = await adapter.queryRaw(
      asked(
        "select $1::date, $2::time, $3::timestamptz, $4::timestamp, $5::bytea, $6::bytea[]",
        [at, new Date(at), at, at, "AP8=", ["AP8=", null]],
        [
          ...types.map((type) => ({ scalarType: "datetime", arity: "scalar", ...type })),
          { scalarType: "bytes", arity: "scalar" },
          { scalarType: "bytes", arity: "list" },
        ],
      ),
    );
    const instant = "2026-02-28T12:34:56.789+00:00";
    const bytes = Uint8Array.of(0, 255);
    expect(rows).toEqual([["2026-02-28", "12:34:56.789", instant, instant, bytes, [bytes, null]]]);
  });

  it("joins the transaction of a request, whose end is the request's", async () => {
    const client = clientOn(pool);
    const joins = (end: () => Promise<unknown>) =>
      pool.transaction(async (tx) => {
        const pid = "select pg_backend_pid()";
        const { rows } = await within(client, tx, async (db) => {
          await db.executeRaw(add("a"));
          return db.queryRaw(asked(pid));
        });
        expect((await tx.query(pid, [], { rows: "lists" })).rows).toEqual(rows);
        // A part that fails is rolled back, and the rest continues.
        const failing = within(client, tx, async (db) => {
          await db.executeRaw(add("b"));
          return db.executeRaw(add("a"));
        });
        const thrown = await failing.catch((thrown: unknown) => thrown);
        expect(DatabaseError.conflict(thrown, "people_email")).toBe(true);
        await end();
      });
    await expect(joins(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await emails()).toEqual([]);
    await joins(() => Promise.resolve());
    expect([await emails(), pool.stats().idle]).toEqual([["a"], 3]);
  });

  it("begins one on the pool, commits, rolls back, and frees the connection", async () => {
    const adapter = await prismaOn(pool).connect();
    const kept = await adapter.startTransaction("SERIALIZABLE");
    expect(await kept.executeRaw(add("a"))).toBe(1);
    expect(await emails()).toEqual([]);
    await kept.commit();
    const dropped = await adapter.startTransaction();
    await dropped.executeRaw(add("b"));
    await dropped.createSavepoint("s0");
    await expect(dropped.executeRaw(add("b"))).rejects.toBeInstanceOf(DatabaseError);
    await dropped.rollbackToSavepoint("s0");
    expect(await dropped.executeRaw(add("c"))).toBe(1);
    await dropped.rollback();
    expect([await emails(), pool.stats().idle]).toEqual([["a"], 3]);
    await expect(adapter.startTransaction("SNAPSHOT")).rejects.toThrow("isolation must be");
    const failed = await adapter.startTransaction();
    await expect(failed.executeRaw(add("a"))).rejects.toMatchObject({ failure: { kind: "conflict" } });
    // The server has rolled it back.
    await expect(failed.commit()).rejects.toMatchObject({ failure: { kind: "not_committed" } });
    expect(pool.stats().idle).toBe(3);
  });

  it("takes its isolation from the transaction that it joins", async () => {
    const client = { $transaction: async () => (await prismaOn(pool).connect()).startTransaction("SERIALIZABLE") };
    const joining = pool.transaction((tx) => within(client, tx, async () => 1));
    await expect(joining).rejects.toThrow("name the isolation where the transaction begins");
  });
});
