import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type postgres from "postgres";
import { LinkFailure } from "../../src/database/connection.ts";
import type { StatementResult, Column, StatementValues } from "../../src/database/connection.ts";
import { serverError, connectionErrorText } from "./server-error.ts";
import type { ServerError } from "./server-error.ts";

/** How a statement is sent. Where it is not said, one of no parameters goes by the simple protocol, which prepares nothing. */
export interface QueryProtocol {
  readonly prepare: boolean;
  readonly simple: boolean;
}
export const prepared: QueryProtocol = { prepare: true, simple: false };
export const unprepared: QueryProtocol = { prepare: false, simple: false };
export const simple: QueryProtocol = { prepare: false, simple: true };

/** What is answered where a statement is described alone. */
export interface DescribedStatement {
  readonly types: readonly number[];
  readonly columns: readonly Column[];
}

/** Sends a query, or has it wait for the connection. */
export type Execute = (query: Query) => void;

/** What a query tells when it is settled. */
interface QueryRunner {
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
  readonly args: StatementValues;
  readonly options: QueryProtocol;
  readonly onlyDescribe: boolean;
  // Rows as lists of their columns.
  readonly isRaw = "values";
  readonly tagged = false;
  // Where it was asked from, in debugging.
  readonly origin = "";
  readonly #runner: QueryRunner;
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
    values: StatementValues,
    protocol: QueryProtocol,
    onlyDescribe: boolean,
    runner: QueryRunner,
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

/** A statement that the server knows by its name, and what it answers with. */
export interface Prepared {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** Where a run has its end. */
interface Runner {
  /** @param isIdle Whether no transaction is open. */
  ended(run: PreparedRun, isIdle: boolean): void;
}

const [bindComplete, dataRow, commandComplete, emptyQuery, errorResponse, ready] = [0x32, 0x44, 0x43, 0x49, 0x45, 0x5a];
const mostBytes = 0x3fff_fffe;
const null32 = 0xffffffff;
const executeAndSync = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);

/** One run of a statement that is prepared: what is sent for it, and its answer as it comes. */
export class PreparedRun {
  readonly sql: string;
  readonly values: StatementValues;
  readonly resolve: (answer: StatementResult) => void;
  readonly reject: (failure: LinkFailure) => void;
  /** What the server refused it for. */
  refused: ServerError | undefined = undefined;
  readonly #columns: readonly Column[];
  readonly #runner: Runner;
  readonly #rows: StatementValues[] = [];
  #tag = "";

