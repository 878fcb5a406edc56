import { EventEmitter } from "node:events";
import process from "node:process";
import type { Socket } from "node:net";
import { ConnectionFailure } from "../../src/database/connection.ts";
import type { Column, ConnectionError, StatementResult, StatementValues } from "../../src/database/connection.ts";

/** The members of the driver's `PostgresError`. */
export interface ServerError {
  readonly severity?: string;
  readonly severity_local?: string;
  readonly code: string;
  readonly message: string;
  readonly constraint_name?: string;
  readonly column_name?: string;
  readonly table_name?: string;
  readonly position?: string;
  /** The server's function that raised the error. */
  readonly routine?: string;
}

/** The fields of ErrorResponse that are read (PostgreSQL §54.8), with the driver's names. */
const fields: ReadonlyMap<number, keyof ServerError> = new Map([
  [0x53, "severity_local"],
  [0x56, "severity"],
  [0x43, "code"],
  [0x4d, "message"],
  [0x6e, "constraint_name"],
  [0x63, "column_name"],
  [0x74, "table_name"],
  [0x50, "position"],
  [0x52, "routine"],
]);

/** Parses an ErrorResponse. `start` is its first field. */
function serverError(bytes: Buffer, start: number, end: number): ServerError {
  const error: { -readonly [K in keyof ServerError]: ServerError[K] } = { code: "", message: "" };
  for (let at = start; at < end && bytes[at] !== 0;) {
    const zero = bytes.indexOf(0, at + 1);
    const field = fields.get(bytes[at] as number);
    if (field !== undefined) error[field] = bytes.toString("utf8", at + 1, zero);
    at = zero + 1;
  }
  return error;
}

/** Maps an error of the driver. The error itself is dropped: it holds the parameters. */
export function connectionErrorOf(error: unknown, isSent: boolean, why: string): ConnectionError {
  return isServerError(error) ? errorOfServer(error) : { kind: "gone", isSent, why: messageOf(error) ?? why };
}

/** Whether the server closes the connection after an error. */
export function endsSession(error: ServerError): boolean {
  const severity = severityOf(error);
  return severity === "FATAL" || severity === "PANIC";
}

// A pooler may leave `severity` out.
function severityOf({ severity, severity_local = "ERROR" }: ServerError): string {
  return severity ?? severity_local;
}

function errorOfServer(error: ServerError): ConnectionError {
  const severity = severityOf(error);
  const { code, message, constraint_name: constraint, column_name: column, table_name: table } = error;
  if (endsSession(error)) return { kind: "gone", isSent: true, why: `${severity} ${code}: ${message}`, code };
  const where = error.position === undefined ? {} : { position: Number(error.position) };
  const names = [constraint, column, table].filter((name) => name !== undefined);
  return { kind: "refused", severity, code, message, constraint, names, ...where };
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && error.name === "PostgresError";
}

// The socket's reason for a closed connection says more than the driver's.
function messageOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return "code" in error && error.code === "CONNECTION_CLOSED" ? undefined : error.message;
}

/** A statement that the server has prepared. */
export interface Prepared {
  readonly name: string;
  readonly columns: readonly Column[];
}

interface Runner {
  /** @param isIdle Whether no transaction is open. */
  ended(run: PreparedRun, isIdle: boolean): void;
}

const [bindComplete, dataRow, commandComplete, emptyQuery, errorResponse, ready] = [0x32, 0x44, 0x43, 0x49, 0x45, 0x5a];
const maxBytes = 0x3fff_fffe;
const null32 = 0xffffffff;
const executeAndSync = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);

