import { counted } from "../../src/counted.ts";
import { EventEmitter } from "node:events";
import process from "node:process";
import type { Socket } from "node:net";
import { ConnectionFailure } from "../../src/doors/database.ts";
import type { Column, ConnectionError, StatementResult, StatementValues } from "../../src/doors/database.ts";
import type { Backend } from "./dial.ts";
import type { ChannelBinding, SignInMethod } from "./connection-string.ts";
import { Scram } from "./scram.ts";
import { ProtocolState } from "./protocol-state.ts";
import type { MessageReader } from "./protocol-state.ts";
import { ProtocolViolation, checkBody, checkLength, otherColumns } from "./server-messages.ts";

/** The members of the driver's `PostgresError`. */
export interface ServerError {
  readonly severity?: string;
  readonly severity_local?: string;
  readonly code?: string;
  readonly message?: string;
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

/** Parses an ErrorResponse that {@link checkBody} has seen. `start` is its first field. */
function serverError(bytes: Buffer, start: number, end: number): ServerError {
  const error: { -readonly [K in keyof ServerError]: ServerError[K] } = {};
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
  // The protocol asks for a code and a message, and the driver gives none where the server sent none.
  const { code = "", message = "", constraint_name: constraint, column_name: column, table_name: table } = error;
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

const [dataRow, commandComplete, errorResponse, ready] = [0x44, 0x43, 0x45, 0x5a];
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

  /** Reads a message that {@link ProtocolState} allows (PostgreSQL §54.7). Returns whether it was the last one. */
  read(bytes: Buffer, at: number, end: number): boolean {
    const type = bytes[at];
    if (type === dataRow) this.#rows.push(rowOf(bytes, at + 5, end, this.#columns.length));
    else if (type === commandComplete) this.#tag = bytes.toString("latin1", at + 5, end - 1);
    else if (type === errorResponse) this.refused = serverError(bytes, at + 5, end);
    else if (type === ready) {
      this.#runner.ended(this, bytes[at + 5] === 0x49);
      return true;
    }
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

/** Throws where a row has not the columns of its statement, or does not end where its message ends. */
function rowOf(bytes: Buffer, start: number, end: number, columns: number): StatementValues {
  const row: (string | null)[] = [];
  let at = start + 2;
  if (bytes.readUInt16BE(start) !== columns) throw new ProtocolViolation(otherColumns);
  for (let left = columns; left > 0; left--) {
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (length === null32) row.push(null);
    else row.push(bytes.toString("utf8", at, (at += length)));
  }
  if (at !== end) throw new ProtocolViolation("the server sent DataRow that cannot be read");
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

/** Listens to a connection's wire. */
export interface WireEvents {
  /** The server ended the session by an error. Nothing further is read. */
  readonly ended: (reason: ConnectionError) => void;
  /** The server broke the protocol. Nothing further is read. */
  readonly broken: (why: string) => void;
  /** The statement that runs is a COPY, which has no result. */
  readonly copied: () => void;
  readonly notified?: ((channel: string, payload: string) => void) | undefined;
}

export interface WireOptions {
  readonly password: string;
  /** As {@link ProtocolState} has them. */
  readonly methods: ReadonlySet<SignInMethod> | undefined;
  readonly channelBinding: ChannelBinding;
  /** The most bytes of a result. */
  readonly maxResultBytes: number;
}

/** What a row and its values take in memory besides their bytes, at least. */
const rowBytes = 64;

/**
 * The socket that the driver gets. It emits whole messages, none that {@link ProtocolState} does not allow, and none of a
 * {@link PreparedRun}, which reads its own: for every row the driver makes eight buffers and an array with five members, and it writes
 * one turn of the event loop later. The driver does not learn that the connection closed: it would write to a socket that it has
 * forgotten, and throw where no caller catches it. Its statements are failed by their connection.
 */
export class Wire extends EventEmitter {
  readonly #socket: Socket;
  readonly #events: WireEvents;
  readonly #maxResultBytes: number;
  readonly #state: ProtocolState;
  readonly #scram: Scram;
  /** The first reads the messages. A driver's query is sent after all of them. */
  readonly #runs: PreparedRun[] = [];
  /** The start of an incomplete message, and the least length of the whole. */
  #begun: Buffer = Buffer.alloc(0);
  #begunBytes = 0;
  #neededBytes = 0;
  /** The size of the result that arrives. */
  #resultBytes = 0;
  #isClosed = false;
  /** The server's process, and the key that cancels its statement. */
  backend: Backend | undefined = undefined;

  constructor(socket: Socket, events: WireEvents, { password, methods, channelBinding, maxResultBytes }: WireOptions) {
    super();
    this.#state = new ProtocolState(methods);
    this.#scram = new Scram(password, channelBinding, socket);
    this.#socket = socket;
    this.#events = events;
    this.#maxResultBytes = maxResultBytes;
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.once("close", () => (this.#isClosed = true));
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  /** For the driver. It sends one statement at a time, so it needs no "drain". */
  write(bytes: Buffer): boolean {
    if (this.#isClosed) return false;
    this.#state.wrote(bytes);
    return this.#socket.write(bytes);
  }

  destroy(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  /** Sends Terminate. What the server sends from now on is not read. */
  terminate(): void {
    this.#isClosed = true;
    this.#socket.end(terminateMessage);
  }

  /** Sends a prepared statement. It reads the server's messages until its result is complete. */
  begin(run: PreparedRun, bytes: Uint8Array): void {
    this.#runs.push(run);
    this.#state.sent("run");
    this.#socket.write(bytes);
  }

  /** Writes all statements that begin before the next turn of the event loop by one `writev`. */
  gather(): void {
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
  }

  #receive(chunk: Buffer): void {
    if (this.#isClosed) return;
    let bytes = chunk;
    if (this.#begunBytes > 0) {
      this.#append(chunk);
      if (this.#begunBytes < this.#neededBytes) return;
      bytes = this.#begun.subarray(0, this.#begunBytes);
    }
    try {
      this.#keep(bytes, this.#read(bytes));
    } catch (thrown) {
      this.#break(thrown);
    }
  }

  #break(thrown: unknown): void {
    // Anything else is a text longer than a string may be.
    const why = thrown instanceof ProtocolViolation ? thrown.message : "the server sent a message that cannot be read";
    this.destroy();
    this.#events.broken(why);
  }

  /** Reads every complete message. Returns the index of the first incomplete one. */
  #read(bytes: Buffer): number {
    let at = 0;
    // The driver's messages that it did not get yet.
    let from = 0;
    try {
      for (let end = this.#endOf(bytes, 0); end <= bytes.length; end = this.#endOf(bytes, at)) {
        const reader = this.#take(bytes, at, end);
        if (reader === "driver") {
          at = end;
          continue;
        }
        this.#emit(bytes, from, at);
        from = at = end;
        if (this.#isClosed) break;
      }
    } finally {
      this.#emit(bytes, from, at);
    }
    return this.#isClosed ? bytes.length : at;
  }

  #emit(bytes: Buffer, from: number, to: number): void {
    if (to > from && !this.#isClosed) this.emit("data", bytes.subarray(from, to));
  }

  #take(bytes: Buffer, at: number, end: number): MessageReader {
    const type = bytes[at] as number;
    if (type === errorResponse && this.#hasEnded(bytes, at, end)) return "wire";
    const reader = this.#state.take(bytes, at, end);
    if (reader === "wire") this.#asynchronous(type, bytes, at, end);
    else if (reader === "scram") this.#signIn(bytes.toString("utf8", at + 9, end));
    else if (reader === "copy") this.#events.copied();
    else {
      this.#resultBytes = type === ready ? 0 : this.#resultBytes + (end - at) + rowBytes;
      if (type === backendKey) this.backend = { pid: bytes.readInt32BE(at + 5), secret: bytes.readInt32BE(at + 9) };
    }
    if (reader === "run" && (this.#runs[0] as PreparedRun).read(bytes, at, end)) this.#runs.shift();
    return reader;
  }

  #signIn(body: string): void {
    switch (this.#state.state) {
      case "asked for SCRAM":
        this.write(this.#scram.begin(body));
        break;
      case "challenged by SCRAM":
        this.#scram.continue(body).then(
          (answer) => this.write(answer),
          (thrown: unknown) => this.#break(thrown),
        );
        break;
      default:
        this.#scram.verify(body);
    }
  }

  /** Whether the server has ended the session by an error: also each error of the start does. */
  #hasEnded(bytes: Buffer, at: number, end: number): boolean {
    checkBody(bytes, at, end);
    const error = serverError(bytes, at + 5, end);
    if (!endsSession(error) && !this.#state.isStarting) return false;
    if (this.#state.isRun) (this.#runs[0] as PreparedRun).refused = error;
    this.destroy();
    this.#events.ended(errorOfServer(error));
    return true;
  }

  #asynchronous(type: number, bytes: Buffer, at: number, end: number): void {
    const { notified } = this.#events;
    if (type !== notification || notified === undefined) return;
    const payload = bytes.indexOf(0, at + 9) + 1;
    notified(bytes.toString("utf8", at + 9, payload - 1), bytes.toString("utf8", payload, end - 1));
  }

  /** The end of a message: one byte of type, then a length that includes itself. If that is incomplete, the end of the header. */
  #endOf(bytes: Buffer, at: number): number {
    if (bytes.length - at < 5) return at + 5;
    const length = bytes.readUInt32BE(at + 1);
    checkLength(bytes[at] as number, length);
    if (this.#resultBytes + length > this.#maxResultBytes)
      throw new ProtocolViolation(`its result has more than ${counted(this.#maxResultBytes, "byte")}`);
    return at + 1 + length;
  }

  /** Keeps the incomplete message from that index. */
  #keep(bytes: Buffer, from: number): void {
    const isHeld = bytes.length - from > 0;
    this.#begunBytes = 0;
    this.#begun = empty;
    if (!isHeld) return;
    this.#neededBytes = this.#endOf(bytes, from) - from;
    this.#append(bytes.subarray(from));
  }

  /** Its room grows with what was received, not to what is announced: an announcement costs a server nothing. */
  #append(chunk: Buffer): void {
    const length = this.#begunBytes + chunk.length;
    if (length > this.#begun.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, Math.min(this.#neededBytes, 2 * length)));
      this.#begun.copy(grown, 0, 0, this.#begunBytes);
      this.#begun = grown;
    }
    chunk.copy(this.#begun, this.#begunBytes);
    this.#begunBytes = length;
  }
}

const empty = Buffer.alloc(0);
const terminateMessage = Buffer.from([0x58, 0, 0, 0, 4]);
const [backendKey, notification] = [0x4b, 0x41];
