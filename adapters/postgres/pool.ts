/** `Pool`: makes a pool of connections to PostgreSQL. */
import process from "node:process";
import { DatabaseError } from "../../src/database/failure.ts";
import { Pool as PoolOf } from "../../src/database/pool.ts";
import { error } from "../../src/database/acquire-queue.ts";
import { parse } from "./connection-string.ts";
import type { Conninfo } from "./connection-string.ts";
import { parametersOf } from "./dial.ts";
import type { PoolOptions } from "./dial.ts";
import { openConnection } from "./connection.ts";

export type Pool = PoolOf;

/** What a statement may take past the server's own bound before its connection is given up. */
const graceMs = 5000;

/**
 * Opens a pool. Resolves once every connection is open, so a server that listens after it has a database.
 *
 * @throws DatabaseError `unsent` where one could not be opened, which says why.
 */
export async function create(target: string | Conninfo, options: PoolOptions = {}): Promise<Pool> {
  const {
    size = 8,
    waitMs = 5000,
    statementTimeoutMs = 10_000,
    maxLifetimeMs = 1_800_000,
    idleCheckMs = 60_000,
  } = options;
  const { statementCache = 256, reset = "use" } = options;
  if (!Number.isInteger(size) || size < 1) throw new Error("a pool's size is a whole number from 1");
  const info = typeof target === "string" ? parse(target) : target;
  const parameters = parametersOf(info, options);
  const isOurs = !Object.keys(options.parameters ?? {}).some((name) => name.toLowerCase() === "statement_timeout");
  const answerMs = isOurs && statementTimeoutMs > 0 ? statementTimeoutMs + graceMs : undefined;
  return PoolOf.over(
    (events) => openConnection(info, { parameters, statementCache }, events),
    { size, waitMs, answerMs, maxLifetimeMs, idleCheckMs },
    reset,
  );
}

/**
 * Opens a pool, runs a program with it and closes it. Where the database cannot be reached, the reason is logged at
 * level error and the process ends with status 1.
 */
export async function run<A>(
  target: string | Conninfo,
  options: PoolOptions,
  program: (pool: Pool) => Promise<A>,
): Promise<A> {
  let pool: Pool;
  try {
    pool = await create(target, options);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError)) throw thrown;
    error(`the pool could not be opened: ${thrown.message}`);
    process.exit(1);
  }
  try {
    return await program(pool);
  } finally {
    await pool.close();
  }
}
