/** A server that is shot at under load: every answer is held against what is in the database afterwards. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { Pool, Statement, Type } from "usher-http/postgres";
import "../../support/logs.ts";
import { startPostgres } from "../../support/postgres/database.ts";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { commands } from "./commands.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { eventually } from "./pools.ts";
import { isWide } from "../../support/wide.ts";

const shootingMs = 4000;
const server = await startPostgres();

const shoot = Statement.count(
  `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'chaos' order by random() limit 1`,
);
const written = Statement.list("select id, count(*) as parts from written group by id", {
  row: { id: Type.int, parts: Type.int64 },
});
const sessions = Statement.find("select count(*) as n from pg_stat_activity where application_name = 'chaos'", {
  row: { n: Type.int64 },
});

interface Told {
  readonly committed: readonly number[];
  readonly nothing: readonly number[];
  readonly unknown: readonly number[];
  readonly wrong: readonly string[];
  readonly isWhole: boolean;
}

it.each(isWide ? commands : commands.slice(0, 1))(
  "on %s every answer is true, and the pool is complete at the end",
  async (_, command) => {
    await withPool((pool) => pool.exec(Statement.exec("create table if not exists written (id int, part int)")));
    await withPool((pool) => pool.exec(Statement.exec("truncate written")));
    const proxy = await CuttingProxy.to(server.port);
    const [file = "", ...rest] = command();
    const child = spawn(file, [
      ...rest,
      join(import.meta.dirname, "chaos.ts"),
      `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
    ]);
    const [said, complained] = [text(child.stdout), text(child.stderr)];
    await once(child.stdout, "data");
    const shots = await shootAt(server, proxy);
    child.stdin.end();
    const [status] = (await once(child, "exit")) as [number];
    proxy.close();
    expect([status, await complained]).toEqual([0, ""]);
    const told = JSON.parse((await said).split("\n").find((line) => line.startsWith("{")) ?? "{}") as Told;

    expect(told.wrong).toEqual([]);
    expect(told.isWhole).toBe(true);
    expect(shots).toBeGreaterThan(0);
    expect(told.committed.length).toBeGreaterThan(0);
    expect(told.nothing.length).toBeGreaterThan(0);
    const rows = await withPool((pool) => pool.exec(written));
    const parts = new Map(rows.map(({ id, parts }) => [id, Number(parts)]));
    expect(told.committed.filter((id) => parts.get(id) !== 2)).toEqual([]);
    expect(told.nothing.filter((id) => parts.has(id))).toEqual([]);
    expect(told.unknown.filter((id) => parts.has(id) && parts.get(id) !== 2)).toEqual([]);
    await eventually(() => withPool(async (pool) => (await pool.exec(sessions)).n)).toBe(0n);
  },
);

function withPool<A>(work: (pool: Pool) => Promise<A>): Promise<A> {
  return Pool.run(server.url(), { size: 1 }, work);
}

/** Ends connections at random, at either end, and the whole server twice; answers how many it ended. */
async function shootAt(target: PostgresServer, proxy: CuttingProxy): Promise<number> {
  let shots = 0;
  for (const rest of [1, 2, 3]) {
    const pool = await Pool.create(target.url(), { size: 1 });
    const until = Date.now() + shootingMs / 3;
    while (Date.now() < until) {
      shots += (await pool.exec(shoot)) + Number(proxy.cut());
      await delay(20);
    }
    if (rest < 3) {
      await target.stop("immediate");
      await delay(200);
      await target.start();
    }
    await pool.close();
  }
  return shots;
}
