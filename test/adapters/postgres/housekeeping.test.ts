/** What a pool does of its own, by a clock that the test holds: asks what was idle, renews what is old, connects again. */
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Pool, Statement, Type } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import "../../support/logs.ts";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { eventually } from "./pools.ts";
import { allAtOnce, failure, heldPool, one, passing, pid, timersLeft, until, watching } from "./whole.ts";

const server = await startPostgres();
const watch = observer(server);
// It connects before a test holds the clock, and its timers are none of a pool's.
await watch`select 1`;
const { sessions, expectWhole } = watching(watch);

const held = (options: PoolOptions) => heldPool(server, options);

/** Lets time pass, a sweep of the pool at a time, each of which the server answers. */
async function pass(some: Pool, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    vi.advanceTimersByTime(250);
    await until(() => some.stats().idle === some.stats().size);
  }
}

/** When each session was last asked something. */
async function askedAt(): Promise<readonly unknown[]> {
  const rows = await watch`select query_start::text as at from pg_stat_activity
    where application_name = 'usher' and query = 'select 1' order by query_start`;
  return rows.map(({ at }) => at);
}

describe("a connection that was idle for long", () => {
  const bounds = { size: 2, idleCheckMs: 1000 };

  it("is checked, and kept if it works, however long after", async () => {
    const { some } = await held(bounds);
    const before = await allAtOnce(some);
    const seen = new Set<string>();
    for (let i = 0; i < 5; i++) {
      await pass(some, 4000);
      seen.add((await askedAt()).join());
    }
    expect(seen.size).toBe(5);
    expect(await allAtOnce(some)).toEqual(before);
    expect(some.stats()).toEqual({ size: 2, idle: 2, waiting: 0, replaced: 0 });
  });

  it("is not checked if it was used meanwhile", async () => {
    const { some } = await held(bounds);
    for (let i = 0; i < 4; i++) {
      vi.advanceTimersByTime(750);
      // Who is asked is lent as it is asked.
      expect(some.stats().idle).toBe(2);
      await allAtOnce(some);
    }
  });

  it("is destroyed after five seconds when the server does not answer, and its place is free again", async () => {
    const { proxy, some } = await held(bounds);
    for (let turn = 1; turn < 4; turn++) {
      const hushed = proxy.hush();
      vi.advanceTimersByTime(1250);
      await hushed;
      proxy.speak();
      vi.advanceTimersByTime(4999);
      expect(some.stats()).toMatchObject({ idle: 1, replaced: turn - 1 });
      vi.advanceTimersByTime(1);
      await until(() => some.stats().replaced === turn);
      await expectWhole(some);
    }
  });

  it("is closed if the check fails", async () => {
    const { proxy, some } = await held({ ...bounds, statementCache: 0 });
    proxy.refuse("select 1");
    vi.advanceTimersByTime(1250);
    await until(() => some.stats().replaced === 1);
    await expectWhole(some);
  });

  it("is neither checked nor replaced if these times are 0", async () => {
    const { some } = await held({ size: 2, maxLifetimeMs: 0, idleCheckMs: 0 });
    const [before, asked] = [await allAtOnce(some), await askedAt()];
    await pass(some, 10_000);
    expect([await askedAt(), await allAtOnce(some)]).toEqual([asked, before]);
  });
});

