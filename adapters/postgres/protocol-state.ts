/** Which messages the server may send, by what it was asked for (PostgreSQL §54.2). */
import {
  ProtocolViolation,
  checkBody,
  messageNames,
  messageNameOf,
  otherColumns,
  messageTypeOf,
} from "./server-messages.ts";
import type { MessageName } from "./server-messages.ts";
import type { SignInMethod } from "./connection-string.ts";

/** What an AuthenticationRequest asks for. */
const authentications = {
  AuthenticationOk: 0,
  AuthenticationCleartextPassword: 3,
  AuthenticationMD5Password: 5,
  AuthenticationSASL: 10,
  AuthenticationSASLContinue: 11,
  AuthenticationSASLFinal: 12,
} as const;

type Allowed = MessageName | keyof typeof authentications;

/** The state of a connection: of the oldest request that the server has not answered. */
type StateName =
  | "before the start"
  | "started"
  | "asked for a password"
  | "sent a password"
  | "asked for SCRAM"
  | "begun SCRAM"
  | "challenged by SCRAM"
  | "answered SCRAM"
  | "verified by SCRAM"
  | "signed in"
  | "has its key"
  | "idle"
  | "script"
  | "rows of a script"
  | "end of a script"
  | "parse"
  | "describe"
  | "columns"
  | "bind"
  | "execute"
  | "sync"
  | "undone"
  | "run"
  | "rows of a run"
  | "end of a run"
  | "failed"
  | "failed run";
type Move = StateName | "over";

/**
 * By the state of a connection, the messages that the server may send and the state that each leads to. `over`: the request is
 * answered, so the next one's state follows, or `idle`. `failed`, `undone`: the server skips what it was sent until Sync.
 */
const moves: { readonly [S in StateName]: { readonly [M in Allowed]?: Move } } = {
  "before the start": {},
  started: {
    AuthenticationOk: "signed in",
    AuthenticationCleartextPassword: "asked for a password",
    AuthenticationMD5Password: "asked for a password",
    AuthenticationSASL: "asked for SCRAM",
  },
  "asked for a password": {},
  "sent a password": { AuthenticationOk: "signed in" },
  "asked for SCRAM": {},
  "begun SCRAM": { AuthenticationSASLContinue: "challenged by SCRAM" },
  "challenged by SCRAM": {},
  "answered SCRAM": { AuthenticationSASLFinal: "verified by SCRAM" },
  "verified by SCRAM": { AuthenticationOk: "signed in" },
  "signed in": { BackendKeyData: "has its key", ReadyForQuery: "over" },
  "has its key": { ReadyForQuery: "over" },
  idle: {},
  // The simple protocol: each statement of the text has its rows and its end.
  script: {
    RowDescription: "rows of a script",
    CommandComplete: "end of a script",
    EmptyQueryResponse: "end of a script",
    ErrorResponse: "failed",
  },
  "rows of a script": {
    DataRow: "rows of a script",
    // A rule may run several queries for one statement.
    RowDescription: "rows of a script",
    CommandComplete: "end of a script",
    ErrorResponse: "failed",
  },
  "end of a script": {
    RowDescription: "rows of a script",
    CommandComplete: "end of a script",
    ErrorResponse: "failed",
    ReadyForQuery: "over",
  },
  // The driver's messages of the extended protocol.
  parse: { ParseComplete: "over", ErrorResponse: "undone" },
  describe: { ParameterDescription: "columns", ErrorResponse: "undone" },
  columns: { RowDescription: "over", NoData: "over", ErrorResponse: "undone" },
  bind: { BindComplete: "over", ErrorResponse: "undone" },
  execute: { DataRow: "execute", CommandComplete: "over", EmptyQueryResponse: "over", ErrorResponse: "undone" },
  // A commit of its own, at which a deferred constraint may fail.
  sync: { ReadyForQuery: "over", ErrorResponse: "failed" },
  undone: {},
  // A prepared statement, whose messages the framework writes.
  run: { BindComplete: "rows of a run", ErrorResponse: "failed run" },
  "rows of a run": {
    DataRow: "rows of a run",
    CommandComplete: "end of a run",
    EmptyQueryResponse: "end of a run",
    ErrorResponse: "failed run",
  },
  "end of a run": { ReadyForQuery: "over", ErrorResponse: "failed run" },
  failed: { ReadyForQuery: "over" },
  "failed run": { ReadyForQuery: "over" },
};

