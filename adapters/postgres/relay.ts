import { clearTimeout, setTimeout } from "node:timers";
import { unrefTimer } from "../../src/doors/base.ts";
import { ConnectionFailure, DatabaseError } from "../../src/doors/database.ts";
import type { DatabaseConnection } from "../../src/doors/database.ts";
import { needsOptions, needsText } from "../../src/arguments.ts";
import { relayOver } from "../../src/doors/events.ts";
import type { RelayEngine, RelayConnection, RelayListener, OpenRelay } from "../../src/doors/events.ts";
import { inBackground } from "../../src/doors/logging.ts";
import type { Conninfo } from "./connection-string.ts";
import { targetOf } from "./dial.ts";
import type { Driver } from "./dial.ts";
import { settingsOf } from "./settings.ts";
import { connectBoundOf, openConnection } from "./connection.ts";
import { loadDriver } from "./private.ts";

// Messages too long for a notification wait in this table until they are fetched. It is unlogged, so a crash empties it;
// a lost message is then missed like one that was never sent.
const tableExists = "select to_regclass('usher_relay') is not null";
const createTable =
  "create unlogged table if not exists usher_relay (id bigint generated always as identity primary key, " +
  "message text not null, kept_at timestamptz not null default now())";

// Of two that create it at once one would fail. If PostgreSQL crashes soon after that, it may not start again: its recovery makes
// a file of the unlogged table that is there already ("could not create file", seen with 18.4).
const lockTable = "select pg_advisory_lock(hashtextextended('usher_relay', 0))";
const unlockTable = "select pg_advisory_unlock(hashtextextended('usher_relay', 0))";

// 10 minutes are far more than a listener needs to fetch; the limit keeps the statement short.
const oldIds = "select id from usher_relay where kept_at < now() - interval '10 minutes' order by id limit 100";
const deleteOld = `delete from usher_relay where id in (${oldIds} for update skip locked)`;

/** Stores the message `$2`, notifies the channel `$1` of its id, and deletes old messages, in one statement. */
const storeAndNotify: string =
  `with kept as (insert into usher_relay (message) values ($2) returning id), gone as (${deleteOld}) ` +
  "select pg_notify($1, '=' || id || ' ' || pg_backend_pid()) from kept";

const fetchMessage = "select message from usher_relay where id = $1::bigint";

/** Creates the table unless it exists: a migration may have created it for a role that may not. */
async function ensureTable(connection: DatabaseConnection): Promise<void> {
  if (await hasTable(connection)) {
    await connection.run(deleteOld, []);
    return;
  }
  await connection.run(lockTable, []);
  try {
    await connection.run(createTable, []);
  } catch (thrown) {
    // A migration created it at the same moment; "if not exists" fails then too.
    const wasRefused = thrown instanceof ConnectionFailure && thrown.reason.kind === "refused";
    if (!wasRefused || !(await hasTable(connection))) throw thrown;
  }
  // One that failed closes its connection, which gives the lock back.
  await connection.run(unlockTable, []);
}

async function hasTable(connection: DatabaseConnection): Promise<boolean> {
  const [row] = await connection.run(tableExists, []);
  return row?.[0] === "t";
}

interface Outgoing {
  readonly message: string;
  readonly sent: () => void;
  readonly failed: (why: unknown) => void;
}

// A payload has less than 8,000 bytes (PostgreSQL, NOTIFY); a UTF-16 unit takes up to three.
const maxBytes = 7999;
const maxUnits = 2666;
// Fifty at once are eight times as fast as one by one; more gain nothing.
const maxAtOnce = 50;
// Notifications that wait behind a fetch. If more come, the connection is closed, and all of them are missed.
const maxWaiting = 10_000;

const notifyAll = "select pg_notify($1, message) from unnest($2::text[]) message";

/** One connection that listens and notifies. Messages sent while a statement runs are batched. */
class PostgresRelayConnection implements RelayConnection {
  readonly #connection: DatabaseConnection & { cut(why?: string): void };
  readonly #channel: string;
  readonly #pid: string;
  readonly #listener: RelayListener;
  readonly #outgoing: Outgoing[] = [];
  /** Notifications in order, from the first one that is being fetched. */
  readonly #incoming: string[] = [];
  #isRunning = false;
  #isEnded = false;
  #whenIdle = (): void => {};

