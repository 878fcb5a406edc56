/** What runs statements and queries: the types of a pool and of the connections borrowed from it. */
import type { Column } from "./connection.ts";
import type { Statement } from "./statement.ts";
import type { DatabaseType } from "./type-text.ts";

/** What runs statements: a pool, or a connection borrowed from one. */
export interface Database {
  /** Runs a statement with its parameters. Throws a {@link DatabaseError}. */
  exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A>;
}

/**
 * The types of columns that a query reads in another way than by default: by their names in `pg_type`, as `int8`, or by their OIDs, as of
 * an extension's type. An array of such a type follows it.
 */
export interface QueryTypes {
  readonly [nameOrOid: string]: DatabaseType<unknown>;
}

/** How the rows of a query are read. */
export interface QueryOptions {
  /** Rows as objects by the names of their columns, which is the default, or as lists in the order of the columns. */
  readonly rows?: "objects" | "lists";
  /**
   * Types of columns that are read in another way, by their names in `pg_type` or their OIDs: `{ int8: Type.text }` reads `int8` as text
   * and not as a `bigint`. Make that object once: what it computes is kept by it.
   */
  readonly types?: QueryTypes;
}

/** How the rows of a query are read in batches. */
export interface BatchOptions extends QueryOptions {
  /** The most rows of a batch; 1000 by default. */
  readonly size?: number;
}

/** A row by the names of its columns. */
export interface QueryRow {
  readonly [column: string]: unknown;
}

/** The result of a query. */
export interface QueryResult<R> {
  /** The rows in their order; none of a statement that returns none. */
  readonly rows: readonly R[];
  /** The number of rows that the statement returned or changed, by its command tag; 0 for a command without one, as `create table`. */
  readonly count: number;
  /** The columns in their order, with the OIDs of their types in `pg_type`. */
  readonly columns: readonly Column[];
  /** What the server ran, as `SELECT` or `INSERT`. */
  readonly command: string;
}

/** A pool, or a connection borrowed from one: it runs statements, and texts with values. */
export interface Queryable extends Database {
  /**
   * Runs one SQL text. `values` are its parameters, `$1` first, and never a part of the text. For query builders, and for a text that a
   * program makes; a {@link Statement} is checked against the database, and its rows are typed.
   *
   * A value is sent by its JavaScript type: a text, number, bigint or boolean; `null`; a `Date`; a `Uint8Array`; an array, as an array of
   * PostgreSQL's; a plain object, as JSON. A column is read by its type: `int8` as `bigint` and `numeric` as text, exact; `timestamptz` as
   * `Date`, `date` as `[year, month, day]`, `bytea` as `Uint8Array`, `json` and `jsonb` parsed, arrays as arrays, NULL as `null`, and any
   * other type as PostgreSQL's text.
   *
   * @typeParam R A row. It is not checked.
   * @throws DatabaseError as `exec` does. A value without a form in SQL, another number of values, and a second statement in the text
   *   are refused before anything is sent.
   *
   * @example
   * ```ts
   * const { rows } = await pool.query<{ id: bigint }>("select id from orders where item = $1", ["pen"]);
   * ```
   */
  query<R = readonly unknown[]>(
    text: string,
    values: readonly unknown[],
    options: QueryOptions & { readonly rows: "lists" },
  ): Promise<QueryResult<R>>;
  query<R = QueryRow>(text: string, values?: readonly unknown[], options?: QueryOptions): Promise<QueryResult<R>>;
  /**
   * Reads the rows of a `select`, `values`, `table` or `with` in batches, by a cursor: for a result that does not fit in memory. Nothing is
   * sent before the first batch is asked for. A loop that ends early closes the cursor.
   *
   * On a pool it borrows a connection until the loop ends, in a read-only transaction of its own. If the signal or the deadline of the
   * request ends it, the connection is free at once, and the next batch rejects.
   *
   * @throws DatabaseError as `query` does.
   *
   * @example
   * ```ts
   * for await (const orders of pool.batches<{ id: bigint }>("select id from orders", [], { size: 500 }))
   *   for (const { id } of orders) write(id);
   * ```
   */
  batches<R = readonly unknown[]>(
    text: string,
    values: readonly unknown[],
    options: BatchOptions & { readonly rows: "lists" },
  ): AsyncIterableIterator<readonly R[]>;
  batches<R = QueryRow>(
    text: string,
    values?: readonly unknown[],
    options?: BatchOptions,
  ): AsyncIterableIterator<readonly R[]>;
}
