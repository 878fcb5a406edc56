import { isObject, needs } from "../arguments.ts";
import { counted } from "../counted.ts";
import { isA } from "../logging/raised.ts";
import { DatabaseError, clipped } from "./failure.ts";
import type { StatementColumns } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { list, needsStatement } from "./statement.ts";
import type { Statement } from "./statement.ts";
import { includes, customTypes } from "./type-text.ts";
import { text } from "./types.ts";

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
  const wrong: { readonly sql: string; readonly what: readonly Mismatch[] }[] = [];
  for (const statement of statements) {
    const found = await describe(pool, statement.sql);
    const what = typeof found === "string" ? [found] : mismatches(statement, found);
    if (what.length > 0) wrong.push({ sql: statement.sql, what });
  }
  if (wrong.length === 0) return;
  const names = await namesOf(
    pool,
    wrong.flatMap(({ what }) => what),
  );
  const sentence = (one: Mismatch): string =>
    typeof one === "string"
      ? one
      : `${one.what} is ${names.get(one.found) ?? `the type ${one.found}`}, and not ${one.declared}`;
  const lines = wrong.map(({ sql, what }) => `\n- ${clipped(sql)}: ${what.map(sentence).join(", ")}`);
  const isMissing = wrong.some(({ what }) =>
    what.some((one) => typeof one === "string" && one.startsWith(missingTable)),
  );
  const next = isMissing ? "\nA table is missing: apply the migrations to this database before" : "";
  const detail = `statements that do not fit it:${lines.join("")}${next}`;
  throw new DatabaseError({ kind: "db", code: undefined, detail });
}

/** How the server says that a statement names a table which is not there (PostgreSQL, appendix A: undefined_table). */
const missingTable = "ERROR 42P01: ";

/** The classes of SQLSTATE that are the server's state, and not a statement's fault: too little memory, a lock, a time-out. */
const serverStates = /^(?:53|55|57|58)/;

async function describe(pool: Pool, sql: string): Promise<StatementColumns | string> {
  try {
    return await pool.describe(sql);
  } catch (thrown) {
    if (!isA(DatabaseError, thrown) || thrown.failure.kind !== "db") throw thrown;
    if (serverStates.test(thrown.failure.code ?? "")) throw thrown;
    const { detail } = thrown.failure;
    // The line begins with the statement.
    const end = `, for ${clipped(sql)}`;
    return detail.endsWith(end) ? detail.slice(0, -end.length) : detail;
  }
}

/** A sentence, or a parameter or column whose type in the database is another one than declared. */
type Mismatch = string | { readonly what: string; readonly found: number; readonly declared: string };

/** The names of types by their OIDs, such as `int[]`: only the server knows all. Empty where it does not tell them. */
async function namesOf(pool: Pool, mismatches: readonly Mismatch[]): Promise<ReadonlyMap<number, string>> {
  const oids = new Set(mismatches.flatMap((one) => (typeof one === "string" ? [] : [one.found])));
  if (oids.size === 0) return new Map();
  const values = [...oids].map((oid) => `(${oid})`).join(", ");
  const sql = `select oid::text as oid, pg_catalog.format_type(oid, null) as name from (values ${values}) as found (oid)`;
  const rows = await pool.exec(list(sql, { row: { oid: text, name: text } })).catch(() => []);
  return new Map(rows.map(({ oid, name }) => [Number(oid), name]));
}

function mismatches({ params, row = {} }: Statement<never, unknown>, described: StatementColumns): readonly Mismatch[] {
  const wrong: Mismatch[] = [];
  if (params.length !== described.params.length)
    wrong.push(`it takes ${counted(described.params.length, "parameter")}, and declares ${params.length}`);
  params.forEach((type, at) => {
    const taken = described.params[at];
    // Only the server knows the base type of a domain.
    if (taken !== undefined && taken < customTypes && !includes(type.sends ?? type.reads, taken))
      wrong.push({ what: `parameter $${at + 1}`, found: taken, declared: type.name });
  });
  for (const [name, type] of Object.entries(row)) {
    const columns = described.columns.filter((column) => column.name === name);
    const [column] = columns;
    if (column === undefined) wrong.push(`there is no column ${name}`);
    else if (columns.length > 1) wrong.push(`there are several columns ${name}`);
    else if (!includes(type.reads, column.type))
      wrong.push({ what: `column ${name}`, found: column.type, declared: type.name });
  }
  return wrong;
}