  constructor(
    sql: string,
    values: StatementValues,
    columns: readonly Column[],
    runner: Runner,
    resolve: (answer: StatementResult) => void,
    reject: (failure: LinkFailure) => void,
  ) {
    this.sql = sql;
    this.values = values;
    this.#columns = columns;
    this.#runner = runner;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** All was said of it. */
  settle(): void {
    if (this.refused !== undefined) return this.reject(new LinkFailure(connectionErrorText(this.refused)));
    const [command, count] = wordAndCount(this.#tag);
    const answer = this.#rows as unknown as { -readonly [K in keyof StatementResult]: StatementResult[K] };
    answer.columns = this.#columns;
    answer.command = command;
    answer.count = count;
    this.resolve(answer);
  }

  /** No more will be said of it. */
  fail(failure: LinkFailure): void {
    if (this.refused === undefined) this.reject(failure);
    else this.settle();
  }

  /** Reads a message (PostgreSQL §54.7); answers whether it was the last. Throws where it is none that is expected. */
  read(bytes: Buffer, at: number, end: number): boolean {
    const type = bytes[at];
    if (type === dataRow) this.#rows.push(rowOf(bytes, at + 5));
    else if (type === commandComplete) this.#tag = bytes.toString("latin1", at + 5, end - 1);
    else if (type === errorResponse) this.refused = serverError(bytes, at + 5, end);
    else if (type === ready) {
      this.#runner.ended(this, bytes[at + 5] === 0x49);
      return true;
    } else if (type !== bindComplete && type !== emptyQuery) throw new Error("the server said what nobody asked for");
    return false;
  }
}

/** `INSERT 0 5`, `SELECT 5`, `CREATE TABLE`: the count is last, and what is between is always 0. */
function wordAndCount(tag: string): readonly [string, number | null] {
  const space = tag.lastIndexOf(" ");
  const count = space === -1 ? Number.NaN : Number(tag.slice(space + 1));
  if (Number.isNaN(count)) return [tag, null];
  const word = tag.slice(0, space);
  return [word === "INSERT 0" ? "INSERT" : word, count];
}

function rowOf(bytes: Buffer, start: number): StatementValues {
  const row: (string | null)[] = [];
  let at = start + 2;
  for (let left = bytes.readUInt16BE(start); left > 0; left--) {
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (length === null32) row.push(null);
    else row.push(bytes.toString("utf8", at, (at += length)));
  }
  return row;
}

/**
 * Bind, Execute and Sync: every value as text, every column as text, every row. Undefined where there is too much of it:
 * a message has less than a gigabyte (the server's MaxAllocSize).
 */
export function messages(name: string, values: StatementValues): Buffer | undefined {
  // Its own length, an unnamed portal, the name, no formats, how many values, no formats.
  let length = 4 + 1 + name.length + 1 + 2 + 2 + 2;
  for (const value of values) length += 4 + (value === null ? 0 : Buffer.byteLength(value));
  if (length > mostBytes) return undefined;
  const bytes = Buffer.allocUnsafe(1 + length + executeAndSync.length);
  bytes[0] = 0x42;
  bytes.writeUInt32BE(length, 1);
  bytes[5] = 0;
  let at = 6 + bytes.write(name, 6, "latin1");
  bytes[at] = bytes[at + 1] = bytes[at + 2] = 0;
  at = bytes.writeUInt16BE(values.length, at + 3);
  for (const value of values) {
    if (value === null) {
      at = bytes.writeUInt32BE(null32, at);
      continue;
    }
    const written = bytes.write(value, at + 4);
    bytes.writeUInt32BE(written, at);
    at += 4 + written;
  }
  at = bytes.writeUInt16BE(0, at);
  bytes.set(executeAndSync, at);
  return bytes;
}

// NoticeResponse, ParameterStatus, NotificationResponse: they come whenever the server likes (PostgreSQL §54.2.7).
const isUnasked = (type: number | undefined): boolean => type === 0x4e || type === 0x53 || type === 0x41;

/**
 * What the driver takes for its socket. It hears whole messages, and those alone that are its own: while a statement runs
 * that was prepared before, what the server says of it goes past the driver, which makes eight buffers and a list with
 * five members of its own of every row, and writes when the event loop has turned.
 */
export class Wire extends EventEmitter {
  readonly #socket: Socket;
  #run: PreparedRun | undefined = undefined;
  /** A message of which more is to come, and how long it is at least. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #neededBytes = 0;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#hear(bytes));
    socket.on("close", () => this.emit("close", false));
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  /** For the driver, whose connection is not full before its one statement is answered. */
  write(bytes: Uint8Array): boolean {
    return this.#socket.write(bytes);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Sends a statement of one's own; what is said from now on is read by it, until it has its answer. */
  begin(run: PreparedRun, bytes: Uint8Array): void {
    this.#run = run;
    this.#socket.write(bytes);
  }

  #hear(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#begunBytes > 0) {
      this.#begun.push(chunk);
      this.#begunBytes += chunk.length;
      if (this.#begunBytes < this.#neededBytes) return;
      bytes = Buffer.concat(this.#begun, this.#begunBytes);
    }
    try {
      this.#keep(bytes, this.#read(bytes));
    } catch {
      // It cannot be read, as a text that is longer than one may be: of what comes after it nothing is known.
      this.#socket.destroy();
    }
  }

  /** Reads every message that is whole; answers where the first begins that is not. */
  #read(bytes: Buffer): number {
    let at = 0;
    for (let end = endOf(bytes, 0); this.#run !== undefined && end <= bytes.length; end = endOf(bytes, at)) {
      if (isUnasked(bytes[at])) this.emit("data", bytes.subarray(at, end));
      else if (this.#run.read(bytes, at, end)) this.#run = undefined;
      at = end;
    }
    if (this.#run !== undefined) return at;
    const from = at;
    for (let end = endOf(bytes, at); end <= bytes.length; end = endOf(bytes, at)) at = end;
    if (at > from) this.emit("data", bytes.subarray(from, at));
    return at;
  }

  /** Holds on to what was begun from there. */
  #keep(bytes: Buffer, from: number): void {
    this.#begunBytes = bytes.length - from;
    if (this.#begunBytes === 0) {
      if (this.#begun.length > 0) this.#begun = [];
      return;
    }
    this.#begun = [bytes.subarray(from)];
    this.#neededBytes = endOf(bytes, from) - from;
  }
}

/** Where a message ends: its type, and its length without that. Of one whose length is not all there, where that ends. */
function endOf(bytes: Buffer, at: number): number {
  return bytes.length - at < 5 ? at + 5 : at + 1 + bytes.readUInt32BE(at + 1);
}
