import type { Socket } from "node:net";
import { inTime, unrefTimer, unrefTimers } from "../../src/doors/base.ts";
import { ConnectionFailure, warn } from "../../src/doors/database.ts";
import type {
  ConnectionError,
  StatementResult,
  StatementColumns,
  DatabaseConnection,
  ConnectionEvents,
  StatementValues,
} from "../../src/doors/database.ts";
import type { Conninfo } from "./connection-string.ts";
import { addressesOf, askToCancel, dial, fits, methodsOf, passwordOf, saslPrepared } from "./dial.ts";
import type { ServerAddress, ConnectionConfig, Driver, ServerKind } from "./dial.ts";
import { Query, driverOf, prepared, simple, unprepared } from "./private.ts";
import type { DescribedStatement, Execute, QueryProtocol } from "./private.ts";
import { PreparedRun, Wire, connectionErrorOf, endsSession, messages } from "./protocol.ts";
import type { Prepared, ServerError, WireEvents } from "./protocol.ts";

const goodbyeMs = 1000;
/** The protocol counts parameters in 16 bits (Bind, PostgreSQL §54.7); the driver allows two fewer. */
const maxParameters = 65_533;

/**
 * One connection with one session. The driver gets a socket once, so it cannot reconnect and run a statement in a new
 * session.
 */
class PostgresConnection implements DatabaseConnection {
  readonly #config: ConnectionConfig;
  readonly #driver: Execute;
  #socket: Socket | undefined = undefined;
  #wire: Wire | undefined = undefined;
  #password = "";
  #life: "opening" | "open" | "gone" = "opening";
  #why = "the connection closed";
  /** The SQLSTATE with which the server closed it. */
  #code: string | undefined = undefined;
  /** In the order in which they were sent. */
  readonly #running: (Query | PreparedRun)[] = [];
  /** Whether the driver is writing a statement: an error meanwhile is about that statement. */
  #isWriting = false;
  /** By SQL text; undefined until the server has prepared it. */
  readonly #prepared = new Map<string, Prepared | undefined>();
  /** By SQL text, the text that the driver gets: it keeps a statement by its text, also one that has failed. */
  readonly #respelled = new Map<string, string>();

