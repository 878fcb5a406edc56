/** A pool from its opening to its end, its readiness check, and the errors of its statements. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Background, Health, Test } from "usher-http";
import { Conninfo, DatabaseError, Pool, Statement, Type } from "usher-http/postgres";
import type { DatabaseFailure } from "usher-http/postgres";
import { lines, messages } from "../../support/logs.ts";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { runtimes } from "../../support/runtimes.ts";
import { eventually, pools } from "./pools.ts";
import { next, pid, endSelf, failure, route, holdTheClock, everywhere } from "./pool-statements.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch`create table item (name text primary key, left_over int not null)`;

const holding = observer(server);

describe("a pool: options", () => {
  it("without options has eight connections, all open, and a borrow waits 5 s (DB-28)", async () => {
    const some = await Pool.create(server.url());
    expect(some.stats()).toEqual({ size: 8, idle: 8, waiting: 0, replaced: 0 });
    expect(await watch`select 1 from pg_stat_activity where application_name = 'usher'`).toHaveLength(8);
    const held = gate();
    const holders = Array.from({ length: 8 }, () => some.use(() => held.passed));
    holdTheClock();
    const busy = failure(some.exec(next, 1));
    vi.advanceTimersByTime(4999);
    expect(some.stats().waiting).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await busy).toEqual({ kind: "pool_busy", waitedMs: 5000 });
    held.open();
    await Promise.all(holders);
    await some.close();
    await eventually(
      async () => (await watch`select 1 from pg_stat_activity where application_name = 'usher'`).length,
    ).toBe(0);
  });

  it("sets the time limits of its sessions, also in a replaced one (DB-18)", async () => {
    const some = await pool({ statementTimeoutMs: 1234.5, idleInTransactionTimeoutMs: 0 });
    for (const killed of [false, true]) {
      if (killed) await failure(some.exec(endSelf));
      expect(await everywhere(some, "statement_timeout")).toEqual(new Set(["1235ms"]));
      expect(await everywhere(some, "idle_in_transaction_session_timeout")).toEqual(new Set(["0"]));
      expect(await everywhere(some, "DateStyle")).toEqual(new Set(["ISO, MDY"]));
    }
  });

  it("sends the application's parameters before its own (DB-16)", async () => {
    const parameters = { STATEMENT_TIMEOUT: "4321", search_path: "pg_catalog", application_name: "mine" };
    const some = await pool({ parameters });
    expect(await everywhere(some, "statement_timeout")).toEqual(new Set(["4321ms"]));
    expect(await everywhere(some, "search_path")).toEqual(new Set(["pg_catalog"]));
    expect(await everywhere(some, "application_name")).toEqual(new Set(["mine"]));
  });

  it("sends the connection string's options before its own", async () => {
    const switches = "-c statement_timeout=4321 --idle-in-transaction-session-timeout=8765 -cgeqo=off";
    const { parameters, ...target } = Conninfo.parse(server.url());
    const some = await Pool.create({ ...target, parameters: { ...parameters, options: switches } }, { size: 1 });
    onTestFinished(() => some.close());
    expect(await everywhere(some, "statement_timeout")).toEqual(new Set(["4321ms"]));
    expect(await everywhere(some, "idle_in_transaction_session_timeout")).toEqual(new Set(["8765ms"]));
    expect(await everywhere(some, "geqo")).toEqual(new Set(["off"]));
    expect(await everywhere(some, "application_name")).toEqual(new Set(["usher"]));
  });

  it("keeps as many prepared statements as its option says, or none (DB-15)", async () => {
    const prepared = Statement.find("select count(*) as n from pg_prepared_statements", { row: { n: Type.int64 } });
    for (const [statementCache, n] of [
      [0, 0n],
      [2, 2n],
      [256, 6n],
    ] as const) {
      const some = await pool({ size: 1, statementCache });
      for (let i = 0; i < 5; i++) await some.exec(Statement.exec(`select ${i}`));
      expect(await some.exec(prepared)).toEqual({ n });
      expect(await some.exec(next, 1)).toEqual({ next: 2 });
    }
  });
});

describe("a pool: closing", () => {
  it("in run is open before the program runs, and closed after it (DB-12)", async () => {
    let seen: Pool | undefined;
    const answered = await Pool.run(server.url(), { size: 3 }, async (some) => {
      seen = some;
      expect(some.stats()).toMatchObject({ size: 3, idle: 3 });
      return (await some.exec(next, 1)).next;
    });
    expect(answered).toBe(2);
    expect(seen?.stats()).toMatchObject({ idle: 0 });
    expect(await failure((seen as Pool).exec(next, 1))).toEqual({ kind: "pool_closed" });
  });

  it("a program that throws makes the works of no later one silent", async () => {
    const background = Background.create();
    const raise = async (): Promise<readonly string[]> => {
      const before = lines().length;
      background.start("the sweep", () => Promise.reject(new RangeError("closed")));
      await background.settled(60_000);
      return lines()
        .slice(before)
        .map(({ level, message }) => `${level} ${message}`);
    };
    const failing = Pool.run(server.url(), { size: 1 }, () => Promise.reject(new Error("no table")));
    await expect(failing).rejects.toThrow("no table");
    expect(await raise()).toEqual([]);
    expect(await Pool.run(server.url(), { size: 1 }, raise)).toEqual(["error the sweep raised"]);
  });

  it("in run is closed where the program throws, and the error is the program's", async () => {
    let seen: Pool | undefined;
    const thrown = new Error("not today");
    const running = Pool.run(server.url(), { size: 1 }, async (some) => {
      seen = some;
      await some.exec(next, 1);
      throw thrown;
    });
    await expect(running).rejects.toBe(thrown);
    expect(await failure((seen as Pool).exec(next, 1))).toEqual({ kind: "pool_closed" });
  });

  it("closes when every borrowed connection is returned, and refuses new callers meanwhile", async () => {
    const some = await pool();
    const held = gate();
    const holder = some.use(async (db) => {
      await held.passed;
      return db.exec(next, 1);
    });
    let isClosed = false;
    const closing = some.close().then(() => (isClosed = true));
    expect(await failure(some.exec(next, 1))).toEqual({ kind: "pool_closed" });
    expect(await some.check().probe()).toEqual({ ok: false, error: "the database pool is closed" });
    expect(isClosed).toBe(false);
    held.open();
    expect(await holder).toEqual({ next: 2 });
    await closing;
    expect(isClosed).toBe(true);
  });

  it("does not wait for a server that does not close its side", async () => {
    const halfOpen = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect(server.port, "127.0.0.1");
      near.on("data", (bytes) => far.write(bytes)).on("error", () => {});
      far.on("data", (bytes) => near.write(bytes)).on("error", () => {});
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void halfOpen.close());
    await once(halfOpen, "listening");
    const { port } = halfOpen.address() as AddressInfo;
    const some = await Pool.create(`postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`, { size: 1 });
    expect(await some.exec(pid)).toMatchObject({ pid: expect.any(Number) });
    await some.close();
  });

  it("refuses the callers that wait when it closes", async () => {
    const some = await pool({ size: 1 });
    const held = gate();
    const holder = some.use(() => held.passed);
    const waiting = failure(some.exec(next, 1));
    const closing = some.close();
    expect(await waiting).toEqual({ kind: "pool_closed" });
    held.open();
    await holder;
    await closing;
  });
});

describe("a pool: replacing connections", () => {
  it("replaces a connection that is old", async () => {
    const some = await pool({ size: 2, maxLifetimeMs: 40 });
    const before = await some.use(async (db) => (await db.exec(pid)).pid);
    await eventually(() => some.stats().replaced).toBeGreaterThan(3);
    const after = await some.exec(pid);
    expect(after.pid).not.toBe(before);
    const count = async (): Promise<number> =>
      (await watch`select 1 from pg_stat_activity where application_name = 'usher'`).length;
    await some.close();
    expect(await count()).toBe(0);
  });

  it("replaces a connection that is never idle, and its caller does not lose it", async () => {
    const some = await pool({ size: 1, maxLifetimeMs: 20 });
    const seen = new Set<number>();
    let isOver = false;
    const busy = Array.from({ length: 3 }, async () => {
      while (!isOver) seen.add((await some.exec(pid)).pid);
    });
    await eventually(() => some.stats().replaced).toBeGreaterThan(3);
    isOver = true;
    await Promise.all(busy);
    expect(seen.size).toBeGreaterThan(2);
    const [first, last] = await some.use(async (db) => {
      const first = (await db.exec(pid)).pid;
      const sessions = async (): Promise<number> =>
        (await watch`select 1 from pg_stat_activity where application_name = 'usher'`).length;
      await eventually(sessions).toBe(2);
      return [first, (await db.exec(pid)).pid];
    });
    expect(last).toBe(first);
    // The pool may not know yet that the server has replaced it.
    await eventually(async () => (await some.exec(pid)).pid).not.toBe(first);
    expect(some.stats()).toMatchObject({ size: 1, idle: 1 });
    await some.close();
    expect(await watch`select 1 from pg_stat_activity where application_name = 'usher'`).toEqual([]);
  });

  it("closes when the connections that it replaced have closed as well", async () => {
    // A goodbye that the server takes its time for is waited for a second, of this machine's.
    const { setTimeout: real } = globalThis;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms?: number) =>
      real(act, ms === 1000 ? 50_000 : ms)) as typeof setTimeout);
    onTestFinished(() => void vi.restoreAllMocks());
    const some = await pool({ size: 2, maxLifetimeMs: 1000, reset: "never" });
    // Its end drops the table, for which it has to wait.
    const old = await some.use(async (db) => {
      await db.exec(Statement.exec("create temporary table mine (id int)"));
      return db.exec(pid);
    });
    await holding.unsafe("begin; lock table pg_class in share mode");
    const isEnding = async (): Promise<boolean> =>
      (await watch`select 1 from pg_stat_activity where pid = ${old.pid} and wait_event_type = 'Lock'`).length > 0;
    await eventually(isEnding).toBe(true);
    let isClosed = false;
    const closing = some.close().then(() => (isClosed = true));
    const left = async (): Promise<readonly unknown[]> =>
      (await watch`select pid from pg_stat_activity where application_name = 'usher'`).map(({ pid }) => pid);
    await eventually(left).toEqual([old.pid]);
    expect(isClosed).toBe(false);
    await holding.unsafe("commit");
    await closing;
    expect(await left()).toEqual([]);
  });
});

// An ErrorResponse, and a ReadyForQuery (PostgreSQL §54.7).
const fields = "SERROR\0VERROR\0CXX000\0Mnot today\0\0";
const refusal = Buffer.from(`E\0\0\0${String.fromCharCode(fields.length + 4)}${fields}Z\0\0\0\x05I`);

describe("a pool: opening", () => {
  it("does not open if one connection cannot, and leaves none open (DB-03)", async () => {
    const refused = failure(Pool.create("postgres://postgres@127.0.0.1:1/postgres"));
    expect(await refused).toMatchObject({ kind: "unsent", detail: expect.stringContaining("ECONNREFUSED") });
    const nowhere = failure(Pool.create(server.url("no_such_database")));
    expect(await nowhere).toMatchObject({ kind: "unsent", detail: expect.stringContaining("3D000") });
    await watch.unsafe("create role few login connection limit 3");
    const few = failure(Pool.create(server.url().replace("postgres@", "few@")));
    expect(await few).toMatchObject({ kind: "unsent", detail: expect.stringContaining("53300") });
    await eventually(async () => (await watch`select 1 from pg_stat_activity where usename = 'few'`).length).toBe(0);
  });

  it("gives up on a server that does not answer (DB-21)", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const target = `host=127.0.0.1 port=${port} user=postgres sslmode=disable connect_timeout=1`;
    const given = failure(Pool.create(target, { size: 1 }));
    expect(await given).toEqual({ kind: "unsent", detail: "no connection within 1000 ms" });
    silent.close();
  });

  it.each([
    ["no form", Buffer.from("\0\0\0\x0bgarbage")],
    ["no iterations", Buffer.from("\0\0\0\x0br=nonce,s=c2FsdA==")],
    ["0 iterations", Buffer.from("\0\0\0\x0br=nonce,s=c2FsdA==,i=0")],
    ["too many iterations", Buffer.from("\0\0\0\x0br=nonce,s=c2FsdA==,i=2147483648")],
    ["no salt", Buffer.from("\0\0\0\x0br=nonce,i=4096")],
    ["no kind", Buffer.from("\0")],
  ])("survives a server whose password request has %s", async (_what, body) => {
    const demand = (given: Buffer): Buffer => Buffer.from([0x52, 0, 0, 0, 4 + given.length, ...given]);
    const answers = [demand(Buffer.from("\0\0\0\x0aSCRAM-SHA-256\0\0")), demand(body)];
    const hostile = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => socket.write(answers.shift() ?? ""));
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void hostile.close());
    await once(hostile, "listening");
    const { port } = hostile.address() as AddressInfo;
    const target = `host=127.0.0.1 port=${port} user=postgres password=p sslmode=disable`;
    expect(await failure(Pool.create(target, { size: 1 }))).toMatchObject({ kind: "unsent" });
  });

  it("closes the connection to a server that refuses it and does not close it", async () => {
    const closed: Promise<unknown>[] = [];
    const refuses = createServer((socket) => {
      closed.push(once(socket, "close"));
      socket.once("data", () => socket.write(refusal));
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void refuses.close());
    await once(refuses, "listening");
    const { port } = refuses.address() as AddressInfo;
    const target = `host=127.0.0.1 port=${port} user=postgres sslmode=disable`;
    const detail = expect.stringContaining("ERROR XX000");
    expect(await failure(Pool.create(target, { size: 1 }))).toMatchObject({ kind: "unsent", detail });
    expect(await Promise.all(closed)).toHaveLength(1);
  });

  it("without a database at the start: an error line, status 1, and no server listens (DB-13)", async () => {
    const program = join(import.meta.dirname, "program.ts");
    const ran = async (target: string) => {
      const child = spawn(runtimes["node-newest"](), ["--disable-warning=ExperimentalWarning", program, target]);
      const [told, said] = [text(child.stderr), text(child.stdout)];
      const [status] = (await once(child, "exit")) as [number];
      return { status, said: await said, told: await told };
    };
    expect(await ran(server.url())).toMatchObject({ status: 0, said: "listening\n" });
    const { status, said, told } = await ran("postgres://postgres@127.0.0.1:1/postgres");
    expect([status, said]).toEqual([1, ""]);
    // One line, and nothing else.
    const line = JSON.parse(told) as object;
    expect(line).toMatchObject({ level: "error", "logger.name": "framework.postgres" });
    expect(line).toMatchObject({ message: expect.stringContaining("the pool could not be opened: ") });
  });
});

describe("the readiness check", () => {
  it("is ready while the pool can work, busy or not, and not when it is unreachable or closed", async () => {
    const some = await pool({ size: 1 });
    const app = Test.app(Health.routes([some.check()]));
    const ready = async (): Promise<number> => (await Test.call(app, "GET", "/readyz")).status;
    expect(await ready()).toBe(200);
    const held = gate();
    const holder = some.use(() => held.passed);
    expect(await ready()).toBe(200);
    held.open();
    await holder;
    await server.stop();
    expect(await ready()).toBe(503);
    expect(messages("warn").join()).toContain("not ready: postgres: ");
    await server.start();
    await eventually(ready).toBe(200);
    await some.close();
    expect(await ready()).toBe(503);
  });
});

describe("a prepared statement", () => {
  it("is prepared again when its table has changed, and read with its new columns", async () => {
    const some = await pool({ size: 1 });
    await watch`create table changing (a int, b int)`;
    await watch`insert into changing values (1, 2)`;
    const all = Statement.find("select * from changing", { row: { b: Type.int } });
    expect(await some.exec(all)).toEqual({ b: 2 });
    await watch`alter table changing drop column a`;
    expect(await some.exec(all)).toEqual({ b: 2 });
    await watch`alter table changing alter b type bigint`;
    expect(await failure(some.transaction((db) => db.exec(all)))).toMatchObject({ kind: "db" });
    expect(await failure(some.exec(all))).toMatchObject({ detail: expect.stringContaining("a type that is no int") });
  });
});

describe("a failure that the application does not catch", () => {
  const failures: readonly (readonly [DatabaseFailure, number, string])[] = [
    [{ kind: "pool_busy", waitedMs: 1 }, 503, "warn"],
    [{ kind: "pool_closed" }, 503, "warn"],
    [{ kind: "unsent", detail: "because" }, 503, "warn"],
    [{ kind: "not_serializable", detail: "because" }, 503, "warn"],
    [{ kind: "connection_closed" }, 500, "error"],
    [{ kind: "lost", detail: "because" }, 500, "error"],
    [{ kind: "conflict", constraint: "item_pkey" }, 500, "error"],
    [{ kind: "not_committed", detail: "because" }, 500, "error"],
    [{ kind: "db", code: "42P01", detail: "because" }, 500, "error"],
  ];
  it.each(failures)("$kind is answered and logged as specified (DB-04, DB-06)", async (failure, status, level) => {
    const error = new DatabaseError(failure);
    const answered = await Test.call(Test.app([route(() => Promise.reject(error))]), "GET", "/work");
    const name = status === 503 ? "busy" : "internal";
    expect([answered.status, answered.headers.get("retry-after")]).toEqual([status, status === 503 ? "1" : null]);
    expect(answered.body).toContain(`"error":"${name}"`);
    expect(answered.body).not.toContain("because");
    const told = lines().filter(({ message }) => String(message).includes(error.message));
    expect(told).toMatchObject([{ level, "framework.refusal.code": name }]);
  });
});

describe("the message of an error", () => {
  const secret = "secret-word";
  const leaks = [
    ["a bad number", "select $1::text::int"],
    ["a key", "insert into item select $1, 1 from generate_series(1, 2)"],
    ["a name", "select $1::regclass"],
    ["a search", "select to_tsquery('english', $1 || ' & & |')"],
    ["a path", "select '{}'::jsonb @? $1::jsonpath"],
    ["a piece of it", "select split_part($1, '-', 1)::regclass"],
    ["a raise", "select set_config('my.word', $1, false)::int"],
  ] as const;
  it.each(leaks)("holds no value: %s (DB-24)", async (_, sql) => {
    const some = await pool();
    const statement = Statement.exec(sql, { params: [Type.text] });
    const thrown = await some.exec(statement, secret).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(DatabaseError);
    const { message, stack, failure, refusal, cause } = thrown as DatabaseError;
    const told = JSON.stringify([message, stack, failure, refusal, cause, Object.entries(thrown as object)]);
    expect(told).not.toContain("secret");
  });
});
