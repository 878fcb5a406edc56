/** The deadline of a request ends its statements, and its transaction is never answered as not done while it commits. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { App, Deadline, Dep, Meta, Path, Returns, after, get } from "usher-http";
import type { Inputs, Values } from "usher-http";
import { Pool, Statement, Type } from "usher-http/postgres";
import type { Database } from "usher-http/postgres";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { startServer } from "../../support/postgres/database.ts";
import { holdClock } from "../../support/clock.ts";
import { gate } from "../../support/gate.ts";
import { messages } from "../../support/logs.ts";

let server: PostgresServer;
let pool: Pool;
/** Of a test that looks at what the other one does. */
let watching: Pool;
const store = Dep.ofResource<Pool>("pool");
const doze = Statement.exec("select pg_sleep(600)");
const add = Statement.exec("insert into seat values ($1)", { params: [Type.int] });
const addSlowly = Statement.exec("insert into slow_seat values ($1)", { params: [Type.int] });
const count = Statement.find("select count(*) as n from seat", { row: { n: Type.int64 } });
const countSlow = Statement.find("select count(*) as n from slow_seat", { row: { n: Type.int64 } });

beforeAll(async () => {
  server = await startServer();
  pool = await Pool.create(server.url(), { size: 2 });
  watching = await Pool.create(server.url(), { size: 2 });
  await pool.exec(Statement.exec("create table seat (id int primary key)"));
  // Its commit waits for the lock that a test holds.
  await pool.exec(Statement.exec("create table slow_seat (id int primary key)"));
  await pool.exec(
    Statement.exec(
      "create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(7); return null; end $$",
    ),
  );
  await pool.exec(
    Statement.exec(
      "create constraint trigger waits after insert on slow_seat deferrable initially deferred for each row execute function wait()",
    ),
  );
});
holdClock();
afterAll(async () => {
  await watching.close();
  await pool.close();
  await server.stop();
});

const soon = Meta.empty.add(Meta.deadline, Deadline.make(50));

/** The code of a request whose deadline passes once its work is where it waits; the rest of that work has ended by then. */
async function asked<const I extends Inputs>(
  inputs: I,
  handle: (values: Values<I>) => Promise<unknown>,
  waits: () => Promise<unknown>,
  answered: () => void = () => {},
): Promise<string> {
  let ended: Promise<unknown> = Promise.resolve();
  const route = get(Path.of("x"), { inputs, returns: Returns.text, meta: soon }, (values) => {
    const handled = handle(values).then(() => "x");
    ended = handled.catch(() => {});
    return handled;
  });
  const app = App.make([route], { resources: [Dep.resource(store, pool)] });
  const answer = app.fetch(new Request("http://h/x"));
  await waits();
  vi.advanceTimersByTime(100);
  const { error } = (await (await answer).json()) as { error: string };
  answered();
  await ended;
  await app.settled(60_000);
  return error;
}

/** As `vi.waitFor` and `expect.poll`, which would move the clock. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

/** Waits until a statement does that in the database. */
const seen = (where: string) => async (): Promise<void> => {
  const found = Statement.find(`select count(*) as n from ${where}`, { row: { n: Type.int64 } });
  await until(async () => (await watching.exec(found)).n === 1n);
};
const dozes = seen("pg_stat_activity where wait_event = 'PgSleep'");
const commits = seen("pg_locks where locktype = 'advisory' and not granted");

describe("a statement after its deadline", () => {
  it.each([
    ["of the pool", (db: Pool) => db.exec(doze)],
    ["of a borrowed connection", (db: Pool) => db.use((db) => db.exec(doze))],
    ["of a transaction", (db: Pool) => db.transaction((db) => db.exec(doze))],
    [
      "whose caller has a signal too",
      (db: Pool) => db.use((db) => db.exec(doze), { signal: new AbortController().signal }),
    ],
  ])("%s is cancelled, and its connection is free again", async (_what, run) => {
    expect(await asked({ store }, ({ store }) => run(store), dozes)).toBe("timed_out");
    expect(pool.stats()).toMatchObject({ idle: 2, replaced: 0 });
    expect([...messages("error"), ...messages("warn").filter((one) => !/was held for/.test(String(one)))]).toEqual([]);
  });

  it("that ended earlier does not affect the statement of the next caller", async () => {
    const [done, held, locked, freed] = [gate(), gate(), gate(), gate()];
    const lock = Statement.exec("select pg_advisory_xact_lock(7)");
    const holding = watching.transaction(async (tx) => {
      await tx.exec(lock);
      locked.open();
      await freed.passed;
    });
    await locked.passed;
    const code = asked(
      { store },
      async ({ store }) => {
        await store.exec(count);
        done.open();
        await held.passed;
      },
      () => done.passed.then(commits),
      held.open,
    );
    await done.passed;
    // The connection that was used last is lent first.
    const next = pool.exec(lock);
    expect(await code).toBe("timed_out");
    // A cancel request has been processed before a later connection is open.
    await (await Pool.create(server.url(), { size: 1 })).close();
    freed.open();
    await holding;
    await next;
    expect(pool.stats()).toMatchObject({ idle: 2, replaced: 0 });
  });

  it("leaves the queue for a connection", async () => {
    const held: (() => void)[] = [];
    const holding = [1, 2].map(() => pool.use(() => new Promise<void>((resolve) => held.push(resolve))));
    await until(() => held.length === 2);
    const waits = (): Promise<void> => until(() => pool.stats().waiting === 1);
    expect(await asked({ store }, ({ store }) => store.exec(count), waits)).toBe("timed_out");
    expect(pool.stats().waiting).toBe(0);
    for (const free of held) free();
    await Promise.all(holding);
  });

  it("runs if it is a task after the answer", async () => {
    let counted: unknown;
    const inputs = { store, after };
    const work = async ({ store, after }: Values<typeof inputs>): Promise<void> => {
      after(async () => (counted = (await store.exec(count)).n), { always: true });
      await store.exec(doze);
    };
    const code = await asked(inputs, work, dozes);
    expect([code, counted]).toEqual(["timed_out", 0n]);
  });
});

describe("a request's transaction after its deadline", () => {
  const db = Dep.transaction(store);

  it("is rolled back", async () => {
    const work = async ({ db }: { readonly db: Database }): Promise<void> => {
      await db.exec(add, 1);
      await db.exec(doze);
    };
    const code = await asked({ db }, work, dozes);
    expect([code, (await pool.exec(count)).n]).toEqual(["timed_out", 0n]);
  });

  it.each([
    ["the request's", 1n, { db }, async ({ db }: { readonly db: Database }) => db.exec(addSlowly, 1)],
    [
      "the handler's own",
      2n,
      { db: store },
      async ({ db }: { readonly db: Pool }) => db.transaction((tx) => tx.exec(addSlowly, 2)),
    ],
  ])("has an unknown outcome while it commits: %s", async (_what, kept, inputs, handle) => {
    const [locked, freed] = [gate(), gate()];
    const holding = watching.transaction(async (tx) => {
      await tx.exec(Statement.exec("select pg_advisory_xact_lock(7)"));
      locked.open();
      await freed.passed;
    });
    await locked.passed;
    expect(await asked(inputs as Inputs, handle as never, commits, freed.open)).toBe("outcome_unknown");
    await holding;
    expect((await pool.exec(countSlow)).n).toBe(kept);
  });
});
