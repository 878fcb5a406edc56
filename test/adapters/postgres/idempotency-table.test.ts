/** Answers to idempotency keys in a table: with statements of their own, and in the transaction of the handler. */
import { beforeEach, describe, expect, it } from "vitest";
import { Dep, Idempotency, Path, Refusal, Returns, Test, post, refuse } from "usher-http";
import type { IdempotencyStore } from "usher-http";
import { DatabaseError, IdempotencyTable, Pool, Statement, Type } from "usher-http/postgres";
import type { Database } from "usher-http/postgres";
import { itKeepsAnswers } from "../../support/idempotency-stores.ts";
import "../../support/logs.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { Wire } from "../../support/wire.ts";
import { eventually, pools } from "./pools.ts";

const server = await startPostgres();
const outside = observer(server);
const opened = pools(server);
const options = { table: "answers" };
await outside.unsafe(IdempotencyTable.schema(options));
await outside.unsafe("create table seat (id int primary key, late int unique deferrable initially deferred)");
beforeEach(() => outside.unsafe("truncate seat, answers"));

describe("a table", () => {
  itKeepsAnswers(async () => IdempotencyTable.store(await opened(), options));

  it("is swept, and has statements that fit its columns", async () => {
    const pool = await opened();
    const store = IdempotencyTable.store(pool, options);
    const claim = { fingerprint: "f", token: "t", leaseMs: 1, keepMs: 1, takesOver: false };
    await store.claim("a", claim, new Date());
    await store.claim("b", { ...claim, keepMs: 60_000 }, new Date());
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([await store.sweep(), await store.sweep()]).toEqual([1, 0]);
    await Statement.verify(pool, IdempotencyTable.statements(options));
  });

  it("keeps a key in use for as long as its claim is extended", async () => {
    const store = IdempotencyTable.store(await opened(), options);
    await store.claim("a", { fingerprint: "f", token: "t", leaseMs: 1, keepMs: 60_000, takesOver: false }, new Date());
    for (const leaseMs of [3_600_000, 1]) {
      await store.extend("a", "t", leaseMs);
      const known = "kept_until >= locked_until as is_known, kept_until > now() + interval '30 minutes' as is_kept";
      expect(await outside.unsafe(`select ${known} from answers`)).toEqual([{ is_known: true, is_kept: true }]);
    }
  });

  it.each(["", "Answers", "a b", 'a"', "1a", "a".repeat(64)])("refuses the name %j", (table) => {
    expect(() => IdempotencyTable.schema({ table })).toThrow("is not a table's name");
  });

  it("is for an open transaction", async () => {
    const pool = await opened();
    const within = IdempotencyTable.inTransaction(options);
    expect(() => within(pool)).toThrow("is not that of an open transaction");
    await pool.use(async (db) => expect(() => within(db)).toThrow("is not that of an open transaction"));
  });
});