describe("a connection that is old", () => {
  const bounds = { size: 1, maxLifetimeMs: 1000, idleCheckMs: 60_000 };

  it("and that dies while its replacement opens gets the replacement, and another one is closed", async () => {
    const { proxy, some } = await held(bounds);
    const { pid: old } = await some.exec(pid);
    proxy.hold();
    vi.advanceTimersByTime(1500);
    await until(() => proxy.held === 1);
    await watch`select pg_terminate_backend(${old})`;
    await until(() => proxy.held === 2);
    proxy.letIn();
    await until(() => some.stats().replaced === 1);
    await expectWhole(some);
  });

  it.each(["idle", "lent"])("is replaced if a replacement failed at first: %s", async (state) => {
    const { proxy, some } = await held({ ...bounds, idleCheckMs: 1000 });
    const { pid: old } = await some.exec(pid);
    const back = gate();
    const holder = state === "lent" ? some.use(() => back.passed) : undefined;
    for (let turn = 0; turn < 3; turn++) {
      proxy.hold();
      vi.advanceTimersByTime(1500);
      await until(() => proxy.held === 1);
      proxy.turnAway();
      await until(() => proxy.connections === 1);
    }
    proxy.hold();
    vi.advanceTimersByTime(1500);
    await until(() => proxy.held === 1);
    proxy.letIn();
    await until(async () => (await sessions()) === 2 || some.stats().replaced === 1);
    // What is lent has one that takes its place, and needs no other.
    if (state === "lent") {
      for (let i = 0; i < 3; i++) {
        vi.advanceTimersByTime(1000);
        // Whatever is opened with it is open by then.
        const another = await Pool.create(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, { size: 1 });
        await another.close();
      }
      await until(() => proxy.connections === 2);
    }
    back.open();
    await holder;
    await until(() => some.stats().replaced === 1);
    expect((await some.exec(pid)).pid).not.toBe(old);
    await expectWhole(some);
  });

  it.each([
    ["idle", "let in"],
    ["lent", "let in"],
    ["dead", "let in"],
    ["idle", "turned away"],
    ["lent", "turned away"],
  ])("and is %s while its pool closes leaves nothing, nor does its replacement, %s", async (state, other) => {
    const { proxy, some } = await held(bounds);
    const { pid: old } = await some.exec(pid);
    const back = gate();
    const holder = state === "lent" ? some.use(() => back.passed) : undefined;
    proxy.hold();
    vi.advanceTimersByTime(1500);
    await until(() => proxy.held === 1);
    if (state === "dead") await watch`select pg_terminate_backend(${old})`;
    const closing = some.close();
    back.open();
    await holder;
    let isClosed = false;
    const closed = closing.then(() => (isClosed = true));
    await until(async () => (await sessions()) === 0);
    expect(isClosed).toBe(false);
    if (other === "let in") proxy.letIn();
    else proxy.turnAway();
    await closed;
    await eventually(sessions).toBe(0);
    expect(timersLeft()).toEqual([]);
  });
});

it("waiting callers fail in time, repeatedly, and no timer outlives the pool", async () => {
  const { some } = await held({ size: 1, waitMs: 5000 });
  const back = gate();
  const holder = some.use(() => back.passed);
  for (let turn = 0; turn < 3; turn++) {
    const busy = failure(some.exec(one));
    const short = failure(some.use((db) => db.exec(one), { waitMs: 10 }));
    vi.advanceTimersByTime(10);
    expect(await short).toEqual({ kind: "pool_busy", waitedMs: 10 });
    vi.advanceTimersByTime(4990);
    expect(await busy).toEqual({ kind: "pool_busy", waitedMs: 5000 });
    expect(some.stats().waiting).toBe(0);
  }
  const left = [5000, 100, 10].map((waitMs) => failure(some.use((db) => db.exec(one), { waitMs })));
  const closing = some.close();
  expect(await Promise.all(left)).toEqual(left.map(() => ({ kind: "pool_closed" })));
  back.open();
  await Promise.all([holder, closing]);
  expect(timersLeft()).toEqual([]);
});

it.each(["that is looked for", "that is not reached"])(
  "a pool can be closed while its server is unreachable, %s",
  async (state) => {
    const { proxy, some } = await held({ size: 1 });
    proxy.hold();
    proxy.cutAll();
    expect(await failure(some.exec(one))).toMatchObject({ kind: "lost" });
    await until(() => proxy.held === 1);
    const closing = state === "that is looked for" ? some.close() : undefined;
    proxy.turnAway();
    if (closing === undefined) expect(await failure(some.exec(one))).toMatchObject({ kind: "unsent" });
    await (closing ?? some.close());
    expect(timersLeft()).toEqual([]);
    vi.advanceTimersByTime(10_000);
    await until(() => proxy.connections === 0);
  },
);

