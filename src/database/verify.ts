import { isObject, needs } from "../arguments.ts";
import { isA } from "../logging/raised.ts";
import { DatabaseError, clipped } from "./failure.ts";
import type { StatementColumns } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { needsStatement } from "./statement.ts";
import type { Statement } from "./statement.ts";
import { includes, customTypes } from "./type-text.ts";

/**
 * Checks every statement against the database without running it. Call it at start-up: it finds a renamed column before a
 * request does.
 *
 * @throws DatabaseError naming each statement that does not fit, and why. A server that cannot tell, as where a lock or a
 *   time-out ends the question, is an error of its own.
 */
export async function verify(pool: Pool, statements: readonly Statement<never, unknown>[]): Promise<void> {
  needs(
    isObject(pool) && typeof pool.describe === "function",
    "Statement.verify: its pool",
    pool,
    "made by Pool.create",
  );
  needs(Array.isArray(statements), "Statement.verify: statements", statements, "a list");
  for (const statement of statements) needsStatement("Statement.verify: a statement", statement);
  const wrong: string[] = [];
  for (const statement of statements) {
    const found = await describe(pool, statement.sql);
    const what = typeof found === "string" ? [found] : mismatches(statement, found);
    if (what.length > 0) wrong.push(`${clipped(statement.sql)}: ${what.join(", ")}`);
  }
  if (wrong.length === 0) return;
  const detail = `statements that do not fit it: ${wrong.join("; ")}`;
  throw new DatabaseError({ kind: "db", code: undefined, detail });
}

/** The classes of SQLSTATE that are the server's state, and not a statement's fault: too little memory, a lock, a time-out. */
const serverStates = /^(?:53|55|57|58)/;

async function describe(pool: Pool, sql: string): Promise<StatementColumns | string> {
  try {
    return await pool.describe(sql);
  } catch (thrown) {
    if (!isA(DatabaseError, thrown) || thrown.failure.kind !== "db") throw thrown;
    if (serverStates.test(thrown.failure.code ?? "")) throw thrown;
    return thrown.failure.detail;
  }
}

function mismatches({ params, row = {} }: Statement<never, unknown>, described: StatementColumns): readonly string[] {
  const wrong: string[] = [];
  if (params.length !== described.params.length)
    wrong.push(`it takes ${described.params.length} parameters, and ${params.length} are declared`);
  params.forEach((type, at) => {
    const taken = described.params[at];
    // Only the server knows the base type of a domain.
    if (taken !== undefined && taken < customTypes && !includes(type.sends ?? type.reads, taken))
      wrong.push(`parameter $${at + 1} is of a type that is no ${type.name}`);
  });
  for (const [name, type] of Object.entries(row)) {
    const columns = described.columns.filter((column) => column.name === name);
    const [column] = columns;
    if (column === undefined) wrong.push(`there is no column ${name}`);
    else if (columns.length > 1) wrong.push(`there are several columns ${name}`);
    else if (!includes(type.reads, column.type)) wrong.push(`column ${name} is of a type that is no ${type.name}`);
  }
  return wrong;
}
