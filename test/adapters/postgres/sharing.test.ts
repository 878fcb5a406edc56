/** Quick statements that only read share a connection while callers wait for one. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Pool, Statement, Type } from "usher-http/postgres";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { failure } from "./failing-server.ts";
import { pools } from "./pools.ts";
import { holdTheClock, until } from "./whole.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch.unsafe("create table item (id int primary key, name text); insert into item values (1, 'one')");

// However busy the machine is, no run takes long while the clock stands.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const echo = Statement.find("select $1::int as n", { params: [Type.int], row: { n: Type.int } });
const divide = Statement.find("select 12 / $1::int as n", { params: [Type.int], row: { n: Type.int } });
const count = Statement.find("select count(*)::int as n from item", { row: { n: Type.int } });
const endIf = Statement.find("select case when $1 then pg_terminate_backend(pg_backend_pid()) end is null as is_open", {
  params: [Type.bool],
  row: { is_open: Type.bool },
});

type Run = () => Promise<unknown>;

/** This number of runs that wait for a connection that the statement counts as quick. */
async function prove(run: Run): Promise<void> {
  await Promise.all(Array.from({ length: 110 }, run));
}

/** Of nine callers at once, how many get the one connection when the first is answered. */
async function together(some: Pool, run: Run): Promise<number> {
  const all = Array.from({ length: 9 }, run);
  await all[0];
  const taken = 8 - some.stats().waiting;
  await Promise.all(all);
  return taken;
}

describe("the number of callers that share a connection", () => {
  it.each<[sql: string, expected: number]>([
    ["select 1 as n", 4],
    ["\n  SELECT 1 as n", 4],
    ["insert into item values (1) on conflict do nothing", 1],
    ["with one as (select 1) select * from one", 1],
    ["select 1 as n from item for update", 1],
    ["select 1 as n from item\n for no key update", 1],
    ["select 1 as n from item for share", 1],
  ])("%j: %d", async (sql, expected) => {
    const some = await pool({ size: 1 });
    const statement = Statement.exec(sql);
    await prove(() => some.exec(statement));
    expect(await together(some, () => some.exec(statement))).toBe(expected);
  });

  it("is one before the statement has run often", async () => {
    const some = await pool({ size: 1 });
    expect(await together(some, () => some.exec(count))).toBe(1);
  });

  it("is one if each connection has one waiter", async () => {
    const some = await pool({ size: 2 });
    await prove(() => some.exec(count));
    const all = Array.from({ length: 5 }, () => some.exec(count));
    await Promise.race(all);
    expect(some.stats().waiting).toBe(2);
    await Promise.all(all);
  });

  it("is one if a pool resets each session", async () => {
    const some = await pool({ size: 1, reset: "always" });
    await prove(() => some.exec(count));
    expect(await together(some, () => some.exec(count))).toBe(1);
  });

  it("is one again after a slow run, for some time", async () => {
    const some = await pool({ size: 1 });
    await prove(() => some.exec(count));
    const first = some.exec(count);
    const slow = some.exec(count);
    await first;
    // The second is sent by now, and its answer cannot be read before the next turn of the event loop.
    vi.advanceTimersByTime(150);
    await slow;
    expect(await together(some, () => some.exec(count))).toBe(1);
    await prove(() => some.exec(count));
    expect(await together(some, () => some.exec(count))).toBe(4);
  });
});

