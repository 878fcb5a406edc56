/** The state that a borrower, a failure or the pool's maintenance leaves behind does not affect the next caller. */
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { Refusal, refuse } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import "../../support/logs.ts";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { eventually, pools } from "./pools.ts";
import { behindProxy, failure, one, pid, watching } from "./whole.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch`create table kept (name text)`;

const { expectWhole } = watching(watch);
const behind = (options: PoolOptions) => behindProxy(server, options);
const add = Statement.exec("insert into kept values ($1)", { params: [Type.text] });
const countKept = Statement.find("select count(*) as kept from kept where name = $1", {
  params: [Type.text],
  row: { kept: Type.int64 },
});
const lock = Statement.exec("select pg_advisory_lock(7)");

describe("a transaction whose function or `keep` throws", () => {
  const hostile = (): never => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy as never;
  };
  const sorry = refuse(Refusal.code("sold_out", { status: 409, doc: "There is none left." }));
  const boom = (): never => {
    throw new TypeError("keep threw");
  };

  it.each<[string, { work: () => unknown; keep?: () => boolean }, expected: unknown]>([
    ["keep throws", { work: () => sorry, keep: boom }, new TypeError("keep threw")],
    ["the work throws what cannot be asked anything", { work: () => Promise.reject(hostile()) }, undefined],
  ])("is rolled back when %s, and the next borrower has no transaction", async (_when, { work, keep }, expected) => {
    const { some } = await behind({ size: 1 });
    const done = some
      .transaction(
        async (db) => {
          await db.exec(add, "not kept");
          return work();
        },
        keep === undefined ? {} : { keep },
      )
      .then(
        () => "done",
        (thrown: unknown) => (expected === undefined ? "thrown" : thrown),
      );
    expect(await done).toEqual(expected ?? "thrown");
    expect(await some.exec(countKept, "not kept")).toEqual({ kept: 0n });
    await some.exec(add, "of the next");
    expect(await watch`select name from kept where name in ('not kept', 'of the next')`).toEqual([
      { name: "of the next" },
    ]);
    await watch`delete from kept`;
    await expectWhole(some);
  });
});

describe("a transaction that does not begin", () => {
  it("because a connection was lost begins on another one", async () => {
    const { proxy, some } = await behind({ size: 1 });
    for (let turn = 1; turn < 4; turn++) {
      proxy.cutAll();
      expect(await some.transaction((db) => db.exec(one))).toEqual({ one: 1 });
      expect(some.stats()).toEqual({ size: 1, idle: 1, waiting: 0, replaced: turn });
    }
    await expectWhole(some);
  });

  it("because two were lost is not sent, and gives both places back", async () => {
    const { proxy, some } = await behind({ size: 2 });
    for (let turn = 1; turn < 4; turn++) {
      proxy.cutAll();
      let ran = 0;
      expect(await failure(some.transaction(async () => ran++))).toMatchObject({ kind: "unsent" });
      expect(ran).toBe(0);
      await expectWhole(some);
      expect(some.stats().replaced).toBe(2 * turn);
    }
  });

  it("for a refusal of the server does not give that connection to another caller", async () => {
    const { proxy, some } = await behind({ size: 1, statementCache: 0 });
    const { pid: before } = await some.exec(pid);
    proxy.refuse("begin");
    const { pid: after } = await some.transaction((db) => db.exec(pid));
    expect(after).not.toBe(before);
    await expectWhole(some);
  });

  it("again after a conflict was not sent, and does not give that connection to another caller", async () => {
    const { proxy, some } = await behind({ size: 1, statementCache: 0 });
    const { pid: before } = await some.exec(pid);
    const conflict = Statement.exec("do $$ begin raise exception 'again' using errcode = '40001'; end $$");
    let runs = 0;
    const work = some.transaction(
      (db) => {
        runs++;
        proxy.refuse("begin isolation");
        return db.exec(conflict);
      },
      { retries: 5, isolation: "serializable" },
    );
    expect([await failure(work), runs]).toEqual([{ kind: "unsent", detail: expect.any(String) }, 1]);
    expect((await some.exec(pid)).pid).not.toBe(before);
    await expectWhole(some);
  });
});