describe("a table whose database is unreachable", () => {
  it.each([
    ["also if its request could not", true],
    ["also if no request tries to", false],
  ])("frees a claim that was lost with its connection, when the database is back, %s", async (_what, isFreed) => {
    const wire = await Wire.to(server.port);
    const pool = await Pool.create(`postgres://postgres@127.0.0.1:${wire.port}/postgres`, { size: 1 });
    const [store, other] = [IdempotencyTable.store(pool, options), IdempotencyTable.store(await opened(), options)];
    const times = { leaseMs: 3_600_000, keepMs: 3_600_000, takesOver: false };
    const claim = (at: typeof store, digest: string, token: string) =>
      at.claim(digest, { fingerprint: "f", token, ...times }, new Date());
    for (const digest of ["first", "second"]) await claim(store, digest, "a");
    wire.holdAnswers();
    const lost = claim(store, "lost", "a").then(
      () => "claimed",
      (error: Error) => error.message,
    );
    await eventually(async () => (await outside`select 1 from answers where digest = 'lost'`).length).toBe(1);
    wire.cut();
    expect(await lost).toContain("what was done is not known");
    // As for a request that was refused.
    if (isFreed) await expect(store.free("lost", "a")).rejects.toThrow("nothing was done");
    expect(await claim(other, "lost", "b")).toMatchObject({ answer: undefined });
    wire.mend();
    await eventually(() => claim(store, "third", "a").catch(() => "away")).toBe(undefined);
    await eventually(() => claim(other, "lost", "b")).toBe(undefined);
    await pool.close();
  });

  it("frees a key whose request failed while the database was unreachable, when it is back", async () => {
    const wire = await Wire.to(server.port);
    const pool = await Pool.create(`postgres://postgres@127.0.0.1:${wire.port}/postgres`, { size: 1 });
    const [store, other] = [IdempotencyTable.store(pool, options), IdempotencyTable.store(await opened(), options)];
    const times = { leaseMs: 3_600_000, keepMs: 3_600_000, takesOver: false };
    const claim = (at: typeof store, digest: string, token: string) =>
      at.claim(digest, { fingerprint: "f", token, ...times }, new Date());
    await claim(store, "failed", "a");
    wire.cut();
    await expect(store.free("failed", "a")).rejects.toThrow("the database");
    expect(await claim(other, "failed", "b")).toMatchObject({ answer: undefined });
    wire.mend();
    await eventually(() => claim(store, "next", "a").catch(() => "away")).toBe(undefined);
    await eventually(() => claim(other, "failed", "b")).toBe(undefined);
    await pool.close();
  });

  it("does not free a key whose claim was never sent", async () => {
    const pool = await opened();
    const store = IdempotencyTable.store(pool, options);
    await pool.close();
    let freed = 0;
    const counting: IdempotencyStore = { ...store, free: (...given) => (freed++, store.free(...given)) };
    const once = Idempotency.by(counting, { caller: Dep.return("everybody") });
    const app = Test.app([post(Path.root, { inputs: { once }, returns: Returns.text }, () => "done")]);
    const { status } = await Test.call(app, "POST", "/", { headers: { "idempotency-key": '"key"' } });
    expect([status, freed]).toEqual([503, 0]);
  });
});

const taken = Refusal.code("taken", { status: 409, doc: "Somebody has it." });
const addSeat = Statement.exec("insert into seat values ($1, $1)", { params: [Type.int] });
const addLate = Statement.exec("insert into seat values ($1, 1)", { params: [Type.int] });
const within = IdempotencyTable.inTransaction(options);

type Handle = (db: Database, ran: number) => Promise<string | Refusal>;

/** A route whose answer is kept in its transaction; asks it, and looks at what is in the table after it. */
async function hall(handle: Handle, given: Parameters<typeof Dep.transaction<Database, object, never, {}>>[1] = {}) {
  const pool = await opened();
  const store = Dep.ofResource<Pool>("pool");
  const tx = Dep.transaction(store, given) as Dep<Database>;
  let ran = 0;
  const once = Idempotency.by(Dep.map(tx, within), { caller: Dep.return("everybody"), required: true });
  const route = post(
    Path.root,
    { inputs: { tx, once }, returns: Returns.text, refuses: [taken] },
    ({ tx }) => handle(tx, ++ran) as Promise<string>,
  );
  const app = Test.app([route], { resources: [Dep.resource(store, pool)] });
  const ask = async (key = '"key"') => {
    const { status, body, headers } = await Test.call(app, "POST", "/", { headers: { "idempotency-key": key } });
    return `${status} ${status === 200 ? body : JSON.parse(body).error}${headers.has("idempotent-replayed") ? " again" : ""}`;
  };
  const seats = async () => (await outside`select id from seat order by id`).map(({ id }) => id as number);
  return { ask, seats, ran: () => ran };
}