it("a place that is lost while another reconnects is opened as soon as that one is", async () => {
  const { proxy, some } = await held({ size: 2 });
  const [first, second] = await allAtOnce(some);
  for (let turn = 1; turn < 3; turn++) {
    const pids = turn === 1 ? [first, second] : [...(await allAtOnce(some))];
    proxy.hold();
    await watch`select pg_terminate_backend(${pids[0] ?? 0})`;
    await until(() => proxy.held === 1);
    proxy.turnAway();
    await until(() => proxy.connections === 1);
    // It is looked for again, 125 ms after the pool has seen that it was turned away, and meanwhile the other goes.
    await passing(125, () => proxy.held === 1);
    await watch`select pg_terminate_backend(${pids[1] ?? 0})`;
    await until(() => proxy.connections === 1);
    proxy.letIn();
    await until(() => some.stats().replaced === 2 * turn);
    await expectWhole(some);
  }
  await some.close();
  expect(timersLeft()).toEqual([]);
});

describe("a cancel request to the server", () => {
  const lock = Statement.exec("select pg_advisory_lock(11)");

  /** An abandoned statement whose cancel request the server does not answer, and which ends by itself. */
  async function left(answer: string) {
    const { proxy, some } = await held({ size: 1 });
    const leaving = new AbortController();
    await watch`select pg_advisory_lock(11)`;
    const done = { isDone: false };
    const work = some
      .use((db) => db.exec(lock), { signal: leaving.signal })
      .then(
        () => (done.isDone = true),
        (error: unknown) => error,
      );
    await until(
      async () => (await watch`select 1 from pg_locks where locktype = 'advisory' and not granted`).length > 0,
    );
    proxy.hold();
    leaving.abort();
    await until(() => proxy.held === 1);
    proxy.answerHeld(answer);
    await watch`select pg_advisory_unlock(11)`;
    return { proxy, some, work, done };
  }

  it("takes five seconds when the server does not answer, and leaves nothing", async () => {
    const { proxy, some, work, done } = await left("");
    // The statement has ended, and its work waits.
    await until(async () => (await watch`select 1 from pg_locks where locktype = 'advisory' and granted`).length > 0);
    vi.advanceTimersByTime(4999);
    expect([done.isDone, proxy.connections]).toEqual([false, 2]);
    vi.advanceTimersByTime(1);
    expect(await work).toBe(true);
    await until(() => proxy.connections === 1);
    proxy.letIn();
    await expectWhole(some);
    await some.close();
    expect(timersLeft()).toEqual([]);
  });

  it("ends when the server sends an invalid answer, and leaves neither its connection nor its timer", async () => {
    const { proxy, some, work } = await left("NN");
    expect(await work).toBe(true);
    await until(() => proxy.connections === 1);
    proxy.letIn();
    await expectWhole(some);
    await some.close();
    expect(timersLeft()).toEqual([]);
  });
});

const listed = Statement.list("select id from described", { row: { id: Type.int } });

// The server measures the limit by its own clock, which continues: only the pool's clock reaches it.
const boundMs = 60_000;
const waitedMs = 40_000;

