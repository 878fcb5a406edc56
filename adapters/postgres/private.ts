import type postgres from "postgres";
import { installed } from "../../src/doors/base.ts";
import type { Column, ConnectionFailure, StatementValues } from "../../src/doors/database.ts";
import type { ConnectionConfig, Driver } from "./dial.ts";
import type { Wire } from "./protocol.ts";

/*
 * Every undocumented part of the driver `postgres` that is used, as 3.4.9 has it; package.json allows `~3.4.9`. The tests of
 * `test/adapters/postgres` run every statement through them, and fail where one changes.
 *
 *   query.handler            the function that sends queries    statements could not be made without the driver's `Query`
 *   the members of `Query`   written and read by a connection   its own class doubles the time of a statement
 *   options.socket           makes the connection's socket      no TLS of our own, no `target_session_attrs`, no cancel
 *   its use of that socket   `on`, `write`, `destroy`           a server that breaks the protocol would end the process
 */

/** How a statement is sent. By default the driver sends one without parameters by the simple protocol. */
export interface QueryProtocol {
  readonly prepare: boolean;
  readonly simple: boolean;
}
export const prepared: QueryProtocol = { prepare: true, simple: false };
export const unprepared: QueryProtocol = { prepare: false, simple: false };
export const simple: QueryProtocol = { prepare: false, simple: true };

/** The result of Describe. */
export interface DescribedStatement {
  readonly types: readonly number[];
  readonly columns: readonly Column[];
}

/** Sends a query, or queues it until the connection is open. */
export type Execute = (query: Query) => void;

interface QueryRunner {
  answered(query: Query): void;
  failed(query: Query, error: unknown): ConnectionFailure;
}

/**
 * Replaces the driver's `Query` (src/query.js). V8 pretenures the two closures (`resolve`, `reject`) that its constructor
 * assigns, so each query and its result stay in memory until the next major GC. That doubled the time of a statement.
 */
export class Query {
  readonly strings: readonly [string];
  readonly args: StatementValues;
  readonly options: QueryProtocol;
  readonly onlyDescribe: boolean;
  // Rows as lists of their columns.
  readonly isRaw = "values";
  readonly tagged = false;
  // The stack of the caller, in the driver's debug mode.
  readonly origin = "";
  readonly #runner: QueryRunner;
  readonly #settle: (answer: unknown) => void;
  readonly #fail: (failure: ConnectionFailure) => void;
  #isSettled = false;
  /** The error after which the driver ran it again. */
  #stale: unknown = undefined;
  /** The socket's `bytesWritten` before it was sent. */
  sentBefore = 0;
  /** The text as the caller gave it. */
  sql: string;

  // Written by the driver's connection.
  active = false;
  cancelled: unknown = null;
  state: unknown = null;
  statement: unknown = null;
  string = "";
  signature: unknown = "";
  parameters: unknown = undefined;
  prepare = false;
  prepared = false;
  describeFirst: unknown = false;
  parsing: unknown = undefined;

  constructor(
    sql: string,
    values: StatementValues,
    protocol: QueryProtocol,
    onlyDescribe: boolean,
    runner: QueryRunner,
    settle: (answer: unknown) => void,
    fail: (failure: ConnectionFailure) => void,
  ) {
    this.sql = sql;
    this.strings = [sql];
    this.args = values;
    this.options = protocol;
    this.onlyDescribe = onlyDescribe;
    this.#runner = runner;
    this.#settle = settle;
    this.#fail = fail;
  }

  resolve(answer: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#runner.answered(this);
    this.#settle(answer);
  }

  /** If its second run fails too, the driver rejects with what it reads here, where that is not undefined: the first error. */
  get retried(): undefined {
    return undefined;
  }
  set retried(error: unknown) {
    this.#stale = error;
  }

  reject(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    // In a transaction the first error has made the second run fail.
    const isOfFirst = this.#stale !== undefined && (error as { readonly code?: unknown }).code === "25P02";
    this.#fail(this.#runner.failed(this, isOfFirst ? this.#stale : error));
  }

  /** The connection closed before the result arrived. */
  fail(failure: ConnectionFailure): void {
    this.#isSettled = true;
    this.#fail(failure);
  }
}

/** The driver's function that sends queries: each of its queries has it as `handler`. */
function executeOf(driver: postgres.Sql): Execute {
  const { handler } = driver.unsafe("") as unknown as { readonly handler: Execute };
  return handler;
}

/** Loads it for a function of this entry. The other functions, as those of statements, need no package. */
export async function loadDriver(maker: string): Promise<Driver> {
  return (await installed(maker, "postgres@3.4", () => import("postgres"))).default;
}

/** Makes a driver of one connection, which dials once. */
export function driverOf(
  { driver, target, parameters, statementCache }: ConnectionConfig,
  passwordOf: () => string,
  socketOf: () => Promise<Wire>,
): Execute {
  let isDialled = false;
  const options = {
    host: "localhost",
    port: 5432,
    user: target.user,
    // A function: the driver replaces an empty password by one from the environment.
    pass: passwordOf,
    database: target.database,
    ssl: false,
    max: 1,
    prepare: statementCache > 0,
    fetch_types: false,
    idle_timeout: null,
    max_lifetime: null,
    connect_timeout: 0,
    backoff: 0,
    keep_alive: null,
    debug: false,
    connection: parameters,
    types: asText,
    socket() {
      if (isDialled) throw new Error("the connection is closed");
      isDialled = true;
      return socketOf();
    },
  };
  // The driver's types lack `socket`, `onnotify` and the simple protocol.
  return executeOf(driver(options as unknown as postgres.Options<{}>));
}

const unchanged = (value: unknown): unknown => value;
// The types that the driver would convert. Its conversion drops microseconds and reads the text 'true' as false.
const convertedTypes = [
  16, 17, 20, 21, 23, 25, 26, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 3802,
];
const asText = Object.fromEntries([
  ["raw", { to: 0, from: convertedTypes, serialize: unchanged, parse: undefined }],
  ...[16, 17, 25, 114, 1184, 3802].map((type) => [`raw${type}`, { to: type, from: [], serialize: unchanged }] as const),
]);
