import type postgres from "postgres";
import type { Column, LinkFailure, Values } from "../../src/database/link.ts";

/** How a statement is sent. Where it is not said, one of no parameters goes by the simple protocol, which prepares nothing. */
export interface Protocol {
  readonly prepare: boolean;
  readonly simple: boolean;
}
export const prepared: Protocol = { prepare: true, simple: false };
export const unprepared: Protocol = { prepare: false, simple: false };
export const simple: Protocol = { prepare: false, simple: true };

/** What is answered where a statement is described alone. */
export interface Described {
  readonly types: readonly number[];
  readonly columns: readonly Column[];
}

/** Sends a query, or has it wait for the connection. */
export type Execute = (query: Query) => void;

/** What a query tells when it is settled. */
interface Runner {
  answered(query: Query): void;
  failed(error: unknown): LinkFailure;
  /** The server copies, and a statement has an answer. */
  copies(): LinkFailure;
}

/**
 * A query as the driver's connection reads it, in place of the driver's own: that one is a promise of a class of its own
 * with two functions that V8 makes old at once (Query's `resolve` and `reject`, src/query.js), so that every collection of
 * what is young keeps the query, its answer and all that hangs from them. It doubled what a statement takes.
 */
export class Query {
  readonly strings: readonly [string];
  readonly args: Values;
  readonly options: Protocol;
  readonly onlyDescribe: boolean;
  // Rows as lists of their columns.
  readonly isRaw = "values";
  readonly tagged = false;
  // Where it was asked from, in debugging.
  readonly origin = "";
  readonly #runner: Runner;
  readonly #settle: (answer: unknown) => void;
  readonly #fail: (failure: LinkFailure) => void;
  #isSettled = false;

  // What the connection notes down.
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
  retried: unknown = undefined;

  constructor(
    sql: string,
    values: Values,
    protocol: Protocol,
    onlyDescribe: boolean,
    runner: Runner,
    settle: (answer: unknown) => void,
    fail: (failure: LinkFailure) => void,
  ) {
    this.strings = [sql];
    this.args = values;
    this.options = protocol;
    this.onlyDescribe = onlyDescribe;
    this.#runner = runner;
    this.#settle = settle;
    this.#fail = fail;
  }

  /** The connection has its answer. */
  resolve(answer: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.active = false;
    if (isStream(answer)) return this.#refuseCopy(answer);
    this.#runner.answered(this);
    this.#settle(answer);
  }

  #refuseCopy(stream: Stream): void {
    // It fails as its connection ends, and one that nobody listens to ends the process.
    stream.on("error", () => {});
    this.#fail(this.#runner.copies());
  }

  /** The connection has no answer for it. */
  reject(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.active = false;
    this.#fail(this.#runner.failed(error));
  }

  /** There will be no answer. */
  fail(failure: LinkFailure): void {
    this.#isSettled = true;
    this.#fail(failure);
  }
}

interface Stream {
  on(event: "error", heard: () => void): unknown;
}

// Of whichever runtime; every other answer is a list, or a statement that is described.
function isStream(answer: unknown): answer is Stream {
  return "on" in (answer as object);
}

/** What sends a driver's queries, which each of them holds. */
export function executeOf(driver: postgres.Sql): Execute {
  const { handler } = driver.unsafe("") as unknown as { readonly handler: Execute };
  return handler;
}
