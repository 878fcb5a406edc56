/** What `query` and `batches` do on the runtime that runs this file, each with what it is to give. */
import fc from "fast-check";
import { DatabaseError, Pool, Type } from "../../../adapters/postgres/index.ts";
import type { Queryable } from "../../../adapters/postgres/index.ts";
import { columns, kinds, lists, refused, refusedByServer } from "./query-tables.ts";

/** What an act has: a pool of one connection, so that what is not returned is missed at once, and one that looks from outside. */
interface Pools {
  readonly pool: Pool;
  readonly other: Pool;
}

interface Act {
  readonly play: (pools: Pools) => Promise<unknown>;
  readonly gives: unknown;
}

/** A value with its type, as a text: of JSON's own, a `bigint`, a `Date` and bytes would be lost. */
export function shown(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof Date) return `Date ${value.toISOString()}`;
  if (value instanceof Uint8Array) return `bytes ${[...value].join()}`;
  if (Array.isArray(value)) return `[${Array.from(value, shown).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? String(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${shown(member)}`);
  return `{${members.toSorted().join(", ")}}`;
}

/** The failure of what rejects, as [kind, code, whether it quotes a value]; what the promise gave, if it resolves. */
async function failureOf(failing: Promise<unknown>): Promise<readonly [kind: string, code: unknown, message: string]> {
  try {
    return ["none", undefined, shown(await failing)];
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError)) return ["NO DATABASE ERROR", undefined, String(thrown)];
    const { failure, message } = thrown;
    if (message.includes("s3cret")) return ["TELLS A VALUE", undefined, message];
    return [failure.kind, "code" in failure ? failure.code : undefined, message];
  }
}

const one = "select 1 as one";
const numbers = "select n::int8 from generate_series($1::int4, 2500) as n order by n";

/** Waits for what another session does. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<true> {
  const end = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`it never came: ${isSo.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return true;
}

/** No cursor is left, no transaction is open, and the one connection is free. */
async function clean({ pool, other }: Pools): Promise<string> {
  await until(() => pool.stats().idle === 1);
  const text = "select pg_backend_pid() as pid, (select count(*) from pg_cursors where name like 'usher%') as cursors";
  const { pid, cursors } = (await pool.query(text)).rows[0] as { readonly pid: number; readonly cursors: bigint };
  const found = await other.query<{ state: string }>("select state from pg_stat_activity where pid = $1", [pid]);
  return `${cursors} ${found.rows[0]?.state === "idle in transaction" ? "in a transaction" : "idle"}`;
}
const isClean = "0 idle";

