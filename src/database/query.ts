/** `query`: a text and its values, with rows that are read by the types of their columns. */
import { isRecord, needs, needsOptions, needsText } from "../arguments.ts";
import { counted } from "../counted.ts";
import type { StatementResult, StatementValues } from "./connection.ts";
import { DatabaseError, clipped } from "./failure.ts";
import { RowMismatch, RowsReader, columnParsers } from "./query-rows.ts";
import { readQueryText } from "./query-text.ts";
import type { QueryText } from "./query-text.ts";
import { ValueMismatch, valueText } from "./query-values.ts";
import type { QueryOptions, QueryResult, QueryTypes } from "./queryable.ts";
import type { Statement } from "./statement.ts";

/** A text as a statement, whose one argument is the list of its values. */
export type QueryStatement = Statement<[values: readonly unknown[]], QueryResult<never>>;

/** Texts of a program are few. Longer ones are read again each time. */
const maxTexts = 512;
const maxTextLength = 8192;

/** Statements of one way to read rows, by their texts: the value that a pool knows a statement by. */
class Texts {
  readonly #reader: RowsReader;
  readonly #statements = new Map<string, QueryStatement>();

  constructor(reader: RowsReader) {
    this.#reader = reader;
  }

  statementOf(sql: string): QueryStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = statementFor(readQueryText(sql), this.#reader);
    if (sql.length > maxTextLength) return statement;
    // All at once, as V8's `Map` finds its first key slowly after many deletions.
    if (this.#statements.size >= maxTexts) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The ways to read rows, by the types that replace others. */
class Ways {
  readonly #types: QueryTypes | undefined;
  #objects: Texts | undefined;
  #lists: Texts | undefined;

  constructor(types: QueryTypes | undefined) {
    this.#types = types;
  }

  textsOf(at: string, rows: QueryOptions["rows"]): Texts {
    if (rows === "lists") return (this.#lists ??= new Texts(new RowsReader(columnParsers(at, this.#types), true)));
    return (this.#objects ??= new Texts(new RowsReader(columnParsers(at, this.#types), false)));
  }
}

const byTypes = /* @__PURE__ */ new WeakMap<QueryTypes, Ways>();
const byDefault = /* @__PURE__ */ new Ways(undefined);
const noOptions: QueryOptions = {};

function waysOf(at: string, types: QueryTypes | undefined): Ways {
  if (types === undefined) return byDefault;
  let ways = byTypes.get(types);
  if (ways === undefined) {
    needs(isRecord(types), `${at}: types`, types, "an object");
    ways = new Ways(types);
    byTypes.set(types, ways);
  }
  return ways;
}

/** The statement of a text. Throws for arguments that only JavaScript gets wrong. */
export function queryStatement(
  at: string,
  sql: string,
  values: unknown,
  options: QueryOptions = noOptions,
): QueryStatement {
  needsText(`${at}: its text`, sql);
  needs(Array.isArray(values), `${at}: its values`, values, "a list");
  if (options !== noOptions) needsOptions(at, options, "rows types size waitMs signal");
  const { rows = "objects", types } = options;
  needs(rows === "objects" || rows === "lists", `${at}: rows`, rows, "objects or lists");
  return waysOf(at, types).textsOf(at, rows).statementOf(sql);
}

function statementFor(text: QueryText, reader: RowsReader): QueryStatement {
  const { sql } = text;
  const wrong = wrongText(text);
  return {
    sql,
    params: [],
    row: undefined,
    print: ([values]) => printed(text, wrong, values),
    read(result: StatementResult) {
      try {
        return reader.read(result);
      } catch (thrown) {
        if (thrown instanceof RowMismatch) throw mismatch(sql, thrown.message);
        throw thrown;
      }
    },
  };
}

/** Why a text cannot be sent. */
function wrongText({ sql, hasSecond }: QueryText): string | undefined {
  // NUL ends a text in the protocol, and a lone surrogate would be sent as another character.
  if (sql.includes("\0") || !sql.isWellFormed()) return "the text has NUL or a lone surrogate";
  return hasSecond ? "there are several statements where there is one" : undefined;
}

function printed(
  { sql, parameters }: QueryText,
  wrong: string | undefined,
  values: readonly unknown[],
): StatementValues {
  if (wrong !== undefined) throw mismatch(sql, wrong);
  if (parameters !== undefined && values.length !== parameters)
    throw mismatch(sql, `${counted(values.length, "value")} for ${counted(parameters, "parameter")}`);
  // `map` would skip a hole, which is undefined.
  return Array.from(values, (value, at) => {
    try {
      return valueText(value);
    } catch (thrown) {
      // Another error is the value's own, as that of a revoked proxy, and may quote it.
      const why = thrown instanceof ValueMismatch ? thrown.message : "throws where it is read";
      throw mismatch(sql, `value $${at + 1} ${why}`);
    }
  });
}

function mismatch(sql: string, what: string): DatabaseError {
  return new DatabaseError({ kind: "db", code: undefined, detail: `${what}, for ${clipped(sql)}` });
}