const states = /* @__PURE__ */ Object.keys(moves) as readonly StateName[];
/** What the client sends, as a state: the answer to it is what comes. */
export type FrontendRequest = "script" | "parse" | "describe" | "bind" | "execute" | "sync" | "run";

/** The messages of a copy come where a statement runs: `COPY` and, of a replication, `START_REPLICATION`. */
const copies: ReadonlySet<StateName> = /* @__PURE__ */ new Set([
  "script",
  "end of a script",
  "execute",
  "rows of a run",
]);
const copyResponses: ReadonlySet<MessageName> = /* @__PURE__ */ new Set([
  "CopyInResponse",
  "CopyOutResponse",
  "CopyBothResponse",
]);
const ofRun: ReadonlySet<StateName> = /* @__PURE__ */ new Set(["run", "rows of a run", "end of a run", "failed run"]);

/** The same table by numbers: looking a name up costs more than the rest of a message. */
const [notAllowed, over, copied] = [-1, -2, -3];
const index = /* @__PURE__ */ Object.fromEntries(states.map((state, at) => [state, at])) as {
  readonly [S in StateName]: number;
};
const isOfRun = /* @__PURE__ */ states.map((state) => ofRun.has(state));
const table = /* @__PURE__ */ numbered();

function numbered(): Int8Array {
  const table = new Int8Array(states.length << 8).fill(notAllowed);
  for (const state of states) {
    const allowed: { readonly [message: string]: Move } = moves[state];
    for (const name of messageNames) {
      const to = allowed[name];
      const at = (index[state] << 8) | messageTypeOf(name);
      if (to !== undefined) table[at] = to === "over" ? over : index[to];
      else if (copyResponses.has(name) && copies.has(state)) table[at] = copied;
    }
  }
  return table;
}

const authentication = /* @__PURE__ */ messageTypeOf("AuthenticationRequest");
const readyForQuery = /* @__PURE__ */ messageTypeOf("ReadyForQuery");
const rowDescription = /* @__PURE__ */ messageTypeOf("RowDescription");
const dataRow = /* @__PURE__ */ messageTypeOf("DataRow");
const noData = /* @__PURE__ */ messageTypeOf("NoData");
const notification = /* @__PURE__ */ messageTypeOf("NotificationResponse");
const asynchronous: ReadonlySet<number> = /* @__PURE__ */ new Set(
  (["NoticeResponse", "ParameterStatus", "NotificationResponse"] as const).map(messageTypeOf),
);

/** Who reads a message: the driver, the prepared statement that runs, the wire itself, SCRAM; or it is the answer of a COPY. */
export type MessageReader = "driver" | "run" | "wire" | "scram" | "copy";
/** After a message of SCRAM. */
const scram: ReadonlySet<StateName> = /* @__PURE__ */ new Set([
  "asked for SCRAM",
  "challenged by SCRAM",
  "verified by SCRAM",
]);

/** The methods of `require_auth`, by the first message that asks for them. */
const methods: ReadonlyMap<number, SignInMethod> = /* @__PURE__ */ new Map([
  [authentications.AuthenticationOk, "none"],
  [authentications.AuthenticationCleartextPassword, "password"],
  [authentications.AuthenticationMD5Password, "md5"],
  [authentications.AuthenticationSASL, "scram-sha-256"],
]);

const unknownCount = -1;

/** The state of one connection. */
export class ProtocolState {
  #at = 0;
  /** What the server was sent and has not begun to answer. */
  readonly #requests: number[] = [];
  /** How many columns the driver's statement has, where it was described. */
  #columns = unknownCount;
  readonly #methods: ReadonlySet<SignInMethod> | undefined;

  /** @param methods How it may ask the client to sign in; undefined for any way. */
  constructor(methods: ReadonlySet<SignInMethod> | undefined) {
    this.#methods = methods;
  }

