/** `Statement`: SQL statements as typed values. */
import { isObject, needs, needsObject, needsOptions, needsText } from "../arguments.ts";
import { counted } from "../counted.ts";
import { DatabaseError, clipped } from "./failure.ts";
import type { StatementResult, Column, StatementValues } from "./connection.ts";
import { includes, needsType, nullOf } from "./type-text.ts";
import type { DatabaseType } from "./type-text.ts";

/** A statement as a value: its SQL, the types of its parameters, and how its result is read. */
export interface Statement<in P extends readonly unknown[], out A> {
  /** Its text, with `$1` for the first parameter. */
  readonly sql: string;
  /** The types of its parameters, in order. */
  readonly params: Types;
  /** The columns of a row; undefined for a statement without rows. */
  readonly row: Columns | undefined;
  /** Writes the parameters as text. Throws if a value does not fit its type. */
  readonly print: (values: P) => StatementValues;
  /** Reads the result. Throws if it does not fit the declaration. */
  readonly read: (answer: StatementResult) => A;
}

/** The types of parameters, in order. */
export type Types = readonly DatabaseType<unknown>[];
/** The values of parameters with these types. */
export type Args<P extends Types> = { readonly [K in keyof P]: P[K] extends DatabaseType<infer A> ? A : never };
/** The type of each column of a row, by its name. */
export interface Columns {
  readonly [column: string]: DatabaseType<unknown>;
}
/** A row with these columns. */
export type Row<C extends Columns> = { readonly [K in keyof C]: C[K] extends DatabaseType<infer A> ? A : never };

/** One row of a statement's result; `never` for a statement without rows. */
export type RowOf<S extends Statement<never, unknown>> = S extends Statement<never, infer A> ? RowIn<A> : never;
type RowIn<A> = A extends readonly (infer R)[] ? R : A extends object ? A : never;

/** The types of the parameters, in the order `$1`, `$2`, … */
export interface Params<P extends Types> {
  /** The types of `$1`, `$2` and so on; none by default. */
  readonly params?: P;
}
/** The types of the parameters, and of each column by its name. A column that is not listed is not read. */
export interface Rows<P extends Types, C extends Columns> extends Params<P> {
  /** The type of each column that the statement returns, by its name. */
  readonly row: C;
}

/** Throws where a value is no statement. */
export function needsStatement(at: string, statement: unknown): void {
  const isStatement = isObject(statement) && typeof statement["print"] === "function";
  needs(isStatement, at, statement, "made by Statement");
}

/** A statement whose result is ignored. */
export function exec<const P extends Types = []>(sql: string, options: Params<P> = {}): Statement<Args<P>, void> {
  return make("Statement.exec", sql, options, undefined, () => {});
}

/** A statement that returns the number of affected rows. */
export function count<const P extends Types = []>(sql: string, options: Params<P> = {}): Statement<Args<P>, number> {
  return make("Statement.count", sql, options, undefined, (answer) => answer.count ?? 0);
}

/** A statement that returns exactly one row. Any other number throws. */
export function find<const C extends Columns, const P extends Types = []>(
  sql: string,
  options: Rows<P, C>,
): Statement<Args<P>, Row<C>> {
  const rows = reader("Statement.find", sql, options);
  return make("Statement.find", sql, options, options.row, (answer) => {
    if (answer.length !== 1) throw mismatch(sql, `${answer.length} rows where there is one`);
    return rows(answer)[0] as Row<C>;
  });
}

/** A statement that returns one row or `undefined`. More rows throw. */
export function findOptional<const C extends Columns, const P extends Types = []>(
  sql: string,
  options: Rows<P, C>,
): Statement<Args<P>, Row<C> | undefined> {
  const rows = reader("Statement.findOptional", sql, options);
  return make("Statement.findOptional", sql, options, options.row, (answer) => {
    if (answer.length > 1) throw mismatch(sql, `${answer.length} rows where there is one at the most`);
    return rows(answer)[0];
  });
}