  constructor(
    connection: DatabaseConnection & { cut(why?: string): void },
    channel: string,
    pid: string,
    listener: RelayListener,
  ) {
    this.#connection = connection;
    this.#channel = channel;
    this.#pid = pid;
    this.#listener = listener;
  }

  send(message: string): Promise<void> {
    return new Promise((sent, failed) => {
      this.#outgoing.push({ message: withoutNul(message), sent, failed });
      inBackground(this.#run());
    });
  }

  async close(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    this.#isEnded = true;
    await this.#connection.shut();
  }

  destroy(): void {
    this.#isEnded = true;
    this.#connection.cut();
  }

  /** Either side closed the connection. */
  ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#listener.lost(new Error("the connection closed"));
  }

  notified(payload: string): void {
    if (this.#isEnded) return;
    if (this.#incoming.length === 0 && !payload.startsWith("=")) {
      this.#listener.received(unescaped(payload));
      return;
    }
    if (this.#incoming.push(payload) > maxWaiting) this.#connection.cut("more came than could be fetched");
    else inBackground(this.#run());
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#outgoing.length > 0 || this.#incoming.length > 0) {
      if (this.#incoming.length > 0) await this.#fetch();
      if (this.#outgoing.length > 0) await this.#send();
    }
    this.#isRunning = false;
    this.#whenIdle();
  }

  async #send(): Promise<void> {
    const isFirstLong = isLong(this.#outgoing[0]?.message ?? "");
    const next = this.#outgoing.findIndex(({ message }, at) => at === maxAtOnce || isLong(message));
    const batch = this.#outgoing.splice(0, isFirstLong ? 1 : next === -1 ? maxAtOnce : next);
    const messages = batch.map(({ message }) => message);
    try {
      if (isFirstLong) await this.#connection.run(storeAndNotify, [this.#channel, messages[0] ?? ""]);
      else await this.#connection.run(notifyAll, [this.#channel, listText(messages)]);
      for (const { sent } of batch) sent();
    } catch (thrown) {
      if (batch.length > 1) await this.#sendEach(batch);
      else for (const { failed } of batch) failed(thrown);
    }
  }

  // The server may refuse one message, for example if its encoding lacks a character. The others must still be sent. A
  // connection that is lost refuses each at once.
  async #sendEach(batch: readonly Outgoing[]): Promise<void> {
    for (const { message, sent, failed } of batch) {
      await this.#connection.run(notifyAll, [this.#channel, listText([message])]).then(sent, failed);
    }
  }

  /** Delivers the first notification, or the stored message that it refers to. */
  async #fetch(): Promise<void> {
    const [payload = ""] = this.#incoming;
    if (!payload.startsWith("=")) this.#listener.received(unescaped(payload));
    else await this.#fetchOne(payload.slice(1).split(" "));
    this.#incoming.shift();
  }

  async #fetchOne([id = "", pid]: readonly string[]): Promise<void> {
    if (pid === this.#pid || !/^\d{1,18}$/.test(id)) return;
    try {
      const [row] = await this.#connection.run(fetchMessage, [id]);
      const message = row?.[0];
      // If it is gone it is missed: the sender's next sequence number shows it.
      if (typeof message === "string" && !this.#isEnded) this.#listener.received(unescaped(message));
    } catch {
      // Missed likewise. A lost connection is reported by `ended`.
    }
  }
}

function isLong(message: string): boolean {
  return message.length > maxUnits && Buffer.byteLength(message) > maxBytes;
}

function listText(messages: readonly string[]): string {
  return `{${messages.map((message) => `"${message.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

// PostgreSQL's text cannot contain NUL.
function withoutNul(message: string): string {
  return /[\0\x01]/.test(message) ? message.replace(/\x01/g, "\x01\x01").replace(/\0/g, "\x01\x02") : message;
}

function unescaped(message: string): string {
  if (!message.includes("\x01")) return message;
  return message.replace(/\x01([\x01\x02])/g, (_, sign) => (sign === "\x01" ? "\x01" : "\0"));
}

const statementTimeoutMs = 10_000;
const statementCache = 8;

function postgresEngine(driver: Driver, target: Conninfo, channel: string): RelayEngine {
  return {
    source: "framework.postgres",
    channel,
    open: (listener, isAgain) => openRelay(driver, target, channel, listener, isAgain),
    after(ms, act) {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

async function openRelay(
  driver: Driver,
  target: Conninfo,
  channel: string,
  listener: RelayListener,
  isAgain: boolean,
): Promise<RelayConnection> {
  // A pooler refuses a limit where a connection starts.
  const bounds = { bounds: "session", statementTimeoutMs, idleInTransactionTimeoutMs: 0 } as const;
  const { session } = settingsOf(target, bounds);
  const parameters = { application_name: "usher relay", ...target.parameters };
  const options = { driver, parameters, session, statementCache, isUnref: isAgain };
  let opened: PostgresRelayConnection | undefined;
  const connection = await openConnection(target, options, {
    closed: () => opened?.ended(),
    notified: (_, payload) => opened?.notified(payload),
  });
  // Before it listens, no heartbeat detects a dead connection.
  const boundMs = connectBoundOf(target);
  const timer =
    boundMs > 0 && setTimeout(() => connection.cut(`nothing was listened to within ${boundMs} ms`), boundMs);
  if (isAgain) unrefTimer(timer);
  try {
    const [row] = await connection.run("select pg_backend_pid()", []);
    await ensureTable(connection);
    opened = new PostgresRelayConnection(connection, channel, row?.[0] ?? "", listener);
    await connection.run(`listen "${channel.replaceAll('"', '""')}"`, []);
  } catch (thrown) {
    connection.cut();
    throw thrown;
  } finally {
    if (timer !== false) clearTimeout(timer);
  }
  // A relay alone must not keep the process running.
  connection.unref();
  return opened;
}

// LISTEN cuts a longer name off, NOTIFY refuses it (PostgreSQL §4.1.1).
const maxChannelBytes = 63;

/**
 * A relay over PostgreSQL's LISTEN and NOTIFY, on a connection of its own, which does not keep the process running. A
 * message too long for a notification is stored in the table `usher_relay`, which is created if it does not exist. A lost
 * connection is opened again. Events published meanwhile are missed, so every affected hub ends its subscriptions: no
 * subscriber continues with a gap.
 *
 * It needs one session: connect to the server itself, or to a pooler in session mode.
 *
 * ```ts
 * const hub = Broadcast.create<typeof Placed>({ relay: await relay("postgres://app@db/orders", { channel: "orders" }) });
 * ```
 *
 * @param options `channel` is for this hub alone, at most 63 bytes. Other notifications there are ignored.
 * @throws DatabaseError if the database cannot be reached, or the role may not create or use the table.
 */
export async function relay(target: string | Conninfo, options: { readonly channel: string }): Promise<OpenRelay> {
  needsOptions("relay", options, "channel");
  const { channel } = options;
  needsText("relay: channel", channel);
  const bytes = Buffer.byteLength(channel);
  if (bytes === 0 || bytes > maxChannelBytes || channel.includes("\0"))
    throw new RangeError(`relay: channel must have 1 to ${maxChannelBytes} bytes and no NUL`);
  const info = targetOf("relay: its target", target);
  const driver = await loadDriver("relay");
  try {
    return await relayOver(postgresEngine(driver, info, channel));
  } catch (thrown) {
    if (!(thrown instanceof ConnectionFailure)) throw thrown;
    const { reason } = thrown;
    if (reason.kind !== "refused") throw new DatabaseError({ kind: "unsent", detail: reason.why });
    const detail = `the relay could not listen, or make its table usher_relay: ${reason.severity} ${reason.code}`;
    throw new DatabaseError({ kind: "db", code: reason.code, detail });
  }
}
