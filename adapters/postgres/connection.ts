import type { Socket } from "node:net";
import { LinkFailure } from "../../src/database/connection.ts";
import type {
  StatementResult,
  StatementColumns,
  DatabaseConnection,
  ConnectionEvents,
  StatementValues,
} from "../../src/database/connection.ts";
import type { Conninfo } from "./connection-string.ts";
import { addressesOf, askToCancel, dial, driverOf, fits } from "./dial.ts";
import type { ServerAddress, Backend, ConnectionConfig, ServerKind } from "./dial.ts";
import { PreparedRun, Query, Wire, messages, prepared, simple, unprepared } from "./protocol.ts";
import type { DescribedStatement, Execute, Prepared, QueryProtocol } from "./protocol.ts";
import { connectionErrorOf } from "./server-error.ts";
import type { ServerError } from "./server-error.ts";

type DriverResult = StatementResult & { readonly state: Backend };

const terminate = Buffer.from([0x58, 0, 0, 0, 4]);
const goodbyeMs = 1000;
/** The protocol counts them in 16 bits (Bind, PostgreSQL §54.7), and the driver takes two less. */
const mostParameters = 65_533;

/**
 * One connection, and one session for as long as it lives: the driver is given a socket once, so that it can never take
 * up another where a statement's own went away.
 */
class PostgresConnection implements DatabaseConnection {
  readonly #birth: ConnectionConfig;
  readonly #driver: Execute;
  #socket: Socket | undefined = undefined;
  #wire: Wire | undefined = undefined;
  #backend: Backend | undefined = undefined;
  #isGone = false;
  #why = "the connection closed";
  #running: Query | PreparedRun | undefined = undefined;
  #sentBefore = 0;
  /** Whether the driver is being handed a statement: what it fails with meanwhile, it throws for the statement's own sake. */
  #isWriting = false;
  /** By their texts; undefined while the server has not been asked yet. */
  readonly #prepared = new Map<string, Prepared | undefined>();

  constructor(birth: ConnectionConfig) {
    this.#birth = birth;
    this.#driver = driverOf(birth, () => this.#dial());
  }