  get state(): StateName {
    return states[this.#at] as StateName;
  }

  /** Whether the server is not yet ready for a first statement. The states before `idle` are of the start. */
  get isStarting(): boolean {
    return this.#at < index.idle;
  }

  /** Whether a prepared statement gets the next message. */
  get isRun(): boolean {
    return isOfRun[this.#at] as boolean;
  }

  /** Notes a request. */
  sent(request: FrontendRequest): void {
    if (this.#at === index.idle) this.#at = index[request];
    else if (this.#at !== index.undone) this.#requests.push(index[request]);
    else if (request === "sync") this.#at = index.failed;
  }

  /** Notes messages of the client: StartupMessage first, which has no type, then any number of whole ones. */
  wrote(bytes: Buffer): void {
    if (this.state === "before the start") {
      this.#at = index.started;
      return;
    }
    for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
      const type = String.fromCharCode(bytes[at] as number);
      const request = requests.get(type);
      if (request !== undefined) this.sent(request);
      else if (type === "p") this.#at = index[answered.get(this.state) ?? this.state];
    }
  }

  /**
   * Takes a message of the server, with its type at `at`.
   *
   * @throws ProtocolViolation where the server may not send it now, or where it cannot be read.
   */
  take(bytes: Buffer, at: number, end: number): MessageReader {
    const type = bytes[at] as number;
    const from = this.#at;
    let to = table[(from << 8) | type] as number;
    const isRun = isOfRun[from] as boolean;
    if (to === notAllowed) {
      if (type === authentication) return this.#authenticated(bytes, at, end);
      if (this.#isAsynchronous(type)) {
        checkBody(bytes, at, end);
        return "wire";
      }
      throw this.#unexpected(messageNameOf(type));
    } else if (to === copied) return "copy";
    // A prepared statement checks its rows as it reads them.
    if (!(isRun && type === dataRow)) checkBody(bytes, at, end);
    if (!isRun) this.#checkColumns(type, bytes, at);
    if (to === over) to = this.#next(type);
    else if (to === index.undone) to = this.#skipToSync();
    this.#at = to;
    return isRun ? "run" : "driver";
  }

  /** Before it has signed the client in, a server sends none of them; before the first statement, no notification. */
  #isAsynchronous(type: number): boolean {
    return asynchronous.has(type) && this.#at >= index[type === notification ? "idle" : "signed in"];
  }

  #unexpected(what: string): ProtocolViolation {
    return new ProtocolViolation(`the server sent ${what}, which the protocol does not allow there (${this.state})`);
  }

  #next(type: number): number {
    if (type === readyForQuery) this.#columns = unknownCount;
    return this.#requests.shift() ?? index.idle;
  }

  /** The server answers nothing that was sent before the next Sync. */
  #skipToSync(): number {
    const sync = this.#requests.indexOf(index.sync);
    this.#requests.splice(0, sync === -1 ? this.#requests.length : sync + 1);
    return sync === -1 ? index.undone : index.failed;
  }

  /** The driver reads as many columns as were described, whatever a row has. */
  #checkColumns(type: number, bytes: Buffer, at: number): void {
    if (type === rowDescription) this.#columns = bytes.readUInt16BE(at + 5);
    else if (type === noData) this.#columns = 0;
    else if (type === dataRow && this.#columns !== unknownCount && bytes.readUInt16BE(at + 5) !== this.#columns)
      throw new ProtocolViolation(otherColumns);
  }

  #authenticated(bytes: Buffer, at: number, end: number): MessageReader {
    const kind = bytes.readUInt32BE(at + 5);
    const name = Object.entries(authentications).find(([, number]) => number === kind)?.[0];
    if (name === undefined)
      throw new ProtocolViolation(`the server asks for a way to sign in that is not supported (${kind})`);
    const allowed: { readonly [message: string]: Move } = moves[this.state];
    const to = allowed[name];
    if (to === undefined) throw this.#unexpected(name);
    checkAuthentication(kind, end - (at + 9));
    const method = this.state === "started" ? methods.get(kind) : undefined;
    if (method !== undefined && this.#methods?.has(method) === false)
      throw new ProtocolViolation(
        `the server asks to sign in by the method ${method}, which the connection string does not allow`,
      );
    this.#at = index[to as StateName];
    return scram.has(this.state) ? "scram" : "driver";
  }
}

const requests: ReadonlyMap<string, FrontendRequest> = /* @__PURE__ */ new Map([
  ["Q", "script"],
  ["P", "parse"],
  ["D", "describe"],
  ["B", "bind"],
  ["E", "execute"],
  ["S", "sync"],
]);

/** What a password message answers. */
const answered: ReadonlyMap<StateName, StateName> = /* @__PURE__ */ new Map([
  ["asked for a password", "sent a password"],
  ["asked for SCRAM", "begun SCRAM"],
  ["challenged by SCRAM", "answered SCRAM"],
]);

const saltBytes = 4;

/** Throws where the driver would read nonsense: its promise then rejects without a handler, which ends the process. */
function checkAuthentication(kind: number, length: number): void {
  // The messages of SCRAM are checked where they are read.
  if (kind >= authentications.AuthenticationSASL) return;
  if (length === (kind === authentications.AuthenticationMD5Password ? saltBytes : 0)) return;
  throw new ProtocolViolation("the server sent AuthenticationRequest that cannot be read");
}