/** One run of a prepared statement: it reads the server's messages. */
export class PreparedRun {
  readonly sql: string;
  readonly values: StatementValues;
  readonly resolve: (answer: StatementResult) => void;
  readonly reject: (failure: ConnectionFailure) => void;
  refused: ServerError | undefined = undefined;
  /** The socket's `bytesWritten` before it was sent. */
  sentBefore = 0;
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
    reject: (failure: ConnectionFailure) => void,
  ) {
    this.sql = sql;
    this.values = values;
    this.#columns = columns;
    this.#runner = runner;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** The result is complete. */
  settle(): void {
    if (this.refused !== undefined) return this.reject(new ConnectionFailure(errorOfServer(this.refused)));
    const [command, count] = wordAndCount(this.#tag);
    const answer = this.#rows as unknown as { -readonly [K in keyof StatementResult]: StatementResult[K] };
    answer.columns = this.#columns;
    answer.command = command;
    answer.count = count;
    this.resolve(answer);
  }

  /** The connection closed. */
  fail(failure: ConnectionFailure): void {
    if (this.refused === undefined) this.reject(failure);
    else this.settle();
  }

  /** Reads a message (PostgreSQL §54.7). Returns whether it was the last one. */
  read(bytes: Buffer, at: number, end: number): boolean {
    const type = bytes[at];
    if (type === dataRow) this.#rows.push(rowOf(bytes, at + 5));
    else if (type === commandComplete) this.#tag = bytes.toString("latin1", at + 5, end - 1);
    else if (type === errorResponse) this.refused = serverError(bytes, at + 5, end);
    else if (type === ready) {
      this.#runner.ended(this, bytes[at + 5] === 0x49);
      return true;
    } else if (type !== bindComplete && type !== emptyQuery) throw new Error("the server sent an unexpected message");
    return false;
  }
}

/** `INSERT 0 5`, `SELECT 5`, `CREATE TABLE`: the count is last; the OID of INSERT is always 0. */
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
 * Bind, Execute and Sync: values and columns as text, all rows. Undefined if the message would be too long: the server
 * allows less than a gigabyte (MaxAllocSize).
 */
export function messages(name: string, values: StatementValues): Buffer | undefined {
  // Length, unnamed portal, statement name, no parameter formats, number of values, no result formats.
  let length = 4 + 1 + name.length + 1 + 2 + 2 + 2;
  for (const value of values) length += 4 + (value === null ? 0 : Buffer.byteLength(value));
  if (length > maxBytes) return undefined;
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

// NoticeResponse, ParameterStatus, NotificationResponse may come at any time (PostgreSQL §54.2.7).
const isAsynchronous = (type: number | undefined): boolean => type === 0x4e || type === 0x53 || type === 0x41;

/**
 * The socket that the driver gets. It emits whole messages, and none of a {@link PreparedRun}, which reads its own: for
 * every row the driver makes eight buffers and an array with five members, and it writes one turn of the event loop later.
 */
export class Wire extends EventEmitter {
  readonly #socket: Socket;
  /** The first reads the messages. A driver's query is sent after all of them. */
  readonly #runs: PreparedRun[] = [];
  /** The chunks of an incomplete message, and its least length. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #neededBytes = 0;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("close", () => this.emit("close", false));
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  /** For the driver. It sends one statement at a time, so it needs no "drain". */
  write(bytes: Uint8Array): boolean {
    return this.#socket.write(bytes);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Sends a prepared statement. It reads the server's messages until its result is complete. */
  begin(run: PreparedRun, bytes: Uint8Array): void {
    this.#runs.push(run);
    this.#socket.write(bytes);
  }

  /** Writes all statements that begin before the next turn of the event loop by one `writev`. */
  gather(): void {
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
  }

  #receive(chunk: Buffer): void {
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
      // An unreadable message, for example a text longer than a string may be. The rest of the stream is unusable.
      this.#socket.destroy();
    }
  }

  /** Reads every complete message. Returns the index of the first incomplete one. */
  #read(bytes: Buffer): number {
    let at = 0;
    let run = this.#runs[0];
    for (let end = endOf(bytes, 0); run !== undefined && end <= bytes.length; end = endOf(bytes, at)) {
      if (isAsynchronous(bytes[at])) this.emit("data", bytes.subarray(at, end));
      else if (run.read(bytes, at, end)) {
        this.#runs.shift();
        run = this.#runs[0];
      }
      at = end;
    }
    if (run !== undefined) return at;
    const from = at;
    for (let end = endOf(bytes, at); end <= bytes.length; end = endOf(bytes, at)) {
      if (bytes[at] === authentication) checkAuthentication(bytes, at, end);
      at = end;
    }
    if (at > from) this.emit("data", bytes.subarray(from, at));
    return at;
  }

  /** Keeps the incomplete message from that index. */
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

const authentication = 0x52;
const saslContinue = 11;

/** Throws for a message at which a promise of the driver would reject. It is not caught there, and would end the process. */
function checkAuthentication(bytes: Buffer, at: number, end: number): void {
  // The driver reads the salt and the number of iterations (RFC 5802 §5.1).
  const isReadable =
    bytes.readUInt32BE(at + 5) !== saslContinue ||
    /^(?=.*,s=)(?=.*,i=0*[1-9]\d{0,8}(?:,|$))/.test(bytes.toString("utf8", at + 9, end));
  if (end < at + 9 || !isReadable) throw new Error("the server sent an unreadable message");
}

/** The end of a message: one byte of type, then a length that includes itself. If that is incomplete, the end of the header. */
function endOf(bytes: Buffer, at: number): number {
  return bytes.length - at < 5 ? at + 5 : at + 1 + bytes.readUInt32BE(at + 1);
}