  get isOpen(): boolean {
    return !this.#isGone && this.#backend !== undefined;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Connects, and waits for the server's first answer. */
  async open(): Promise<void> {
    const { state } = await this.#script("select 1");
    this.#backend = state;
  }

  run(sql: string, values: StatementValues): Promise<StatementResult> {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return this.#runKnown(known, sql, values);
    return this.#send(sql, values, this.#prepares(sql) ? prepared : unprepared);
  }

  script(sql: string): Promise<StatementResult> {
    return this.#script(sql);
  }

  async describe(sql: string): Promise<StatementColumns> {
    const { types, columns } = await this.#send<DescribedStatement>(sql, [], prepared, true);
    // The driver has answered before the server has.
    await this.#script("");
    return { params: types, columns };
  }

  async cancel(): Promise<void> {
    if (this.#backend === undefined || this.#isGone) return;
    await askToCancel(this.#birth, this.#backend);
  }

  async shut(): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || this.#isGone) return;
    this.#why = "the connection was shut";
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => socket.destroy(), goodbyeMs);
      socket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      socket.end(terminate);
    });
  }

  cut(why = "the connection was cut, as no answer came"): void {
    this.#why = why;
    this.#socket?.destroy();
    this.#closed();
  }

  /** From now on it keeps no process from ending. */
  unref(): void {
    this.#socket?.unref();
  }

  async #script(sql: string): Promise<DriverResult> {
    return last(await this.#send(sql, [], simple));
  }

  #send<A = DriverResult>(
    sql: string,
    values: StatementValues,
    protocol: QueryProtocol,
    onlyDescribe = false,
  ): Promise<A> {
    return new Promise<unknown>((resolve, reject) => {
      const obstacle = this.#obstacleTo(values);
      if (obstacle !== undefined) return reject(obstacle);
      this.#sentBefore = this.#wire?.bytesWritten ?? 0;
      this.#running = new Query(sql, values, protocol, onlyDescribe, this, resolve, reject);
      this.#isWriting = true;
      this.#driver(this.#running);
      this.#isWriting = false;
    }) as Promise<A>;
  }

  /** What keeps a statement from being sent at all. */
  #obstacleTo(values: StatementValues): LinkFailure | undefined {
    if (this.#isGone) return new LinkFailure({ kind: "gone", isSent: false, why: this.#why });
    if (values.length <= mostParameters) return undefined;
    const why = `${values.length} parameters where ${mostParameters} are the most`;
    return new LinkFailure({ kind: "unsendable", why });
  }

  /** A run of what the server has prepared: by messages of one's own, as the driver's take twice as long. */
  #runKnown({ name, columns }: Prepared, sql: string, values: StatementValues): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      const obstacle = this.#obstacleTo(values);
      if (obstacle !== undefined) return reject(obstacle);
      const bytes = messages(name, values);
      if (bytes === undefined)
        return reject(new LinkFailure({ kind: "unsendable", why: "its parameters are too long" }));
      // What is prepared was sent on it.
      const wire = this.#wire as Wire;
      this.#sentBefore = wire.bytesWritten;
      const run = new PreparedRun(sql, values, columns, this, resolve, reject);
      this.#running = run;
      wire.begin(run, bytes);
    });
  }

  /** What ran was read to its end. */
  ended(run: PreparedRun, isIdle: boolean): void {
    this.#running = undefined;
    const { sql, values, refused } = run;
    if (refused === undefined || !isStale(refused)) return run.settle();
    // Nothing of it was done. The driver prepares it anew; in a transaction, which that has stopped, when it comes again.
    this.#prepared.set(sql, undefined);
    if (isIdle) this.#send<StatementResult>(sql, values, prepared).then(run.resolve, run.reject);
    else run.settle();
  }

  /** What ran has its answer. */
  answered({ strings: [sql], prepare, onlyDescribe, statement }: Query): void {
    this.#running = undefined;
    if (prepare && !onlyDescribe) this.#prepared.set(sql, statement as Prepared);
  }

  /** What ran has failed; why that is so. */
  failed(error: unknown): LinkFailure {
    this.#running = undefined;
    if (this.#isWriting) return this.#unwritten(error);
    const trouble = connectionErrorOf(error, this.#hasSent, this.#why);
    // After an error of its own the driver is in no state that is known.
    if (trouble.kind === "gone") this.cut(trouble.why);
    return new LinkFailure(trouble);
  }

  // Its message may quote what could not be written.
  #unwritten(error: unknown): LinkFailure {
    const why = `the driver could not write it: ${error instanceof Error ? error.name : typeof error}`;
    this.cut(`the connection was cut, as ${why}`);
    return new LinkFailure({ kind: "unsendable", why });
  }

  copies(): LinkFailure {
    this.#running = undefined;
    // Nothing is kept of what is copied in, and what comes out is read by nobody.
    this.cut("the connection was cut, as a statement copied");
    const message = "COPY between the server and its client is no statement to run";
    return new LinkFailure({ kind: "refused", severity: "ERROR", code: "0A000", message, constraint: undefined });
  }

  get #hasSent(): boolean {
    return (this.#wire?.bytesWritten ?? 0) !== this.#sentBefore;
  }

  #prepares(sql: string): boolean {
    const prepared = this.#prepared;
    if (prepared.has(sql)) return true;
    if (prepared.size >= this.#birth.statementCache) return false;
    prepared.set(sql, undefined);
    return true;
  }

  // Inside the driver's own call: dialled before it, an end in between would be heard by nobody.
  async #dial(): Promise<Wire> {
    const { address, target } = this.#birth;
    if (this.#isGone) throw new Error(this.#why);
    const heard = (socket: Socket): void => {
      this.#socket = socket;
      socket.on("error", (error: NodeJS.ErrnoException) => {
        if (!this.#isGone && error.code !== undefined) this.#why = `the connection closed: ${error.code}`;
      });
    };
    const socket = await dial(address, target.tls, heard);
    socket.on("close", () => this.#closed());
    this.#wire = new Wire(socket);
    return this.#wire;
  }

  #closed(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#birth.events.closed();
    const running = this.#running;
    this.#running = undefined;
    // The driver does not tell of every end.
    running?.fail(new LinkFailure({ kind: "gone", isSent: this.#hasSent, why: this.#why }));
  }
}

// The server knows no statement of that name any more, or one whose columns or types have changed, which it will not run.
const stale: ReadonlySet<string | undefined> = new Set([
  "FetchPreparedStatement",
  "RevalidateCachedQuery",
  "transformAssignedExpr",
]);

function isStale({ routine }: ServerError): boolean {
  return stale.has(routine);
}

function last(answer: unknown): DriverResult {
  const answers = answer as readonly DriverResult[] & DriverResult;
  return Array.isArray(answers[0]) && "command" in answers[0] ? (answers.at(-1) as DriverResult) : answers;
}

interface OpenOptions {
  /** Start-up parameters of the framework's, which the connection string's and the application's stand before. */
  readonly parameters: { readonly [name: string]: string };
  readonly statementCache: number;
}

const connectTimeoutMs = 10_000;

/** What an address has for giving a connection, in milliseconds; 0 for any time. */
export function connectBoundOf(target: Conninfo): number {
  return target.connectTimeoutMs ?? connectTimeoutMs;
}

/** Opens a connection to the first address that gives one; rejects with a {@link LinkFailure} that says why none does. */
export async function openConnection(
  target: Conninfo,
  options: OpenOptions,
  events: ConnectionEvents,
): Promise<PostgresConnection> {
  const reasons: string[] = [];
  // Any other is better than none.
  const kinds = target.session === "prefer-standby" ? (["standby", "any"] as const) : [target.session];
  for (const kind of kinds) {
    for (const { host, port } of target.hosts) {
      for (const address of await addresses(host, port, reasons)) {
        const opened = await openAt(address, target, kind, options, events);
        if (opened instanceof PostgresConnection) return opened;
        reasons.push(opened.why);
        if (opened.isFinal) throw new LinkFailure({ kind: "unreachable", why: opened.why });
      }
    }
  }
  throw new LinkFailure({ kind: "unreachable", why: [...new Set(reasons)].join("; ") });
}

async function addresses(host: string, port: number, reasons: string[]): Promise<readonly ServerAddress[]> {
  try {
    return await addressesOf(host, port);
  } catch (error) {
    reasons.push(error instanceof Error ? error.message : String(error));
    return [];
  }
}

interface NotOpened {
  readonly why: string;
  /** Whether another address would say the same. */
  readonly isFinal: boolean;
}

async function openAt(
  address: ServerAddress,
  target: Conninfo,
  kind: ServerKind,
  { parameters, statementCache }: OpenOptions,
  events: ConnectionEvents,
): Promise<PostgresConnection | NotOpened> {
  const birth: ConnectionConfig = { target, address, parameters, statementCache, events };
  const link = new PostgresConnection(birth);
  const boundMs = connectBoundOf(target);
  const timer = boundMs > 0 && setTimeout(() => link.cut(`no connection within ${boundMs} ms`), boundMs);
  try {
    await link.open();
    if (await fits(link, kind)) return link;
    await link.shut();
    return { why: `the server is not ${kind}`, isFinal: false };
  } catch (thrown) {
    const { trouble } = thrown as LinkFailure;
    link.cut();
    if (trouble.kind === "refused") return { why: `${trouble.severity} ${trouble.code}`, isFinal: true };
    return { why: trouble.why, isFinal: trouble.kind === "gone" && isOfTheProgram(trouble.code) };
  } finally {
    if (timer !== false) clearTimeout(timer);
  }
}

/** Who asks, for what, or how is wrong: a role, a password, a database, a parameter. Another address says the same. */
function isOfTheProgram(code: string | undefined): boolean {
  return code !== undefined && (code.startsWith("28") || ["3D000", "42704", "22023"].includes(code));
}