/** A statement that returns any number of rows. */
export function list<const C extends Columns, const P extends Types = []>(
  sql: string,
  options: Rows<P, C>,
): Statement<Args<P>, readonly Row<C>[]> {
  const rows = reader("Statement.list", sql, options);
  return make("Statement.list", sql, options, options.row, rows);
}

function make<P extends Types, A>(
  maker: string,
  sql: string,
  options: Params<P>,
  row: Columns | undefined,
  read: (answer: StatementResult) => A,
): Statement<Args<P>, A> {
  needsText(`${maker}: its SQL`, sql);
  needsOptions(maker, options, "params row");
  const { params: types = [] as Types } = options;
  needs(Array.isArray(types), `${maker}: params`, types, "a list of types");
  for (const [at, type] of types.entries()) needsType(`${maker}: parameter $${at + 1}`, type);
  const print = (values: readonly unknown[]): StatementValues => {
    if (values.length !== types.length)
      throw mismatch(sql, `${counted(values.length, "value")} for ${counted(types.length, "parameter")}`);
    return types.map((type, at) => printed(sql, type, values[at], at));
  };
  return { sql, params: types, row, print, read };
}

function printed(sql: string, type: DatabaseType<unknown>, value: unknown, at: number): string | null {
  try {
    const text = type.print(value);
    // Untyped JavaScript may pass a number, which is not a text here.
    if (text === null || typeof text === "string") return text;
  } catch {
    // The type's own error may quote the value.
  }
  const takes = type.takes === undefined ? "" : `: it takes ${type.takes}`;
  throw mismatch(sql, `parameter $${at + 1} is no ${type.name}${takes}`);
}

type Field = readonly [name: string, type: DatabaseType<unknown>, at: number];

/** Reads rows by column name. Column positions are looked up once per row description, so once per prepared statement. */
function reader<C extends Columns>(
  maker: string,
  sql: string,
  options: { readonly row: C },
): (answer: StatementResult) => readonly Row<C>[] {
  needsOptions(maker, options, "params row");
  const { row } = options;
  needsObject(`${maker}: row`, row);
  for (const [column, type] of Object.entries(row)) needsType(`${maker}: column ${column}`, type);
  if (Object.hasOwn(row, "__proto__")) throw new Error("Statement: a column of row cannot be named __proto__");
  const names = Object.keys(row);
  const found = new WeakMap<readonly Column[], readonly Field[]>();
  return (answer) => {
    let fields = found.get(answer.columns);
    if (fields === undefined) {
      fields = names.map((name) => columnField(sql, name, row[name] as DatabaseType<unknown>, answer.columns));
      found.set(answer.columns, fields);
    }
    const rows: Row<C>[] = [];
    for (const values of answer) rows.push(rowOf(sql, fields, values) as Row<C>);
    return rows;
  };
}

function columnField(sql: string, name: string, type: DatabaseType<unknown>, columns: readonly Column[]): Field {
  const at = columns.findIndex((column) => column.name === name);
  const column = columns[at];
  if (column === undefined) throw mismatch(sql, `there is no column ${name}`);
  if (columns.some((other, index) => other.name === name && index !== at))
    throw mismatch(sql, `there are several columns ${name}`);
  if (!includes(type.reads, column.type)) throw mismatch(sql, `column ${name} is of a type that is no ${type.name}`);
  return [name, type, at];
}

function rowOf(sql: string, fields: readonly Field[], values: StatementValues): { [name: string]: unknown } {
  const row: { [name: string]: unknown } = {};
  for (const [name, type, at] of fields) {
    const text = values[at] as string | null;
    if (text !== null) row[name] = parsed(sql, name, type, text);
    else if (type.isOptional) row[name] = nullOf(type);
    else throw mismatch(sql, `column ${name} is NULL, which is no ${type.name}`);
  }
  return row;
}

function parsed(sql: string, name: string, type: DatabaseType<unknown>, text: string): unknown {
  try {
    return type.parse(text);
  } catch {
    throw mismatch(sql, `column ${name} is no ${type.name}`);
  }
}

function mismatch(sql: string, what: string): DatabaseError {
  return new DatabaseError({ kind: "db", code: undefined, detail: `${what}, for ${clipped(sql)}` });
}