it("a transaction that the server does not roll back closes its connection", async () => {
  const { proxy, some } = await behind({ size: 1, statementCache: 0 });
  const bug = new TypeError("a bug");
  for (const name of ["first", "second"]) {
    const thrown = some.transaction(async (db) => {
      await db.exec(add, `${name} rolled back`);
      proxy.refuse("rollback");
      throw bug;
    });
    expect(await failure(thrown)).toBe(bug);
    await some.transaction((db) => db.exec(add, name));
    await expectWhole(some);
  }
  expect((await watch`select name from kept order by name`).map(({ name }) => String(name))).toEqual([
    "first",
    "second",
  ]);
});

it("a session that the server ends is used no more, although the connection stays open", async () => {
  const { proxy, some } = await behind({ size: 1, statementCache: 0 });
  const { pid: before } = await some.exec(pid);
  proxy.refuse("select 1 as one", "FATAL");
  expect(await failure(some.exec(one))).toMatchObject({ kind: "lost" });
  expect((await some.exec(pid)).pid).not.toBe(before);
  await expectWhole(some);
});

it("a session that the server does not reset closes its connection", async () => {
  const { proxy, some } = await behind({ size: 1 });
  const setting = Statement.find("select current_setting('search_path') as value", { row: { value: Type.text } });
  for (let turn = 1; turn < 3; turn++) {
    await some.use(async (db) => {
      await db.exec(Statement.exec("set search_path to nowhere"));
      proxy.refuse("reset all");
    });
    expect(await some.exec(setting)).toEqual({ value: '"$user", public' });
    expect(some.stats().replaced).toBe(turn);
    await expectWhole(some);
  }
});

it.each(["use", "transaction"] as const)(
  "the signal of a %s that has ended cancels no statement of the next one",
  async (way) => {
    const some = await pool({ size: 1 });
    const leaving = new AbortController();
    expect(await some[way]((db) => db.exec(one), { signal: leaving.signal })).toEqual({ one: 1 });
    expect(getEventListeners(leaving.signal, "abort")).toEqual([]);
    await watch`select pg_advisory_lock(7)`;
    const waiting = failure(some.exec(lock));
    await eventually(
      async () => (await watch`select 1 from pg_stat_activity where wait_event = 'advisory'`).length,
    ).toBe(1);
    leaving.abort();
    expect(await failure(some.use((db) => db.exec(one), { signal: leaving.signal, waitMs: 1 }))).toMatchObject({
      kind: "unsent",
    });
    await watch`select pg_advisory_unlock(7)`;
    expect(await waiting).toBe("nothing was thrown");
    await some.use((db) => db.exec(Statement.exec("select pg_advisory_unlock_all()")));
  },
);

it("a caller that waited for a connection removes its listener from its signal, however the wait ended", async () => {
  const some = await pool({ size: 1 });
  const held = gate();
  const holder = some.use(() => held.passed);
  const signals = Array.from({ length: 3 }, () => new AbortController());
  const [served, late, left] = signals.map(({ signal }, at) =>
    failure(some.use((db) => db.exec(one), { signal, waitMs: at === 1 ? 1 : 60_000 })),
  );
  expect(signals.map(({ signal }) => getEventListeners(signal, "abort").length)).toEqual([1, 1, 1]);
  expect(await late).toEqual({ kind: "pool_busy", waitedMs: 1 });
  signals[2]?.abort();
  expect(await left).toMatchObject({ kind: "unsent" });
  held.open();
  expect([await holder, await served]).toEqual([undefined, "nothing was thrown"]);
  expect(signals.map(({ signal }) => getEventListeners(signal, "abort").length)).toEqual([0, 0, 0]);
  expect(some.stats()).toMatchObject({ idle: 1, waiting: 0 });
});

it("many who wait or run with one signal listen to it once: on Node 20 an eleventh listener warns of a leak", async () => {
  const some = await pool({ size: 4 });
  const { signal } = new AbortController();
  const all = Promise.all(Array.from({ length: 20 }, () => some.use((db) => db.exec(pid), { signal })));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await all;
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
