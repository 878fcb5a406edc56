/** What a pool does of its own, by a clock that the test holds: asks what was idle, renews what is old, connects again. */
import { describe, expect, it, vi } from "vitest";
import { Pool } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import "../../support/logs.ts";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { eventually } from "./pools.ts";
import { allAtOnce, behindProxy, failure, holdTheClock, one, pid, until, watching } from "./whole.ts";

const server = await startPostgres();
const watch = observer(server);
const { sessions, expectWhole } = watching(watch);

/** A pool whose clock the test holds. */
async function held(options: PoolOptions) {
  holdTheClock();
  return behindProxy(server, options);
}

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

describe("a connection that was long idle", () => {
  const bounds = { size: 2, idleCheckMs: 1000 };

  it("is asked whether it is there, and kept where it is, however long after", async () => {
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

  it("is given up five seconds later where it says nothing, and its place comes back", async () => {
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

  it("is given up where it is refused an answer", async () => {
    const { proxy, some } = await held({ ...bounds, statementCache: 0 });
    proxy.refuse("select 1");
    vi.advanceTimersByTime(1250);
    await until(() => some.stats().replaced === 1);
    await expectWhole(some);
  });
});

describe("a connection that is old", () => {
  const bounds = { size: 1, maxLifetimeMs: 1000, idleCheckMs: 60_000 };

  it("and dies while another is made for it has one in its place, and that other goes", async () => {
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

  it.each(["idle", "lent"])("is renewed where no other could be made at first: %s", async (state) => {
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
  ])("and is %s while its pool closes leaves nothing behind, nor does its other, %s", async (state, other) => {
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
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("who waits is told in time, again and again, and nothing of the waits outlives the pool", async () => {
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
  expect(vi.getTimerCount()).toBe(0);
});

it("a pool that is closed while its server is away looks for it no more", async () => {
  const { proxy, some } = await held({ size: 1 });
  proxy.hold();
  proxy.cutAll();
  expect(await failure(some.exec(one))).toMatchObject({ kind: "lost" });
  await until(() => proxy.held === 1);
  proxy.turnAway();
  expect(await failure(some.exec(one))).toMatchObject({ kind: "unsent" });
  await some.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10_000);
  await until(() => proxy.connections === 0);
});

it("a server that is away is looked for by every place at once, and then by one now and then, each time anew", async () => {
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
      // Whoever waits is told as the last of them fails, and whoever comes then at once.
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
  expect(vi.getTimerCount()).toBe(0);
});