async function pidOf(pool: Pool): Promise<number> {
  return (await pool.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid as number;
}

async function isSleeping(other: Pool, pid: number): Promise<boolean> {
  const text = "select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'";
  return (await other.query(text, [pid])).count === 1;
}

/** Ends a session as the server's owner does, and waits for that. */
async function killed(other: Pool, pid: number): Promise<void> {
  await other.query("select pg_terminate_backend($1)", [pid]);
  await until(async () => (await other.query("select from pg_stat_activity where pid = $1", [pid])).count === 0);
}

/** What a statement fails with that was not sent as its connection had ended, and one that was. */
function isGone(kind: string): boolean {
  return kind === "connection_closed" || kind === "lost";
}

/** The three that have `query`. */
const ways: readonly (<A>(pool: Pool, work: (db: Queryable) => Promise<A>) => Promise<A>)[] = [
  (pool, work) => work(pool),
  (pool, work) => pool.use(work),
  (pool, work) => pool.transaction(work),
];

/** What each of the three gives for it. */
async function onEach<A>({ pool }: Pools, work: (db: Queryable) => Promise<A>): Promise<readonly A[]> {
  const got: A[] = [];
  for (const way of ways) got.push(await way(pool, work));
  return got;
}

/** What is left of batches after a loop that ends in the middle. */
async function leftBy(pools: Pools, end: (batches: AsyncIterableIterator<unknown>) => Promise<unknown>) {
  const got: unknown[] = [];
  for (const way of ways) {
    await way(pools.pool, async (db) => {
      got.push(await end(db.batches(numbers, [1], { size: 10 })), (await db.query(one)).rows);
    });
    got.push(await clean(pools));
  }
  return got;
}
const leaves = (what: unknown): unknown => ways.flatMap(() => [what, [{ one: 1 }], isClean]);

export const acts: { readonly [name: string]: Act } = {
  "a column is read by its type": {
    async play({ pool }) {
      const got: unknown[] = [];
      for (const [expression] of columns) got.push((await pool.query(`select ${expression} as it`)).rows[0]?.["it"]);
      return got;
    },
    gives: columns.map(([, value]) => value),
  },
  "a prepared statement gives the same on each run": {
    async play({ pool }) {
      const text = "select $1::int8 as big, null::int4 as none, $2::timestamptz as at";
      const got: unknown[] = [];
      for (let run = 0; run < 4; run++) got.push(await pool.query(text, [2n ** 53n + 1n, new Date(1)]));
      return got;
    },
    gives: Array.from({ length: 4 }, () => ({
      rows: [{ big: 9007199254740993n, none: null, at: new Date(1) }],
      count: 1,
      columns: [
        { name: "big", type: 20 },
        { name: "none", type: 23 },
        { name: "at", type: 1184 },
      ],
      command: "SELECT",
    })),
  },
  "a value comes back as it was sent": {
    async play({ pool }) {
      const wrong: unknown[] = [];
      const isBack = (type: string) => async (value: unknown) => {
        const { rows } = await pool.query(`select $1::${type} as it`, [value]);
        if (shown(rows[0]?.["it"]) !== shown(value)) throw new Error(`${shown(value)} became ${shown(rows)}`);
      };
      for (const [type, values] of kinds) {
        const plain = fc.asyncProperty(fc.option(values), isBack(type));
        const listed = fc.asyncProperty(lists(values), isBack(`${type}[]`));
        for (const property of [plain, listed]) {
          const { failed, errorInstance } = await fc.check(property as fc.IAsyncProperty<unknown>, { numRuns: 12 });
          if (failed) wrong.push(`${type}: ${String(errorInstance)}`);
        }
      }
      return wrong;
    },
    gives: [],
  },
  "other types, and rows as lists": {
    async play({ pool }) {
      const types = { int8: Type.text, jsonb: Type.text };
      const text = "select 1 as a, 2::int8 as a, array[3::int8, null] as b, '[1]'::jsonb as c";
      const [kind, , message] = await failureOf(pool.query(text));
      const { rows } = await pool.query(text, [], { rows: "lists", types });
      return [rows, kind, message.includes("there are several columns a")];
    },
    gives: [[[1, "2", ["3", null], "[1]"]], "db", true],
  },
  "what is changed is counted, and a violated constraint has its name": {
    play: (pools) =>
      onEach(pools, async (db) => {
        const added = await db.query("insert into person values ($1, $2), ($3, $4)", [1n, "a", 2, "b"]);
        const changed = await db.query("update person set name = name || '!' returning id");
        const removed = await db.query("delete from person");
        return [added.count, added.command, changed.rows, changed.count, removed.count, removed.command];
      }).then(async (counted) => {
        const twice = pools.pool.query("insert into person values (1, $1), (2, $1)", ["s3cret"]);
        const isNamed = await twice.catch((thrown: unknown) => DatabaseError.conflict(thrown, "person_name"));
        return [counted, isNamed, (await failureOf(twice))[0]];
      }),
    gives: [ways.map(() => [2, "INSERT", [{ id: 1n }, { id: 2n }], 2, 2, "DELETE"]), true, "conflict"],
  },
  "what cannot be sent is refused before, and a transaction continues": {
    play: (pools) =>
      onEach(pools, async (db) => {
        const wrong: unknown[] = [];
        for (const [what, text, values, why] of refused) {
          const [kind, code, message] = await failureOf(db.query(text, values));
          const then = (await db.query(one)).count;
          if (kind !== "db" || code !== undefined || !message.includes(why) || then !== 1) wrong.push([what, message]);
        }
        return wrong;
      }),
    gives: ways.map(() => []),
  },
  "what the server refuses has its code, and no value": {
    async play({ pool }) {
      const wrong: unknown[] = [];
      for (const [what, text, values, codes] of refusedByServer) {
        const [kind, code, message] = await failureOf(pool.query(text, values));
        if (kind !== "db" || !codes.test(String(code))) wrong.push([what, kind, code, message]);
      }
      return [wrong, (await pool.query(one)).rows];
    },
    gives: [[], [{ one: 1 }]],
  },
  "a transaction is rolled back whole": {
    async play({ pool }) {
      const failing = pool.transaction(async (tx) => {
        await tx.query("insert into person values (7, 'seven')");
        await tx.query("insert into person values (7, $1)", ["s3cret"]);
      });
      return [(await failureOf(failing))[0], (await pool.query("select from person where id = 7")).count];
    },
    gives: ["conflict", 0],
  },
  "many at a time have each their own result": {
    async play({ pool }) {
      const all = Array.from({ length: 100 }, (_, at) => pool.query<{ a: number }>("select $1::int4 as a", [at]));
      return (await Promise.all(all)).map(({ rows }) => rows[0]?.a);
    },
    gives: Array.from({ length: 100 }, (_, at) => at),
  },
  "a signal cancels what runs, and the connection is kept": {
    async play({ pool, other }) {
      const pid = await pidOf(pool);
      const controller = new AbortController();
      const sleeping = failureOf(pool.query("select pg_sleep(600)", [], { signal: controller.signal }));
      await until(async () => isSleeping(other, pid));
      controller.abort();
      const [kind, code] = await sleeping;
      return [kind, code, (await pidOf(pool)) === pid];
    },
    gives: ["db", "57014", true],
  },
  "batches give each row once": {
    async play(pools) {
      const read = async (db: Queryable) => {
        const lengths: number[] = [];
        const seen: bigint[] = [];
        for await (const rows of db.batches<{ n: bigint }>(numbers, [2494], { size: 3 })) {
          lengths.push(rows.length);
          for (const { n } of rows) seen.push(n);
        }
        return [lengths, seen];
      };
      return [await onEach(pools, read), await clean(pools)];
    },
    gives: [
      ways.map(() => [
        [3, 3, 1],
        [2494n, 2495n, 2496n, 2497n, 2498n, 2499n, 2500n],
      ]),
      isClean,
    ],
  },
  "batches are left by break": {
    play: (pools) =>
      leftBy(pools, async (batches) => {
        for await (const rows of batches) return (rows as readonly unknown[]).length;
        return 0;
      }),
    gives: leaves(10),
  },
  "batches are left by throw": {
    play: (pools) =>
      leftBy(pools, async (batches) => {
        try {
          for await (const rows of batches) throw new Error(`of the loop: ${(rows as readonly unknown[]).length}`);
        } catch (thrown) {
          return (thrown as Error).message;
        }
        return "";
      }),
    gives: leaves("of the loop: 10"),
  },
  "batches are left before the first one": {
    play: (pools) => leftBy(pools, async (batches) => [await batches.return?.(), await batches.next()]),
    gives: leaves([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]),
  },
  "batches that fail in the middle": {
    async play(pools) {
      const seen: number[] = [];
      const failing = async () => {
        const text = "select $2::text as x, 1 / (25 - n) from generate_series(1, $1::int4) as n";
        for await (const rows of pools.pool.batches(text, [99, "s3cret"], { size: 10 })) seen.push(rows.length);
      };
      return [(await failureOf(failing())).slice(0, 2), seen, await clean(pools)];
    },
    gives: [["db", "22012"], [10, 10], isClean],
  },
  "a signal ends batches between two of them": {
    async play(pools) {
      const controller = new AbortController();
      const batches = pools.pool.batches(numbers, [1], { size: 10, signal: controller.signal });
      await batches.next();
      const before = pools.pool.stats().idle;
      controller.abort();
      const after = await clean(pools);
      return [before, after, (await failureOf(batches.next())).slice(0, 2), await batches.next()];
    },
    gives: [0, isClean, ["db", "57014"], { done: true, value: undefined }],
  },
  "batches whose session the server ends between two of them fail, and the pool recovers": {
    async play(pools) {
      const pid = await pidOf(pools.pool);
      const batches = pools.pool.batches(numbers, [1], { size: 10 });
      await batches.next();
      await killed(pools.other, pid);
      const [kind] = await failureOf(batches.next());
      return [isGone(kind), (await pools.pool.query(one)).rows, await clean(pools)];
    },
    gives: [true, [{ one: 1 }], isClean],
  },
  "a query and batches whose session the server ends while they run fail, and the pool recovers": {
    async play(pools) {
      const got: unknown[] = [];
      for (const ask of [
        () => pools.pool.query("select pg_sleep($1)", [600]),
        () => pools.pool.batches("select pg_sleep($1)", [600]).next(),
      ]) {
        const pid = await pidOf(pools.pool);
        const failing = failureOf(ask());
        await until(async () => isSleeping(pools.other, pid));
        await killed(pools.other, pid);
        got.push(isGone((await failing)[0]), await clean(pools));
      }
      return got;
    },
    gives: [true, isClean, true, isClean],
  },
};

/** Plays one, with pools of its own. */
export async function play(name: string, url: string): Promise<string> {
  const pool = await Pool.create(url, { size: 1 });
  const other = await Pool.create(url, { size: 1 });
  try {
    return shown(await (acts[name] as Act).play({ pool, other }));
  } catch (thrown) {
    return `PLAYED WRONG: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`;
  } finally {
    await Promise.all([pool.close(), other.close()]);
  }
}