  constructor(config: ConnectionConfig) {
    this.#config = config;
    this.#driver = driverOf(
      config,
      () => this.#password,
      () => this.#dial(),
    );
  }

  get isOpen(): boolean {
    return this.#life === "open";
  }

  get isRunning(): boolean {
    return this.#running.length > 0;
  }

  async open(): Promise<void> {
    await this.#script("select 1");
    if (this.#life === "opening") this.#life = "open";
  }

  run(sql: string, values: StatementValues): Promise<StatementResult> {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return this.#runKnown(known, sql, values);
    return this.#send(sql, values, this.#prepares(sql) ? prepared : unprepared);
  }

  isPrepared(sql: string): boolean {
    return this.#prepared.get(sql) !== undefined;
  }

  gather(): void {
    this.#wire?.gather();
  }

  script(sql: string): Promise<StatementResult> {
    return this.#script(sql);
  }

  async describe(sql: string): Promise<StatementColumns> {
    const { types, columns } = await this.#send<DescribedStatement>(sql, [], prepared, true);
    // The driver resolves before the server sends ReadyForQuery.
    await this.#script("");
    return { params: types, columns };
  }

  async cancel(): Promise<void> {
    const backend = this.#wire?.backend;
    if (backend !== undefined && this.isOpen) await askToCancel(this.#config, backend);
  }

  async shut(): Promise<void> {
    const [socket, wire] = [this.#socket, this.#wire];
    if (socket === undefined || wire === undefined || this.#isGone) return;
    this.#why = "the connection was shut";
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => socket.destroy(), goodbyeMs);
      socket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      wire.terminate();
    });
  }

  cut(why = "the connection was cut, as no answer came", code?: string): void {
    this.#why = why;
    this.#code = code;
    this.#wire?.destroy();
    this.#socket?.destroy();
    this.#closed();
  }

  get #isGone(): boolean {
    return this.#life === "gone";
  }

  unref(): void {
    this.#socket?.unref();
  }

  async #script(sql: string): Promise<StatementResult> {
    return last(await this.#send(sql, [], simple));
  }

  #send<A = StatementResult>(
    sql: string,
    values: StatementValues,
    protocol: QueryProtocol,
    onlyDescribe = false,
  ): Promise<A> {
    return new Promise<unknown>((resolve, reject) => {
      const obstacle = this.#obstacleTo(values);
      if (obstacle !== undefined) return reject(obstacle);
      const text = this.#respelled.get(sql) ?? sql;
      const query = new Query(text, values, protocol, onlyDescribe, this, resolve, reject);
      query.sql = sql;
      query.sentBefore = this.#wire?.bytesWritten ?? 0;
      this.#running.push(query);
      this.#isWriting = true;
      this.#driver(query);
      this.#isWriting = false;
    }) as Promise<A>;
  }

  /** Why a statement cannot be sent. */
  #obstacleTo(values: StatementValues): ConnectionFailure | undefined {
    if (this.#isGone) return new ConnectionFailure({ kind: "gone", isSent: false, why: this.#why });
    if (values.length <= maxParameters) return undefined;
    const why = `${values.length} parameters where ${maxParameters} are the most`;
    return new ConnectionFailure({ kind: "unsendable", why });
  }

  /** Runs a prepared statement with messages of our own: the driver's take twice as long. */
  #runKnown({ name, columns }: Prepared, sql: string, values: StatementValues): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      const obstacle = this.#obstacleTo(values);
      if (obstacle !== undefined) return reject(obstacle);
      const bytes = messages(name, values);
      if (bytes === undefined)
        return reject(new ConnectionFailure({ kind: "unsendable", why: "its parameters are too long" }));
      // A prepared statement was sent on a wire.
      const wire = this.#wire as Wire;
      const run = new PreparedRun(sql, values, columns, this, resolve, reject);
      run.sentBefore = wire.bytesWritten;
      this.#running.push(run);
      wire.begin(run, bytes);
    });
  }

  /** Called when the result of a prepared statement is complete. @param isIdle Whether no transaction is open. */
  ended(run: PreparedRun, isIdle: boolean): void {
    this.#forget(run);
    const { sql, values, refused } = run;
    if (refused === undefined || !isStale(refused)) return run.settle();
    // Nothing was done. The driver prepares it again: now, or at its next run if this failure aborted a transaction.
    this.#prepared.set(sql, undefined);
    if (!isIdle) {
      // In the next transaction the driver would run what it prepared before, and fail as well.
      this.#respelled.set(sql, `${this.#respelled.get(sql) ?? sql} `);
      run.settle();
    } else if (this.isRunning) run.reject(new ConnectionFailure(forgotten));
    else this.#send(sql, values, prepared).then(run.resolve, run.reject);
  }

  /** Called when a query of the driver has its result. */
  answered(query: Query): void {
    this.#forget(query);
    const { sql, prepare, onlyDescribe, statement } = query;
    if (prepare && !onlyDescribe) this.#prepared.set(sql, statement as Prepared);
  }

  /** Called when a query of the driver has failed. */
  failed(query: Query, error: unknown): ConnectionFailure {
    this.#forget(query);
    if (this.#isWriting) return this.#unwritten(error);
    const reason = connectionErrorOf(error, this.#hasSent(query), this.#why);
    // After an error of its own, the driver's state is unknown.
    if (reason.kind === "gone") this.cut(reason.why);
    return new ConnectionFailure(reason);
  }

  // The message may quote a value.
  #unwritten(error: unknown): ConnectionFailure {
    const why = `the driver could not write it: ${error instanceof Error ? error.name : typeof error}`;
    this.cut(`the connection was cut, as ${why}`);
    return new ConnectionFailure({ kind: "unsendable", why });
  }

  #refuseCopy(): void {
    const message = "COPY between the server and its client is no statement to run";
    const refused = { kind: "refused", severity: "ERROR", code: "0A000", message, constraint: undefined } as const;
    this.#running.shift()?.fail(new ConnectionFailure(refused));
    // Closing discards what was copied in; nothing reads what is copied out.
    this.cut("the connection was cut, as a statement copied");
  }

  #ended(reason: ConnectionError): void {
    // An error of the start: its severity says no more than that the connection is over.
    if (reason.kind === "refused") this.#running.shift()?.fail(new ConnectionFailure(reason));
    if (reason.kind === "gone") this.cut(reason.why, reason.code);
    else this.cut("the server ended the connection");
  }

  #broken(why: string): void {
    // No caller learns of it.
    if (this.isOpen && !this.isRunning) warn(`a connection was closed: ${why}`);
    this.cut(`the connection was cut: ${why}`);
  }

  #hasSent({ sentBefore }: Query | PreparedRun): boolean {
    return (this.#wire?.bytesWritten ?? 0) !== sentBefore;
  }

  #forget(run: Query | PreparedRun): void {
    if (this.#running[0] === run) this.#running.shift();
    else this.#running.splice(this.#running.indexOf(run), 1);
  }

  #prepares(sql: string): boolean {
    const prepared = this.#prepared;
    if (prepared.has(sql)) return true;
    if (prepared.size >= this.#config.statementCache) return false;
    prepared.set(sql, undefined);
    return true;
  }

  // Called by the driver. If we dialled earlier, the driver would miss a close in between.
  async #dial(): Promise<Wire> {
    const { address, target, isUnref, events, maxResultBytes } = this.#config;
    this.#password = await passwordOf(target);
    if (this.#isGone) throw new Error(this.#why);
    const onDialled = (socket: Socket): void => {
      this.#socket = socket;
      if (isUnref) socket.unref();
      socket.on("error", (error: NodeJS.ErrnoException) => {
        if (!this.#isGone && error.code !== undefined) this.#why = `the connection closed: ${error.code}`;
      });
    };
    const socket = await dial(address, target.tls, onDialled);
    socket.on("close", () => this.#closed());
    const wireEvents: WireEvents = {
      ended: (reason) => this.#ended(reason),
      broken: (why) => this.#broken(why),
      copied: () => this.#refuseCopy(),
      notified: events.notified,
    };
    const { channelBinding = "prefer" } = target;
    const wireOptions = { password: this.#password, methods: methodsOf(target), channelBinding, maxResultBytes };
    this.#wire = new Wire(socket, wireEvents, wireOptions);
    return this.#wire;
  }

  #closed(): void {
    if (this.#isGone) return;
    this.#life = "gone";
    this.#config.events.closed();
    // The driver does not report every close.
    const running = this.#running.splice(0);
    // Where the server ended the session at the first one, it did not run those behind it. After another error it did.
    const [first] = running;
    const endsAtFirst = first instanceof PreparedRun && first.refused !== undefined && endsSession(first.refused);
    const code = this.#code === undefined ? {} : { code: this.#code };
    for (const [at, run] of running.entries()) {
      const isSent = this.#hasSent(run) && !(endsAtFirst && at > 0);
      run.fail(new ConnectionFailure({ kind: "gone", isSent, why: this.#why, ...code }));
    }
  }
}

/** The caller borrows a connection again: the driver cannot prepare one statement several times at once. */
const forgotten = { kind: "gone", isSent: false, why: "the server has forgotten the statement" } as const;

// The server's functions that raise an error if a prepared statement is gone, or its columns or types have changed.
const stale: ReadonlySet<string | undefined> = new Set([
  "FetchPreparedStatement",
  "RevalidateCachedQuery",
  "transformAssignedExpr",
]);

function isStale({ routine }: ServerError): boolean {
  return stale.has(routine);
}

function last(answer: unknown): StatementResult {
  const answers = answer as readonly StatementResult[] & StatementResult;
  return Array.isArray(answers[0]) && "command" in answers[0] ? (answers.at(-1) as StatementResult) : answers;
}

interface OpenOptions {
  readonly driver: Driver;
  /** Start-up parameters. */
  readonly parameters: { readonly [name: string]: string };
  /** A script that is run once it is open; none by default. */
  readonly session?: string;
  readonly statementCache: number;
  /** As {@link ConnectionConfig} has it. */
  readonly isUnref?: boolean;
  /** As {@link ConnectionConfig} has it. */
  readonly maxResultBytes?: number;
}

/** What a result may have at most, unless a pool says otherwise: as text, before it is read. */
export const defaultMaxResultBytes: number = 128 * 1024 * 1024;

const connectTimeoutMs = 10_000;
// Past it a timer fires at once.
const maxTimerMs = 2 ** 31 - 1;

/** How long to wait for each address, in milliseconds; 0 for no limit. */
export function connectBoundOf(target: Conninfo): number {
  return Math.min(target.connectTimeoutMs ?? connectTimeoutMs, maxTimerMs);
}

/** Opens a connection to the first address that accepts. Rejects with a {@link ConnectionFailure} of every reason. */
export async function openConnection(
  target: Conninfo,
  options: OpenOptions,
  events: ConnectionEvents,
): Promise<PostgresConnection> {
  const reasons: string[] = [];
  const boundMs = connectBoundOf(target);
  // prefer-standby: if there is no standby, any server.
  const kinds = target.session === "prefer-standby" ? (["standby", "any"] as const) : [target.session];
  for (const kind of kinds) {
    for (const host of hostsOf(target)) {
      for (const address of await addresses(host, reasons, boundMs, options.isUnref === true)) {
        const opened = await openWith(address, target, kind, options, events);
        if (opened instanceof PostgresConnection) return opened;
        reasons.push(opened.why);
        if (opened.isFinal) throw new ConnectionFailure({ kind: "unreachable", why: opened.why });
      }
    }
  }
  throw new ConnectionFailure({ kind: "unreachable", why: [...new Set(reasons)].join("; ") });
}

/** In their order, or in any. */
function hostsOf({ hosts, balancesLoad = false }: Conninfo): Conninfo["hosts"] {
  if (!balancesLoad) return hosts;
  const keyed = hosts.map((host) => [Math.random(), host] as const);
  return keyed.toSorted(([one], [other]) => one - other).map(([, host]) => host);
}

/** A lookup has the same time as a connection: a resolver may never answer, and no lookup can be ended. */
async function addresses(
  host: Conninfo["hosts"][number],
  reasons: string[],
  boundMs: number,
  isUnref: boolean,
): Promise<readonly ServerAddress[]> {
  try {
    const looking = addressesOf(host);
    const isFound = boundMs === 0 || (await inTime(looking, boundMs, isUnref ? unrefTimers : undefined));
    if (isFound) return await looking;
    reasons.push(`no address of ${host.host} within ${boundMs} ms`);
    return [];
  } catch (error) {
    reasons.push(error instanceof Error ? error.message : String(error));
    return [];
  }
}

/** The targets whose password was wrong as it is given, as they are opened. */
const preparedTargets = new WeakMap<Conninfo, Conninfo>();

/** Tries the password as it is given, and if that is wrong, as a server with SCRAM has prepared it. */
async function openWith(
  address: ServerAddress,
  target: Conninfo,
  kind: ServerKind,
  options: OpenOptions,
  events: ConnectionEvents,
): Promise<PostgresConnection | NotOpened> {
  const first = preparedTargets.get(target) ?? target;
  const opened = await openAt(address, first, kind, options, events);
  const { password = "" } = first;
  const isOver = opened instanceof PostgresConnection || opened.code !== wrongPassword;
  if (isOver || typeof password === "function") return opened;
  const prepared = { ...target, password: saslPrepared(password) };
  if (prepared.password === password) return opened;
  const again = await openAt(address, prepared, kind, options, events);
  if (again instanceof PostgresConnection) preparedTargets.set(target, prepared);
  return again;
}

const wrongPassword = "28P01";

interface NotOpened {
  readonly why: string;
  /** The SQLSTATE. */
  readonly code?: string | undefined;
  /** Whether every other address would fail likewise. */
  readonly isFinal: boolean;
}

async function openAt(
  address: ServerAddress,
  target: Conninfo,
  kind: ServerKind,
  {
    driver,
    parameters,
    session = "",
    statementCache,
    isUnref = false,
    maxResultBytes = defaultMaxResultBytes,
  }: OpenOptions,
  events: ConnectionEvents,
): Promise<PostgresConnection | NotOpened> {
  const config: ConnectionConfig = {
    driver,
    target,
    address,
    parameters,
    statementCache,
    maxResultBytes,
    isUnref,
    events,
  };
  const connection = new PostgresConnection(config);
  const boundMs = connectBoundOf(target);
  const timer = boundMs > 0 && setTimeout(() => connection.cut(`no connection within ${boundMs} ms`), boundMs);
  if (isUnref) unrefTimer(timer);
  try {
    await connection.open();
    if (session !== "") await connection.script(session);
    if (await fits(connection, kind)) return connection;
    await connection.shut();
    return { why: `the server is not ${kind}`, isFinal: false };
  } catch (thrown) {
    const { reason } = thrown as ConnectionFailure;
    connection.cut();
    if (reason.kind === "refused") return { why: `${reason.severity} ${reason.code}`, isFinal: true };
    const code = reason.kind === "gone" ? reason.code : undefined;
    return { why: `${reason.why}${hintOf(reason.why)}`, code, isFinal: isMisconfigured(code) };
  } finally {
    if (timer !== false) clearTimeout(timer);
  }
}

/** What to do where a pooler is in front of the server, as each of them says it. */
function hintOf(why: string): string {
  if (!/unsupported startup parameter/i.test(why)) return "";
  return '. Behind a pooler set the pool\'s option bounds to "session" or "transaction", by the mode of the pooler';
}

/** A wrong role, password, database or parameter: every other address would fail likewise. */
function isMisconfigured(code: string | undefined): boolean {
  return code !== undefined && (code.startsWith("28") || ["3D000", "42704", "22023"].includes(code));
}
