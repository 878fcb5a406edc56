/** The rows of a query: each column is read by the OID of its type. */
import { needs } from "../arguments.ts";
import type { Column, StatementResult, StatementValues } from "./connection.ts";
import { elementsOf, needsType } from "./type-text.ts";
import type { DatabaseType } from "./type-text.ts";
import type { QueryResult, QueryTypes } from "./queryable.ts";
import { bool, bytes, date, float, instant, int, int64, numeric, text } from "./types.ts";

const json: DatabaseType<unknown> = { ...text, name: "json", parse: (text) => JSON.parse(text) as unknown };

type KnownType = readonly [name: string, oid: number, array: number, type: DatabaseType<unknown>];
/** The name of a type, its OID, that of its array (pg_type.typarray), and how it is read. */
const known: readonly KnownType[] = [
  ["bool", 16, 1000, bool],
  ["bytea", 17, 1001, bytes],
  ["char", 18, 1002, text],
  ["name", 19, 1003, text],
  ["int8", 20, 1016, int64],
  ["int2", 21, 1005, int],
  ["int4", 23, 1007, int],
  ["text", 25, 1009, text],
  ["oid", 26, 1028, float],
  ["json", 114, 199, json],
  ["xml", 142, 143, text],
  ["cidr", 650, 651, text],
  ["float4", 700, 1021, float],
  ["float8", 701, 1022, float],
  ["macaddr", 829, 1040, text],
  ["inet", 869, 1041, text],
  ["bpchar", 1042, 1014, text],
  ["varchar", 1043, 1015, text],
  ["date", 1082, 1182, date],
  ["time", 1083, 1183, text],
  ["timestamp", 1114, 1115, text],
  ["timestamptz", 1184, 1185, instant],
  ["interval", 1186, 1187, text],
  ["timetz", 1266, 1270, text],
  ["numeric", 1700, 1231, numeric],
  ["uuid", 2950, 2951, text],
  ["jsonb", 3802, 3807, json],
] as unknown as readonly KnownType[];

/** Reads one value. Throws where its type cannot. */
type Parse = (text: string) => unknown;

const asText: Parse = (text) => text;

/** A list of any number of dimensions: the server names one type for all of them. */
function listOf(type: DatabaseType<unknown>): Parse {
  return (text) => {
    const from = text.startsWith("[") ? text.indexOf("=") + 1 : 0;
    let depth = 0;
    while (text[from + depth] === "{") depth++;
    let items: DatabaseType<unknown> = { ...type, isOptional: true, isNullable: true };
    for (let left = depth; left > 1; left--) {
      const inner = items;
      items = { ...inner, isArray: true, parse: (text) => elementsOf(text, inner) };
    }
    return elementsOf(text, items);
  };
}

/** How columns are read, by their OIDs. */
export type ColumnParsers = ReadonlyMap<number, Parse>;

/** Throws where what only JavaScript can give is no {@link QueryTypes}. */
export function columnParsers(at: string, types: QueryTypes = {}): ColumnParsers {
  const given = new Map<number, DatabaseType<unknown>>();
  for (const [name, type] of Object.entries(types)) {
    needsType(`${at}: types.${name}`, type);
    const oid = known.find((one) => one[0] === name)?.[1] ?? (/^[1-9][0-9]*$/.test(name) ? Number(name) : undefined);
    needs(oid !== undefined, `${at}: types`, types, `of types that PostgreSQL has: ${name} is none, write its OID`);
    given.set(oid as number, type);
  }
  const parsers = new Map<number, Parse>();
  for (const [, oid, array, type] of known) {
    const read = given.get(oid) ?? type;
    parsers.set(oid, (text) => read.parse(text));
    parsers.set(array, listOf(read));
  }
  for (const [oid, type] of given) parsers.set(oid, (text) => type.parse(text));
  return parsers;
}

/** Why a result cannot be read. Its text quotes no value. */
export class RowMismatch extends Error {}

/** Reads results in one way. */
export class RowsReader {
  readonly #parsers: ColumnParsers;
  readonly #areLists: boolean;
  /** Prepared statements have one list of columns for all their results. */
  readonly #readers = new WeakMap<readonly Column[], ColumnsReader>();

  constructor(parsers: ColumnParsers, areLists: boolean) {
    this.#parsers = parsers;
    this.#areLists = areLists;
  }

  /** @throws RowMismatch */
  read(result: StatementResult): QueryResult<never> {
    const { columns } = result;
    // A statement without rows has none.
    const reader = columns === undefined ? noColumns : this.#readerOf(columns);
    return {
      rows: (this.#areLists ? reader.lists(result) : reader.objects(result)) as readonly never[],
      count: result.count ?? 0,
      columns: reader.columns,
      command: result.command ?? "",
    };
  }

  #readerOf(columns: readonly Column[]): ColumnsReader {
    let reader = this.#readers.get(columns);
    if (reader === undefined) {
      reader = new ColumnsReader(columns, this.#parsers);
      this.#readers.set(columns, reader);
    }
    return reader;
  }
}

/** Reads the rows of results that have these columns. */
class ColumnsReader {
  readonly columns: readonly Column[];
  readonly #names: readonly string[];
  readonly #parses: readonly Parse[];

  constructor(columns: readonly Column[], parsers: ColumnParsers) {
    this.columns = Object.freeze(columns.map(({ name, type }) => Object.freeze({ name, type })));
    this.#names = columns.map(({ name }) => name);
    this.#parses = columns.map(({ type }) => parsers.get(type) ?? asText);
  }

  objects(result: StatementResult): readonly object[] {
    checkNames(this.#names);
    const rows: object[] = [];
    for (const values of result) {
      const row: { [name: string]: unknown } = {};
      for (let at = 0; at < this.#names.length; at++) row[this.#names[at] as string] = this.#valueAt(at, values);
      rows.push(row);
    }
    return rows;
  }

  lists(result: StatementResult): readonly (readonly unknown[])[] {
    return result.map((values) => this.#names.map((_, at) => this.#valueAt(at, values)));
  }

  #valueAt(at: number, values: StatementValues): unknown {
    const text = values[at] as string | null;
    if (text === null) return null;
    try {
      return (this.#parses[at] as Parse)(text);
    } catch {
      // The type's own error may quote the value.
      throw new RowMismatch(`column ${this.#names[at]} has a value that its type cannot read: give another by types`);
    }
  }
}

const noColumns = /* @__PURE__ */ new ColumnsReader([], new Map());

/** An object holds one value for a name. */
function checkNames(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (name === "__proto__") throw new RowMismatch("a column is named __proto__: rename it with as");
    if (seen.has(name))
      throw new RowMismatch(`there are several columns ${name}: rename them with as, or write rows: "lists"`);
    seen.add(name);
  }
}
