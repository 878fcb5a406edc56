/** What else connects to PostgreSQL, and a server that breaks the protocol: a relay, `migrate`, the request for a cancellation. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { DatabaseError, MigrationError, Pool, Statement, Type, migrate, relay } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import "../../support/logs.ts";
import { eventually } from "./pools.ts";
import { rows } from "../../support/wide.ts";
import { outcome, right } from "./lied-to.ts";
import { LyingServer, message, moments, wellFormed } from "./lying-server.ts";
import type { Moment } from "./lying-server.ts";

const one = Statement.find("select 1 as one", { row: { one: Type.text } });

async function honest(): Promise<LyingServer> {
  const server = await LyingServer.start();
  onTestFinished(() => server.close());
  return server;
}

describe("a relay", () => {
  /** Whatever is not allowed where no statement runs, and the end of a session. */
  const all = wellFormed.filter(([name]) => !/Notice|ParameterStatus|Notification/.test(name));
  // Each costs seconds: a relay waits longer after each connection that it has lost.
  const lies = rows(
    all.filter((_, at) => at % 5 === 0),
    all.filter((_, at) => at % 5 !== 0),
  );

  it("connects and listens again, for whatever its connection was lost by", { timeout: 120_000 }, async () => {
    const server = await honest();
    const opened = await relay(server.url(), { channel: "orders" });
    const told: string[] = [];
    await opened.subscribe(
      (topic, wire) => told.push(`${topic} ${wire}`),
      () => told.push("missed"),
    );
    const other = await relay(server.url(), { channel: "orders" });
    for (const [at, [, bytes]] of lies.entries()) {
      const before = told.filter((one) => one === "missed").length;
      server.say(bytes);
      await eventually(() => told.filter((one) => one === "missed").length).toBeGreaterThan(before);
      await eventually(async () => {
        await other.publish("topic", `${at}`).catch(() => {});
        return told.includes(`topic ${at}`);
      }).toBe(true);
    }
    await Promise.all([opened.close(), other.close()]);
  });

  it.each(moments)("that cannot be opened is an error: %s", async (moment) => {
    const server = await honest();
    for (const [, bytes] of wellFormed) {
      server.lies.push({ moment, bytes, then: "closes" });
      const told = await outcome(
        relay(server.url("connect_timeout=2"), { channel: "orders" }).then((one) => one.close()),
      );
      expect(told).toMatch(/^(?:"done"$|unsent: |db: )/);
      server.lies.length = 0;
    }
    expect(await outcome(relay(server.url(), { channel: "orders" }).then((one) => one.close()))).toBe('"done"');
  });
});

describe("migrate", () => {
  const directory = mkdtempSync(join(tmpdir(), "usher-lied-"));
  writeFileSync(join(directory, "0001_orders.sql"), "create table orders (id int);");
  afterAll(() => rmSync(directory, { recursive: true }));

  async function migrated(server: LyingServer): Promise<string> {
    try {
      return (await migrate(server.url("connect_timeout=2"), { directory, waitMs: 100 })).applied.join();
    } catch (error) {
      return error instanceof MigrationError || error instanceof DatabaseError ? error.name : `WRONG: ${String(error)}`;
    }
  }

  it.each(moments)("fails, or does what it says: %s", { timeout: 60_000 }, async (moment) => {
    const server = await honest();
    for (const [name, bytes] of wellFormed) {
      server.lies.push({ moment, bytes, then: "goes on" });
      expect([name, await migrated(server)]).toEqual([
        name,
        expect.stringMatching(/^(?:0001_orders\.sql|MigrationError|DatabaseError)$/),
      ]);
      server.lies.length = 0;
    }
    expect(await migrated(server)).toBe("0001_orders.sql");
  });

  it("names a row of its table that is of no migration", async () => {
    const server = await honest();
    const row = message("D", Buffer.from([0, 1, 0, 0, 0, 1]), "x");
    server.rowsOf(/select number, name, hash/, row);
    await expect(migrate(server.url(), { directory })).rejects.toThrow("has a row that is not a migration's");
  });
});

describe("a request for a cancellation", () => {
  const sleep = Statement.exec("select pg_sleep(60)");

  async function cancelled(server: LyingServer, options: PoolOptions = {}): Promise<readonly string[]> {
    const pool = await Pool.create(server.url(), { size: 1, ...options });
    onTestFinished(() => pool.close());
    const leaving = new AbortController();
    const slept = outcome(pool.use((db) => db.exec(sleep), { signal: leaving.signal }));
    await eventually(() => server.asked.includes(sleep.sql)).toBe(true);
    leaving.abort();
    return [await slept, await outcome(pool.exec(one))];
  }

  it("that is answered by anything ends the statement, and the connection is kept", { timeout: 60_000 }, async () => {
    for (const [, bytes] of wellFormed) {
      const server = await honest();
      server.atCancel = bytes;
      expect(await cancelled(server)).toEqual([expect.stringMatching(/^db: .*caller went away/), right]);
      expect(server.started).toBe(1);
    }
  });

  it("that the server never closes is given up after five seconds", { timeout: 60_000 }, async () => {
    const server = await honest();
    server.atCancel = undefined;
    expect(await cancelled(server)).toEqual([expect.stringMatching(/^db: .*caller went away/), right]);
  });
});

it.each<Moment>(["encryption"])("a server that answers neither yes nor no to %s is not connected", async (moment) => {
  const server = await honest();
  for (const answer of ["X", "E", "\0"]) {
    server.lies.push({ moment, bytes: Buffer.from(answer), then: "is silent" });
    const told = await outcome(Pool.create(server.url("connect_timeout=2"), { size: 1 }));
    expect(told).toMatch(/^unsent: .*the server did not answer whether it encrypts/);
  }
});