describe("the transaction of the handler", () => {
  it("commits its answer with its work", async () => {
    const { ask, seats, ran } = await hall(async (db, ran) => {
      await db.exec(addSeat, ran);
      return `seat ${ran}`;
    });
    expect([await ask(), await ask(), await ask('"b"')]).toEqual(["200 seat 1", "200 seat 1 again", "200 seat 2"]);
    expect([await seats(), ran()]).toEqual([[1, 2], 2]);
  });

  it("rolls the work of a refusal back, and keeps the refusal", async () => {
    const { ask, seats, ran } = await hall(async (db) => {
      await db.exec(addSeat, 1);
      return refuse(taken, "It is taken.");
    });
    expect([await ask(), await ask(), await seats(), ran()]).toEqual(["409 taken", "409 taken again", [], 1]);
  });

  it("keeps a refusal after a statement that failed", async () => {
    await outside`insert into seat values (1, 1)`;
    const { ask, ran } = await hall(async (db) => {
      try {
        await db.exec(addSeat, 1);
        return "added";
      } catch (error) {
        if (DatabaseError.conflict(error) === undefined) throw error;
        return refuse(taken, "It is taken.");
      }
    });
    expect([await ask(), await ask(), ran()]).toEqual(["409 taken", "409 taken again", 1]);
  });

  it("commits the work of a refusal if the option keep says so", async () => {
    const { ask, seats } = await hall(
      async (db) => {
        await db.exec(addSeat, 1);
        return refuse(taken, "It is taken.");
      },
      { keep: () => true },
    );
    expect([await ask(), await ask(), await seats()]).toEqual(["409 taken", "409 taken again", [1]]);
  });

  it.each<[string, Handle, string]>([
    ["an exception", async () => Promise.reject(new Error("bug")), "500 internal"],
    ["a refusal with 503", async () => refuse(Refusal.busy), "503 busy"],
  ])("keeps no answer of %s", async (_what, handle, first) => {
    const { ask, seats } = await hall(async (db, ran) => {
      await db.exec(addSeat, ran);
      return ran === 1 ? handle(db, ran) : `seat ${ran}`;
    });
    expect([await ask(), await ask(), await ask(), await seats()]).toEqual([
      first,
      "200 seat 2",
      "200 seat 2 again",
      [2],
    ]);
  });
});

describe("a transaction that does not commit, or is still running", () => {
  it("keeps no answer", async () => {
    await outside`insert into seat values (100, 1)`;
    const { ask, seats } = await hall(async (db, ran) => {
      await db.exec(ran === 1 ? addLate : addSeat, ran);
      return `seat ${ran}`;
    });
    expect([await ask(), await ask(), await ask(), await seats()]).toEqual([
      "500 internal",
      "200 seat 2",
      "200 seat 2 again",
      [2, 100],
    ]);
  });

  it("sends no refusal that it cannot keep, if the option keep commits its work", async () => {
    await outside`insert into seat values (100, 1)`;
    const { ask, seats } = await hall(
      async (db, ran) => {
        await db.exec(ran === 1 ? addLate : addSeat, ran);
        return ran === 1 ? refuse(taken, "It is taken.") : `seat ${ran}`;
      },
      { keep: () => true },
    );
    expect([await ask(), await ask(), await ask(), await seats()]).toEqual([
      "500 internal",
      "200 seat 2",
      "200 seat 2 again",
      [2, 100],
    ]);
  });

  it("answers a second request at once, while the first is running", async () => {
    let finish = (): void => {};
    const { ask, ran } = await hall(async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return "done";
    });
    const first = ask();
    await eventually(ran).toBe(1);
    expect(await ask()).toBe("409 idempotency_key_in_use");
    finish();
    expect([await first, await ask(), ran()]).toEqual(["200 done", "200 done again", 1]);
  });

  it("frees the key when its connection is cut, and its answer is not sent", async () => {
    const { ask, seats, ran } = await hall(async (db, ran) => {
      await db.exec(addSeat, ran);
      if (ran === 1)
        await outside`select pg_terminate_backend(pid) from pg_stat_activity where application_name <> 'observer' and state = 'idle in transaction'`;
      return ran === 1 ? refuse(taken, "It is taken.") : `seat ${ran}`;
    });
    expect((await ask()).slice(0, 1)).toBe("5");
    expect([await ask(), await ask(), await seats(), ran()]).toEqual(["200 seat 2", "200 seat 2 again", [2], 2]);
  });
});

describe("an exception with an unknown outcome", () => {
  it("does not free its key in a store of statements", async () => {
    const pool = await opened();
    const store: IdempotencyStore = IdempotencyTable.store(pool, options);
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    const route = post(Path.root, { inputs: { once }, returns: Returns.text }, async () => {
      throw new DatabaseError({ kind: "lost", detail: "the connection was lost" });
    });
    const app = Test.app([route]);
    const ask = async () => (await Test.call(app, "POST", "/", { headers: { "idempotency-key": '"a"' } })).status;
    expect([await ask(), await ask()]).toEqual([500, 409]);
  });
});
