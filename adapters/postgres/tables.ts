/** What the stores over a table have in common. */
import { isObject, needs, needsOptions, needsText } from "../../src/arguments.ts";

/** Throws where an argument is no pool. */
export function needsPool(store: string, pool: unknown): void {
  needs(isObject(pool) && typeof pool["exec"] === "function", `${store}.store: its pool`, pool, "made by Pool.create");
}

/** The name of a store's table, in quotes. Throws for any other text. */
export function tableOf(store: string, options: { readonly table: string }): string {
  needsOptions(store, options, "table");
  const { table } = options;
  needsText(`${store}: table`, table);
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(table)) return `"${table}"`;
  throw new Error(`${store}: ${JSON.stringify(table)} is not a table's name`);
}

/** The name of an index of the table, in quotes. PostgreSQL cuts a longer name to 63 bytes, and it would equal the table's. */
export function indexOf(table: string, column: string): string {
  return `"${table.slice(0, 62 - column.length)}_${column}"`;
}

const sweptAtOnce = 10_000;

/**
 * The statement of {@link sweepAll}. The sweeps of several processes leave each other's rows alone: one that waited for the rows of
 * another would delete few of them itself, and end too early. A lock sees the row as another statement has just renewed it.
 */
export function sweeping(name: string, isOver: string): string {
  const some = `select digest from ${name} where ${isOver} limit ${sweptAtOnce} for update skip locked`;
  return `delete from ${name} where digest = any(array(${some}))`;
}

/**
 * Deletes what is over, a part with each statement: of a table that was not swept for long, one statement for all of it
 * would be ended by `statement_timeout`, however often it is tried.
 *
 * @param sweep Runs a statement of {@link sweeping}.
 */
export async function sweepAll(sweep: () => Promise<number>): Promise<number> {
  for (let all = 0; ;) {
    const swept = await sweep();
    all += swept;
    if (swept < sweptAtOnce) return all;
  }
}
