/** `Pool`: opens a pool of connections to PostgreSQL. */
import process from "node:process";
import { needs, needsFunction, needsObject, needsOptions } from "../../src/arguments.ts";
import { inTime } from "../../src/doors/base.ts";
import { DatabaseError, error, noteProgram } from "../../src/doors/database.ts";
import { Pool } from "../../src/database/pool.ts";
import type { Reset } from "../../src/database/pool.ts";
import type { Conninfo } from "./connection-string.ts";
import { targetOf } from "./dial.ts";
import type { PoolBounds, PoolOptions } from "./settings.ts";
import { defaultMaxResultBytes, openConnection } from "./connection.ts";
import { loadDriver } from "./private.ts";
import { settingsOf } from "./settings.ts";

export type { PoolBounds } from "./settings.ts";
export type { Pool } from "../../src/database/pool.ts";
export type { PoolOptions } from "./settings.ts";
export type { Isolation, TransactionOptions } from "../../src/doors/database.ts";

const boundsWords: ReadonlySet<string> = /* @__PURE__ */ new Set<PoolBounds>(["startup", "session", "transaction"]);
const resets: ReadonlySet<string> = /* @__PURE__ */ new Set<Reset>(["use", "always", "never"]);

/** How long after `statement_timeout` the pool closes the connection of a statement that still runs. */
const graceMs = 5000;

/**
 * Opens a pool. Resolves once every connection is open, so call it before the server listens.
 *
 * @throws DatabaseError `unsent` with the reason if a connection could not be opened.
 */
export async function create(target: string | Conninfo, options: PoolOptions = {}): Promise<Pool> {
  needsOptions(
    "Pool.create",
    options,
    "size waitMs statementTimeoutMs idleInTransactionTimeoutMs bounds parameters statementCache maxResultBytes maxLifetimeMs idleCheckMs reset",
  );
  const {
    size = 8,
    waitMs = 5000,
    statementTimeoutMs = 10_000,
    maxLifetimeMs = 1_800_000,
    idleCheckMs = 60_000,
  } = options;
  const { idleInTransactionTimeoutMs = 30_000, parameters = {}, bounds = "startup" } = options;
  const { maxResultBytes = defaultMaxResultBytes } = options;
  // Each statement may have another session of the server.
  const isPooled = bounds === "transaction";
  const { statementCache = isPooled ? 0 : 256, reset = isPooled ? "never" : "use" } = options;
  const numbers = {
    maxResultBytes,
    waitMs,
    statementTimeoutMs,
    idleInTransactionTimeoutMs,
    statementCache,
    maxLifetimeMs,
    idleCheckMs,
  };
  for (const [name, value] of Object.entries(numbers)) {
    needs(typeof value === "number" && value >= 0, `Pool.create: ${name}`, value, "a number from 0");
  }
  needs(resets.has(reset), "Pool.create: reset", reset, "use, always or never");
  needs(boundsWords.has(bounds), "Pool.create: bounds", bounds, "startup, session or transaction");
  needsObject("Pool.create: parameters", parameters);
  if (!Number.isInteger(size) || size < 1) throw new Error("Pool.create: size must be a whole number from 1");
  const info = targetOf("Pool.create: its target", target);
  const { session, local, isBounded, parameters: atStart } = settingsOf(info, options);
  const answerMs = isBounded ? statementTimeoutMs + graceMs : undefined;
  const cancelMs = isPooled && isBounded ? statementTimeoutMs : undefined;
  const driver = await loadDriver("Pool.create");
  const opening = { driver, parameters: atStart, session, statementCache, maxResultBytes: orNone(maxResultBytes) };
  return Pool.over(
    (events) => openConnection(info, opening, events),
    { size, waitMs, answerMs, cancelMs, maxLifetimeMs: orNone(maxLifetimeMs), idleCheckMs: orNone(idleCheckMs) },
    { reset, session, local },
  );
}

/** 0 is no limit, as it is to PostgreSQL. */
function orNone(bound: number): number {
  return bound === 0 ? Number.POSITIVE_INFINITY : bound;
}

/** How long a program that threw waits for borrowed connections. */
const failedCloseMs = 5000;

/**
 * Opens a pool, runs a program with it and closes it, which waits for borrowed connections: at most 5 s if the program throws. If the
 * database cannot be reached, it logs the reason at level error and exits with status 1.
 */
export async function run<A>(
  target: string | Conninfo,
  options: PoolOptions,
  program: (pool: Pool) => Promise<A>,
): Promise<A> {
  needsOptions(
    "Pool.run",
    options,
    "size waitMs statementTimeoutMs idleInTransactionTimeoutMs bounds parameters statementCache maxResultBytes maxLifetimeMs idleCheckMs reset",
  );
  needsFunction("Pool.run: its program", program);
  let pool: Pool;
  try {
    pool = await create(target, options);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError)) throw thrown;
    error(`the pool could not be opened: ${thrown.message}`);
    process.exit(1);
  }
  let result: A;
  noteProgram(false);
  try {
    result = await program(pool);
  } catch (thrown) {
    noteProgram(true);
    // Work of the program may hold a connection for ever, and the program would end without its error.
    await inTime(pool.close(), failedCloseMs);
    throw thrown;
  }
  await pool.close();
  return result;
}
