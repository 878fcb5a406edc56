/** A server that speaks PostgreSQL's protocol, and sends what a test wants at any moment of it. */
import { createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** Where in the protocol the server is: it is about to send what the word names. */
export const moments = [
  "encryption",
  "the connection",
  "SCRAM, first",
  "SCRAM, second",
  "SCRAM, third",
  "sign-in",
  "signed in",
  "the key",
  "ready at the start",
  "columns of a script",
  "row of a script",
  "end of a script",
  "ready after a script",
  "parsed",
  "parameters",
  "columns",
  "bound",
  "row",
  "end",
  "ready",
  "bound again",
  "row again",
  "end again",
  "ready again",
  "idle",
] as const;
export type Moment = (typeof moments)[number];

/** What is sent before what an honest server would send, or in its place: it may send nothing more, or the same without an end. */
export interface Lie {
  readonly moment: Moment;
  readonly bytes: Buffer;
  readonly then: "goes on" | "is silent" | "closes" | "floods";
}

export function message(type: string | number, ...body: readonly (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(body.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(5);
  head[0] = typeof type === "string" ? type.charCodeAt(0) : type;
  head.writeUInt32BE(4 + bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const errorOf = (severity: string, code: string): Buffer =>
  message("E", `S${severity}\0V${severity}\0C${code}\0Mno\0\0`);
const columnsOf = (names: readonly string[]): Buffer =>
  message(
    "T",
    int16(names.length),
    ...names.flatMap((name) => [`${name}\0`, int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0)]),
  );
const rowOf = (values: readonly (string | null)[]): Buffer =>
  message(
    "D",
    int16(values.length),
    ...values.flatMap((value) => (value === null ? [int32(-1)] : [int32(Buffer.byteLength(value)), value])),
  );
const ready = message("Z", "I");

/** A well-formed message of each type, and of types that there are not. */
export const wellFormed: readonly (readonly [name: string, bytes: Buffer])[] = [
  ["AuthenticationOk", message("R", int32(0))],
  ["AuthenticationCleartextPassword", message("R", int32(3))],
  ["AuthenticationMD5Password", message("R", int32(5), "salt")],
  ["AuthenticationGSS", message("R", int32(7))],
  ["AuthenticationSASL", message("R", int32(10), "SCRAM-SHA-256\0\0")],
  ["AuthenticationSASLContinue", message("R", int32(11), "r=abc,s=c2FsdA==,i=1")],
  ["AuthenticationSASLFinal", message("R", int32(12), "v=abc")],
  ["BackendKeyData", message("K", int32(1), int32(2))],
  ["ParameterStatus", message("S", "TimeZone\0UTC\0")],
  ["ReadyForQuery", ready],
  ["NoticeResponse", message("N", "SNOTICE\0C00000\0Mhear, hear\0\0")],
  ["NotificationResponse", message("A", int32(1), "orders\0payload\0")],
  ["ErrorResponse", errorOf("ERROR", "22000")],
  ["a fatal ErrorResponse", errorOf("FATAL", "57P01")],
  ["an ErrorResponse without fields", message("E", "\0")],
  ["NegotiateProtocolVersion", message("v", int32(0), int32(0))],
  ["ParseComplete", message("1")],
  ["BindComplete", message("2")],
  ["CloseComplete", message("3")],
  ["NoData", message("n")],
  ["ParameterDescription", message("t", int16(0))],
  ["RowDescription", columnsOf(["other", "more"])],
  ["DataRow", rowOf(["7"])],
  ["DataRow of two columns", rowOf(["7", null])],
  ["DataRow of no columns", rowOf([])],
  ["CommandComplete", message("C", "SELECT 1\0")],
  ["EmptyQueryResponse", message("I")],
  ["PortalSuspended", message("s")],
  ["FunctionCallResponse", message("V", int32(-1))],
  ["CopyInResponse", message("G", Buffer.from([0]), int16(0))],
  ["CopyOutResponse", message("H", Buffer.from([0]), int16(0))],
  ["CopyBothResponse", message("W", Buffer.from([0]), int16(0))],
  ["CopyData", message("d", "data")],
  ["CopyDone", message("c")],
  ["a message of no type", message("!", "?")],
  ["zeros", Buffer.alloc(40)],
  ["HTTP", Buffer.from("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")],
];

/** The results that the statements of the framework expect; every other one has a row with `1`. */
const results: readonly (readonly [of: RegExp, column: string, rows: readonly (string | null)[]])[] = [
  [/pg_try_advisory_lock/, "locked", ["t"]],
  [/quote_ident\(current_schema/, "schema", ["public"]],
  [/select to_regclass\(\$1\)/, "table", [null]],
  [/to_regclass\('usher_relay'\) is not null/, "has", ["t"]],
  [/select number, name, hash/, "number", []],
];
const noRows = /^\s*(?:begin|commit|rollback|set|reset|listen|create|insert|delete|unlisten)\b/i;

export interface LyingOptions {
  /** How it has its clients sign in. */
  readonly signIn?: "trust" | "scram";
  /** The number of iterations that it asks of a client. */
  readonly rounds?: number;
}

const password = "geheim";

/** Starts an honest server. */
export class LyingServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Those whose session has listened to a channel. */
  readonly listening = new Set<Socket>();
  readonly #signIn: "trust" | "scram";
  /** Each is sent once, in any order of their moments. */
  readonly lies: Lie[] = [];
  /** How many connections were made that are not of a cancellation. */
  started = 0;
  /** The texts of the statements that it got. */
  readonly asked: string[] = [];
  /** Sent on each connection. */
  habit: Lie | undefined = undefined;
  /** Sent to a client that asks for a cancellation, before the connection closes; `undefined`: it stays open. */
  atCancel: Buffer | undefined = Buffer.alloc(0);
  cancelled = 0;
  readonly own: (readonly [of: RegExp, row: Buffer])[] = [];
  readonly rounds: number;

  private constructor({ signIn = "trust", rounds = 16 }: LyingOptions) {
    this.#signIn = signIn;
    this.rounds = rounds;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.setNoDelay(true).on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        this.listening.delete(socket);
      });
      const session = new Session(this, socket, this.#signIn);
      socket.on("data", (bytes: Buffer) => session.read(bytes));
    });
  }

  static async start(options: LyingOptions = {}): Promise<LyingServer> {
    const server = new LyingServer(options);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  url(parameters = ""): string {
    return `postgres://lied:${password}@127.0.0.1:${(this.#server.address() as AddressInfo).port}/to?${parameters}`;
  }

  /** Ends every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Answers statements of a kind with a row of the test's own. */
  rowsOf(of: RegExp, row: Buffer): void {
    this.own.push([of, row]);
  }

  /** Sends bytes to every client. */
  say(bytes: Buffer): void {
    for (const socket of this.#sockets) socket.write(bytes);
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}

function flood(socket: Socket, bytes: Buffer): void {
  const many = Buffer.concat(Array.from({ length: Math.ceil(60_000 / bytes.length) }, () => bytes));
  const more = (): void => {
    while (!socket.destroyed && socket.write(many));
  };
  socket.on("drain", more);
  more();
}

class Session {
  readonly #server: LyingServer;
  readonly #socket: Socket;
  readonly #signIn: "trust" | "scram";
  #bytes: Buffer = Buffer.alloc(0);
  #hasStarted = false;
  #isSilent = false;
  #scram: { readonly first: string; readonly server: string } | undefined = undefined;
  readonly #prepared = new Map<string, { sql: string; runs: number }>();
  #bound: { sql: string; runs: number } = { sql: "", runs: 0 };
  #isParsed = false;
  #isAsleep = false;

  constructor(server: LyingServer, socket: Socket, signIn: "trust" | "scram") {
    this.#server = server;
    this.#socket = socket;
    this.#signIn = signIn;
  }

  #say(moment: Moment, honest: Buffer): void {
    if (this.#isSilent) return;
    const at = this.#server.lies.findIndex((lie) => lie.moment === moment);
    const { habit, lies } = this.#server;
    const [lie = habit?.moment === moment ? habit : undefined] = at === -1 ? [] : lies.splice(at, 1);
    if (lie !== undefined) {
      this.#socket.write(lie.bytes);
      this.#isSilent = lie.then !== "goes on";
      if (lie.then === "closes") this.#socket.end();
      if (lie.then === "floods") flood(this.#socket, lie.bytes);
    }
    if (!this.#isSilent) this.#socket.write(honest);
  }

  read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const header = this.#hasStarted ? 5 : 4;
      if (this.#bytes.length < header) return;
      const end = (this.#hasStarted ? 1 : 0) + this.#bytes.readUInt32BE(header - 4);
      if (this.#bytes.length < end) return;
      const one = this.#bytes.subarray(0, end);
      this.#bytes = this.#bytes.subarray(end);
      if (this.#hasStarted) this.#take(String.fromCharCode(one[0] as number), one.subarray(5));
      else this.#start(one.readUInt32BE(4));
    }
  }

  #start(code: number): void {
    if (code === 80_877_103) return this.#say("encryption", Buffer.from("N"));
    if (code === 80_877_102) return this.#cancel();
    this.#server.started++;
    this.#hasStarted = true;
    this.#say("the connection", Buffer.alloc(0));
    if (this.#signIn === "scram") this.#say("SCRAM, first", message("R", int32(10), "SCRAM-SHA-256\0\0"));
    else this.#open();
  }

  #cancel(): void {
    const { atCancel } = this.#server;
    this.#server.cancelled++;
    if (atCancel !== undefined) this.#socket.end(atCancel);
  }

  #open(): void {
    this.#say("sign-in", message("R", int32(0)));
    this.#say("signed in", message("S", "server_version\x0018.0\0"));
    this.#say("the key", message("K", int32(77), int32(88)));
    this.#say("ready at the start", ready);
  }

  #take(type: string, body: Buffer): void {
    if (this.#isAsleep) return;
    switch (type) {
      case "p":
        return this.#proven(body);
      case "Q":
        return this.#script(body.toString("utf8", 0, body.length - 1));
      case "P": {
        const [name = "", sql = ""] = body.toString("utf8").split("\0");
        this.#server.asked.push(sql);
        this.#prepared.set(name, { sql, runs: 0 });
        this.#isParsed = true;
        return this.#say("parsed", message("1"));
      }
      case "D": {
        const [name = ""] = body.toString("utf8", 1).split("\0");
        const sql = this.#prepared.get(name)?.sql ?? "";
        const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
        this.#say("parameters", message("t", int16(count), ...Array.from({ length: count }, () => int32(25))));
        return this.#say("columns", noRows.test(sql) ? message("n") : columnsOf([resultOf(sql).column]));
      }
      case "B": {
        const [, name = ""] = body.toString("utf8").split("\0");
        this.#bound = this.#prepared.get(name) ?? { sql: "", runs: 0 };
        this.#bound.runs++;
        if (this.#bound.sql.startsWith("select pg_notify($1, message)")) this.#notify(valuesOf(body, name.length + 2));
        if (!this.#isParsed) this.#server.asked.push(this.#bound.sql);
        this.#isParsed = false;
        return this.#say(this.#again("bound"), message("2"));
      }
      case "E":
        return this.#execute();
      case "S":
        this.#say(this.#again("ready"), ready);
        return this.#say("idle", Buffer.alloc(0));
      case "X":
        this.#socket.end();
    }
  }

  #notify([channel = "", list = ""]: readonly string[]): void {
    for (const [, text = ""] of list.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      const bytes = message("A", int32(77), `${channel}\0${text.replace(/\\(.)/g, "$1")}\0`);
      // To a client that is still signing in, no server sends it.
      for (const socket of this.#server.listening) socket.write(bytes);
    }
  }

  #again(moment: "bound" | "row" | "end" | "ready"): Moment {
    return this.#bound.runs > 1 ? `${moment} again` : moment;
  }

  #script(sql: string): void {
    this.#server.asked.push(sql);
    if (sql.startsWith("set session authorization default; select")) return this.#renewal();
    if (noRows.test(sql)) this.#say("end of a script", message("C", tagOf(sql)));
    else if (sql.trim() === "") this.#say("end of a script", message("I"));
    else {
      const { column, rows } = resultOf(sql);
      this.#say("columns of a script", columnsOf([column]));
      for (const value of rows) this.#say("row of a script", rowOf([value]));
      this.#say("end of a script", message("C", `SELECT ${rows.length}\0`));
    }
    this.#say("ready after a script", ready);
    this.#say("idle", Buffer.alloc(0));
  }

  /** The statements that renew a session. */
  #renewal(): void {
    this.#say("end of a script", message("C", "SET\0"));
    this.#say("columns of a script", columnsOf(["unlocked"]));
    this.#say("row of a script", rowOf([""]));
    this.#say("end of a script", message("C", "SELECT 1\0"));
    for (const tag of ["CLOSE CURSOR ALL", "UNLISTEN", "RESET", "DISCARD TEMP"])
      this.#socket.write(message("C", `${tag}\0`));
    this.#say("ready after a script", ready);
    this.#say("idle", Buffer.alloc(0));
  }

  #execute(): void {
    const { sql } = this.#bound;
    if (/pg_sleep/.test(sql)) {
      // It sleeps until it is cancelled.
      const before = this.#server.cancelled;
      this.#isAsleep = true;
      const timer = setInterval(() => {
        if (this.#socket.destroyed) clearInterval(timer);
        if (this.#server.cancelled === before) return;
        clearInterval(timer);
        this.#isAsleep = false;
        this.#socket.write(Buffer.concat([errorOf("ERROR", "57014"), ready]));
      }, 5);
      return;
    }
    if (/^\s*listen\b/i.test(sql)) this.#server.listening.add(this.#socket);
    if (noRows.test(sql)) return this.#say(this.#again("end"), message("C", tagOf(sql)));
    const { rows } = resultOf(sql);
    for (const [of, row] of this.#server.own) if (of.test(sql)) this.#socket.write(row);
    for (const value of rows) this.#say(this.#again("row"), rowOf([value]));
    this.#say(this.#again("end"), message("C", `SELECT ${rows.length}\0`));
  }

  /** The server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677). */
  #proven(body: Buffer): void {
    if (this.#scram !== undefined) {
      this.#say("SCRAM, third", message("R", int32(12), `v=${this.#scram.server}`));
      return this.#open();
    }
    const text = body.toString("utf8");
    const nonce = /,r=(.*)$/.exec(text)?.[1] ?? "";
    const salt = randomBytes(16);
    const { rounds } = this.#server;
    const first = `r=${nonce}${randomBytes(12).toString("base64")},s=${salt.toString("base64")},i=${rounds}`;
    // No client answers one that is out of bounds.
    const known = Math.min(rounds, 1_000_000);
    const key = createHmac("sha256", pbkdf2Sync(password, salt, known, 32, "sha256"))
      .update("Server Key")
      .digest();
    const last = `c=biws,${first.slice(0, first.indexOf(",s="))}`;
    const server = createHmac("sha256", key).update(`n=*,r=${nonce},${first},${last}`).digest("base64");
    this.#scram = { first, server };
    this.#say("SCRAM, second", message("R", int32(11), first));
  }
}

/** The parameters of a Bind, none of them NULL, behind the names. */
function valuesOf(body: Buffer, start: number): readonly string[] {
  const values: string[] = [];
  let at = start + 4;
  for (let left = body.readUInt16BE(start + 2); left > 0; left--) {
    const length = body.readUInt32BE(at);
    values.push(body.toString("utf8", at + 4, at + 4 + length));
    at += 4 + length;
  }
  return values;
}

/** The result of a statement. */
function resultOf(sql: string): { readonly column: string; readonly rows: readonly (string | null)[] } {
  const [, column, rows] = results.find(([of]) => of.test(sql)) ?? [undefined, "one", ["1"]];
  return { column, rows };
}

function tagOf(sql: string): string {
  return `${(/\w+/.exec(sql)?.[0] ?? "").toUpperCase()}\0`;
}
