import type { Socket } from "node:net";
import postgres from "postgres";
import { LinkFailure } from "../../src/database/link.ts";
import type { Answer, Description, Link, LinkEvents, Values } from "../../src/database/link.ts";
import type { Conninfo } from "./conninfo.ts";
import { dial } from "./dial.ts";
import type { Address } from "./dial.ts";
import { Query, executeOf, prepared, simple, unprepared } from "./query.ts";
import type { Described, Execute, Protocol } from "./query.ts";
import { troubleOf } from "./trouble.ts";

/** What a connection is born with. */
export interface Birth {
  readonly target: Conninfo;
  readonly address: Address;
  /** Start-up parameters (PostgreSQL §54.2.1). */
  readonly parameters: { readonly [name: string]: string };
  /** How many statements it keeps prepared; 0 for none. */
  readonly statementCache: number;
  readonly events: LinkEvents;
}

type Result = Answer & { readonly state: Backend };
interface Backend {
  readonly pid: number;
  readonly secret: number;
}

const terminate = Buffer.from([0x58, 0, 0, 0, 4]);
const goodbyeMs = 1000;
const cancelMs = 5000;
/** The protocol counts them in 16 bits (Bind, PostgreSQL §54.7), and the driver takes two less. */
const mostParameters = 65_533;

/**
 * One connection, and one session for as long as it lives: the driver is given a socket once, so that it can never take
 * up another where a statement's own went away.
 */
export class PostgresLink implements Link {
  readonly #birth: Birth;
  readonly #driver: Execute;
  #socket: Socket | undefined = undefined;
  #backend: Backend | undefined = undefined;
  #isGone = false;
  #why = "the connection closed";
  #running: Query | undefined = undefined;
  #sentBefore = 0;
  /** Whether the driver is being handed a statement: what it fails with meanwhile, it throws for the statement's own sake. */
  #isWriting = false;
  readonly #prepared = new Set<string>();

  constructor(birth: Birth) {
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

  run(sql: string, values: Values): Promise<Answer> {
    return this.#send(sql, values, this.#prepares(sql) ? prepared : unprepared);
  }

  script(sql: string): Promise<Answer> {
    return this.#script(sql);
  }

  async describe(sql: string): Promise<Description> {
    const { types, columns } = await this.#send<Described>(sql, [], prepared, true);
    return { params: types, columns };
  }

  async cancel(): Promise<void> {
    if (this.#backend === undefined || this.#isGone) return;
    const message = Buffer.alloc(16);
    message.writeInt32BE(16, 0);
    message.writeInt32BE(80877102, 4);
    message.writeInt32BE(this.#backend.pid | 0, 8);
    message.writeInt32BE(this.#backend.secret | 0, 12);
    await tell(this.#birth, message);
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

  async #script(sql: string): Promise<Result> {
    return last(await this.#send(sql, [], simple));
  }

  #send<A = Result>(sql: string, values: Values, protocol: Protocol, onlyDescribe = false): Promise<A> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isGone) return reject(new LinkFailure({ kind: "gone", isSent: false, why: this.#why }));
      if (values.length > mostParameters) return reject(tooMany(values.length));
      this.#sentBefore = this.#socket?.bytesWritten ?? 0;
      this.#running = new Query(sql, values, protocol, onlyDescribe, this, resolve, reject);
      this.#isWriting = true;
      this.#driver(this.#running);
      this.#isWriting = false;
    }) as Promise<A>;
  }

  /** What ran has its answer. */
  answered(): void {
    this.#running = undefined;
  }

  /** What ran has failed; why that is so. */
  failed(error: unknown): LinkFailure {
    this.#running = undefined;
    if (this.#isWriting) return this.#unwritten(error);
    const trouble = troubleOf(error, this.#hasSent, this.#why);
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
    return (this.#socket?.bytesWritten ?? 0) !== this.#sentBefore;
  }

  #prepares(sql: string): boolean {
    const prepared = this.#prepared;
    if (prepared.has(sql)) return true;
    if (prepared.size >= this.#birth.statementCache) return false;
    prepared.add(sql);
    return true;
  }

  // Inside the driver's own call: dialled before it, an end in between would be heard by nobody.
  async #dial(): Promise<Socket> {
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
    return socket;
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

function driverOf({ target, parameters, statementCache, events }: Birth, socketOf: () => Promise<Socket>): Execute {
  let isDialled = false;
  const options = {
    host: "localhost",
    port: 5432,
    user: target.user,
    // A function, as an empty password would be looked for in the environment.
    pass: () => target.password ?? "",
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
    onnotice() {},
    onnotify: events.notified,
    connection: parameters,
    types: asText,
    socket() {
      if (isDialled) throw new Error("the connection is closed");
      isDialled = true;
      return socketOf();
    },
  };
  // Its types know neither a socket of one's own, nor the simple protocol, nor who is notified.
  return executeOf(postgres(options as unknown as postgres.Options<{}>));
}

const same = (value: unknown): unknown => value;
// What the driver would read and write in its own way: it drops microseconds, and takes the text 'true' for false.
const read = [
  16, 17, 20, 21, 23, 25, 26, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 3802,
];
const asText = Object.fromEntries([
  ["raw", { to: 0, from: read, serialize: same, parse: undefined }],
  ...[16, 17, 25, 114, 1184, 3802].map((type) => [`raw${type}`, { to: type, from: [], serialize: same }] as const),
]);

function tooMany(count: number): LinkFailure {
  return new LinkFailure({ kind: "unsendable", why: `${count} parameters where ${mostParameters} are the most` });
}

function last(answer: unknown): Result {
  const answers = answer as readonly Result[] & Result;
  return Array.isArray(answers[0]) && "command" in answers[0] ? (answers.at(-1) as Result) : answers;
}

/** Sends a message on a connection of its own, and waits for the server to close it: then it was read. */
async function tell({ address, target }: Birth, message: Buffer): Promise<void> {
  const sockets: Socket[] = [];
  const timer = setTimeout(() => sockets.at(-1)?.destroy(), cancelMs);
  try {
    const socket = await dial(address, target.tls, (socket) => sockets.push(socket.on("error", () => {})));
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      socket.resume().write(message);
    });
  } catch {
    // The server's own bound ends the statement where nobody can ask it to.
  } finally {
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
}