describe("the time limit of a statement", () => {
  beforeAll(() => watch.unsafe("create table described (id int)"));

  /** Lets a statement wait for a lock, for this time by the pool's clock. */
  async function waits(asked: () => Promise<unknown>, ms: number): Promise<void> {
    let answer: Promise<unknown> = Promise.resolve();
    await watch.begin(async (sql) => {
      await sql`lock table described in access exclusive mode`;
      answer = asked();
      answer.catch(() => {});
      await until(async () => (await sql`select 1 from pg_locks where not granted`).length > 0);
      vi.advanceTimersByTime(ms);
    });
    await answer;
  }

  it("starts again with each statement, of any kind and after any other", async () => {
    const { some } = await held({ size: 1, statementTimeoutMs: boundMs });
    // Five seconds past the server's own bound: any two of these would be past it.
    for (let turn = 0; turn < 2; turn++) {
      await waits(() => some.exec(listed), waitedMs);
      await waits(() => Statement.verify(some, [listed]), waitedMs);
      await waits(() => some.transaction((db) => db.exec(listed)), waitedMs);
    }
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 0 });
  });

  it("starts again with a commit", async () => {
    const { some } = await held({ size: 1, statementTimeoutMs: boundMs });
    await watch.unsafe(`create table checked (id int);
      create function check_late() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock(13); return new; end';
      create constraint trigger late after insert on checked deferrable initially deferred
        for each row execute function check_late()`);
    await watch`select pg_advisory_lock(13)`;
    let isCommitting = false;
    const work = failure(
      some.transaction(async (db) => {
        await waits(() => db.exec(Statement.exec("insert into checked select count(*) from described")), waitedMs);
        isCommitting = true;
      }),
    );
    await until(() => isCommitting);
    await until(async () => (await watch`select 1 from pg_locks where not granted`).length > 0);
    vi.advanceTimersByTime(waitedMs);
    await watch`select pg_advisory_unlock(13)`;
    expect(await work).toBe("nothing was thrown");
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 0 });
  });

  it("starts again with the reset of a session", async () => {
    const { some } = await held({ size: 1, statementTimeoutMs: boundMs });
    const { pid: before } = await some.exec(pid);
    let isOver = false;
    const work = some.use(async (db) => {
      await db.exec(Statement.exec("create temporary table mine (id int)"));
      await waits(() => db.exec(listed), waitedMs);
      // To drop the table, the reset waits for this.
      await watch.unsafe("begin; lock table pg_class in share mode");
      onTestFinished(async () => void (await watch.unsafe("rollback")));
      isOver = true;
    });
    await until(() => isOver);
    await until(async () => (await watch`select 1 from pg_locks where not granted`).length > 0);
    vi.advanceTimersByTime(waitedMs);
    await watch.unsafe("commit");
    await work;
    expect((await some.exec(pid)).pid).toBe(before);
  });

  it.each<[string, (some: Pool) => Promise<unknown>]>([
    ["run", (some) => some.exec(listed)],
    ["described", (some) => Statement.verify(some, [listed])],
  ])("is not the one of the commit before it, in a pool without one: %s", async (_, asked) => {
    const { some } = await held({ size: 1, statementTimeoutMs: 0 });
    await some.transaction((db) => db.exec(one));
    await waits(() => asked(some), 120_000);
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 0 });
  });
});

it("an unreachable server is tried by every place at once, and then by one from time to time, in each outage", async () => {
  const { proxy, some } = await held({ size: 2 });
  for (let turn = 1; turn < 4; turn++) {
    proxy.hold();
    proxy.cutAll();
    expect(await Promise.all([failure(some.exec(one)), failure(some.exec(one))])).toMatchObject([
      { kind: "lost" },
      { kind: "lost" },
    ]);
    await until(() => proxy.held === 2);
    for (const laterMs of [125, 250, 500, 1000, 1250, 1250]) {
      proxy.turnAway();
      // Waiting callers fail when the last attempt fails, and later callers at once.
      for (let i = 0; i < 2; i++) expect(await failure(some.exec(one))).toMatchObject({ kind: "unsent" });
      vi.advanceTimersByTime(laterMs);
      await until(() => proxy.held > 0);
      expect(proxy.held).toBe(1);
    }
    proxy.letIn();
    await until(() => some.stats().replaced === 2 * turn);
    await expectWhole(some);
  }
  await some.close();
  expect(timersLeft()).toEqual([]);
});
