/** What a pool makes of a server that lies at one moment: played here, on each runtime. */
import { DatabaseError, Pool, Statement, Type } from "../../../adapters/postgres/index.ts";
import { LyingServer, moments, wellFormed } from "./lying-server.ts";
import type { PoolOptions } from "../../../adapters/postgres/index.ts";
import type { Lie, Moment } from "./lying-server.ts";

const one = Statement.find("select 1 as one", { row: { one: Type.text } });

/** The moments of a connection's start. */
const starting: ReadonlySet<Moment> = new Set(moments.slice(0, moments.indexOf("columns of a script")));

/** A statement that takes longer is given up five seconds later. */
const statementTimeoutMs = 1;

/** What the caller of a statement got: its row, or the kind of its failure. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    const row = await work;
    return JSON.stringify(row ?? "done");
  } catch (error) {
    if (error instanceof DatabaseError) return `${error.failure.kind}: ${error.message}`;
    return `NOT A DATABASE ERROR: ${String(error)}`;
  }
}

export const right: string = JSON.stringify({ one: "1" });

/** A busy machine may take longer than the bound for an honest server's connection. */
async function openedAtSomeSpeed(url: string, options: PoolOptions): Promise<Pool> {
  for (let tries = 0; ; tries++) {
    try {
      return await Pool.create(url, options);
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

/** The results of statements from a lie until the pool answers again, which they end with. */
export async function play(lies: readonly Lie[], options: PoolOptions = {}): Promise<readonly string[]> {
  const isScram = lies.some(({ moment }) => moment.startsWith("SCRAM"));
  const server = await LyingServer.start({ signIn: isScram ? "scram" : "trust" });
  const pool = await openedAtSomeSpeed(server.url("connect_timeout=2"), { size: 1, statementTimeoutMs, ...options });
  const told: string[] = [];
  try {
    const first = await outcome(pool.exec(one));
    if (first !== right) throw new Error(`an honest server's answer: ${first}`);
    server.lies.push(...lies);
    if (lies.some(({ moment }) => starting.has(moment))) server.cut();
    told.push(await outcome(pool.use((db) => db.exec(one))));
    told.push(await outcome(pool.exec(Statement.exec("select 1 as one, 'again'"))));
    told.push(await outcome(pool.exec(one)));
    // A lie that was not sent by now is of a statement that failed before.
    server.lies.length = 0;
    const until = performance.now() + 30_000;
    do {
      told.push(await outcome(pool.exec(one)));
      if (told.at(-1) !== right) await new Promise((resolve) => setTimeout(resolve, 20));
    } while (told.at(-1) !== right && performance.now() < until);
    if (pool.stats().idle !== 1) told.push(`the pool has lost its connection: ${JSON.stringify(pool.stats())}`);
  } finally {
    await pool.close();
    server.close();
  }
  return told;
}

/** Each message at each moment, as the server continues after it. */
export const table: readonly (Lie & { readonly name: string })[] = moments.flatMap((moment) =>
  wellFormed.map(([name, bytes]) => ({ moment, name, bytes, then: "goes on" as const })),
);
