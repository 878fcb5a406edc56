import { LinkFailure } from "../../src/database/link.ts";
import type { Answer, Column, Values } from "../../src/database/link.ts";
import { serverError, troubleSaid } from "./trouble.ts";
import type { ServerError } from "./trouble.ts";

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
  readonly values: Values;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (failure: LinkFailure) => void;
  /** What the server refused it for. */
  refused: ServerError | undefined = undefined;
  readonly #columns: readonly Column[];
  readonly #runner: Runner;
  readonly #rows: Values[] = [];
  #tag = "";

  constructor(
    sql: string,
    values: Values,
    columns: readonly Column[],
    runner: Runner,
    resolve: (answer: Answer) => void,
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
    if (this.refused !== undefined) return this.reject(new LinkFailure(troubleSaid(this.refused)));
    const [command, count] = wordAndCount(this.#tag);
    const answer = this.#rows as unknown as { -readonly [K in keyof Answer]: Answer[K] };
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

function rowOf(bytes: Buffer, start: number): Values {
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
export function messages(name: string, values: Values): Buffer | undefined {
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