describe("callers that share a connection", () => {
  it("each get their own result", async () => {
    const some = await pool({ size: 2 });
    const numbers = Array.from({ length: 1000 }, (_, n) => n);
    expect(await Promise.all(numbers.map((n) => some.exec(echo, n)))).toEqual(numbers.map((n) => ({ n })));
  });

  it("each have their whole time limit, however long the one before took", async () => {
    holdTheClock();
    const some = await pool({ size: 1, statementTimeoutMs: 30_000 });
    const locks = Statement.find("select 1 as n from pg_advisory_xact_lock($1)", {
      params: [Type.int64],
      row: { n: Type.int },
    });
    await prove(() => some.exec(locks, 0n));
    await watch`select pg_advisory_lock(id) from generate_series(1, 3) id`;
    const all = [0n, 1n, 2n, 3n].map((key) => some.exec(locks, key));
    for (let key = 1; key < 4; key++) {
      await until(async () => (await watch`select 1 from pg_locks where not granted and objid = ${key}`).length > 0);
      expect(some.stats().waiting).toBe(0);
      // Five seconds past the server's own bound: any two of these would be past it.
      vi.advanceTimersByTime(20_000);
      await watch`select pg_advisory_unlock(${key})`;
      expect(await all[key]).toEqual({ n: 1 });
    }
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 0 });
  });

  it("fail alone", async () => {
    const some = await pool({ size: 1 });
    await prove(() => some.exec(divide, 1));
    const all = [1, 2, 0, 3, 4, 6].map((by) => failureOr(some.exec(divide, by)));
    expect(await Promise.all(all)).toEqual([
      { n: 12 },
      { n: 6 },
      expect.objectContaining({ kind: "db", code: "22012" }),
      { n: 4 },
      { n: 3 },
      { n: 2 },
    ]);
  });

  it("are answered if the server has deallocated the statement", async () => {
    const some = await pool({ size: 1, reset: "never" });
    await prove(() => some.exec(echo, 0));
    const forget = Statement.exec("deallocate all");
    const forgotten = some.use((db) => db.exec(forget));
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    expect(await Promise.all(numbers.map((n) => some.exec(echo, n)))).toEqual(numbers.map((n) => ({ n })));
    await forgotten;
    expect(some.stats()).toMatchObject({ replaced: 0 });
  });
});

it("are answered by a second connection if two have deallocated the statement", async () => {
  const some = await pool({ size: 2 });
  await watch.unsafe("drop table if exists changed; create table changed (id int); insert into changed values (1)");
  const all = Statement.exec("select * from changed");
  await prove(() => some.exec(all));
  const [first, second, third] = [gate(), gate(), gate()];
  const held = [some.use(() => first.passed), some.use(() => second.passed)];
  await watch`alter table changed add more int`;
  const leaving = new AbortController();
  const two = [failureOr(some.exec(all)), failureOr(some.exec(all))];
  held.push(some.use(() => third.passed));
  const left = failureOr(some.use(async () => {}, { signal: leaving.signal }));
  first.open();
  await two[1];
  // The first connection is held again, and the one of the two that it has not answered waits for the second.
  await until(() => some.stats().waiting === 2);
  leaving.abort();
  await left;
  const others = Array.from({ length: 3 }, () => failureOr(some.exec(all)));
  second.open();
  const answered = await Promise.all([...two, ...others]);
  third.open();
  await Promise.all(held);
  expect(answered).toEqual(Array.from({ length: 5 }, () => undefined));
  expect(some.stats()).toMatchObject({ replaced: 0 });
});

describe("callers that share a connection that ends", () => {
  it("behind the one at which the server ended the session are answered on another", async () => {
    const some = await pool({ size: 1 });
    await prove(() => some.exec(endIf, false));
    const all = [false, false, true, false, false].map((ends) => failureOr(some.exec(endIf, ends)));
    const open = { is_open: true };
    expect(await Promise.all(all)).toEqual([open, open, expect.objectContaining({ kind: "lost" }), open, open]);
    expect(some.stats()).toMatchObject({ replaced: 1, idle: 1, waiting: 0 });
  });

  it("behind an error are lost, if the connection ends before they are answered", async () => {
    const proxy = await CuttingProxy.to(server.port);
    const some = await Pool.create(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, { size: 1 });
    await prove(() => some.exec(divide, 1));
    proxy.cutAfterError();
    const all = [1, 0, 2, 3, 4, 6].map((by) => failureOr(some.exec(divide, by)));
    const lost = expect.objectContaining({ kind: "lost" });
    // The server runs them after the error: to run them again would be twice.
    expect(await Promise.all(all)).toEqual([
      { n: 12 },
      expect.objectContaining({ kind: "db", code: "22012" }),
      lost,
      lost,
      lost,
      { n: 2 },
    ]);
    await some.close();
    proxy.close();
  });

  it("are all lost with the connection, and no other caller", async () => {
    const proxy = await CuttingProxy.to(server.port);
    const some = await Pool.create(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, { size: 1 });
    await prove(() => some.exec(echo, 0));
    const all = Array.from({ length: 9 }, (_, n) => failureOr(some.exec(echo, n)));
    await all[0];
    proxy.cutAll();
    const lost = expect.objectContaining({ kind: "lost" });
    expect(await Promise.all(all)).toEqual([
      { n: 0 },
      ...Array.from({ length: 4 }, () => lost),
      ...Array.from({ length: 4 }, (_, at) => ({ n: at + 5 })),
    ]);
    await some.close();
    proxy.close();
  });
});

function failureOr(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    (row) => row,
    () => failure(run),
  );
}
