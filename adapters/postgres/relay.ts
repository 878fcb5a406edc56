import { clearTimeout, setTimeout } from "node:timers";
import { LinkFailure } from "../../src/database/connection.ts";
import type { DatabaseConnection } from "../../src/database/connection.ts";
import { DatabaseError } from "../../src/database/failure.ts";
import { relayOver } from "../../src/events/relay.ts";
import type { RelayEngine, RelayConnection, RelayListener, OpenRelay } from "../../src/events/relay.ts";
import { inBackground } from "../../src/logging/raised.ts";
import { parse } from "./connection-string.ts";
import type { Conninfo } from "./connection-string.ts";
import { connectBoundOf, openConnection } from "./connection.ts";

/**
 * What is too long for a notification stands here while it is fetched. Nothing in it is worth a crash: unlogged, it is empty
 * after one, and what a reference no longer leads to is missed as what was never sent.
 */

const exists = "select to_regclass('usher_relay') is not null";
const make =
  "create unlogged table if not exists usher_relay (id bigint generated always as identity primary key, " +
  "message text not null, kept_at timestamptz not null default now())";

// Long past what a process that listens takes to fetch it; and no more at once than a statement does in passing.
const old = "select id from usher_relay where kept_at < now() - interval '10 minutes' order by id limit 100";
const drop = `delete from usher_relay where id in (${old} for update skip locked)`;

/** Keeps the second, notifies the first, a channel, of where it is, and clears what is old away: at once or not at all. */
const keep: string =
  `with kept as (insert into usher_relay (message) values ($2) returning id), gone as (${drop}) ` +
  "select pg_notify($1, '=' || id || ' ' || pg_backend_pid()) from kept";

const fetch = "select message from usher_relay where id = $1::bigint";

/** Makes the table where there is none: whoever migrates may have, for a role that may not. */
async function makeTable(link: DatabaseConnection): Promise<void> {
  if (await isThere(link)) {
    await link.run(drop, []);
    return;
  }
  try {
    await link.run(make, []);
  } catch (thrown) {
    // Another process made it at the same moment, which even "if not exists" is refused for.
    const wasRefused = thrown instanceof LinkFailure && thrown.trouble.kind === "refused";
    if (!wasRefused || !(await isThere(link))) throw thrown;
  }
}

async function isThere(link: DatabaseConnection): Promise<boolean> {
  const [row] = await link.run(exists, []);
  return row?.[0] === "t";
}

/** A message, and whoever waits for it to be sent. */
interface Outgoing {
  readonly message: string;
  readonly sent: () => void;
  readonly failed: (why: unknown) => void;
}

// A payload has less than 8,000 bytes (PostgreSQL, NOTIFY), of which a character takes up to three for each UTF-16 unit.
const mostBytes = 7999;
const mostUnits = 2666;
// Fifty at once are sent eight times as fast as one by one, and no more is gained beyond.
const mostAtOnce = 50;
// What came and waits for one that is fetched: past it the line is given up, and all of it is missed.
const mostWaiting = 10_000;

const notify = "select pg_notify($1, message) from unnest($2::text[]) message";

/** One connection that listens and notifies. Its statements run one after the other; what is sent meanwhile goes together. */
class PostgresRelayConnection implements RelayConnection {
  readonly #link: DatabaseConnection & { cut(why?: string): void };
  readonly #channel: string;
  readonly #pid: string;
  readonly #listener: RelayListener;
  readonly #outgoing: Outgoing[] = [];
  /** What came, in its order, from the first that is still fetched. */
  readonly #incoming: string[] = [];
  #isRunning = false;
  #isEnded = false;
  #whenIdle = (): void => {};

  constructor(
    link: DatabaseConnection & { cut(why?: string): void },
    channel: string,
    pid: string,
    listener: RelayListener,
  ) {
    this.#link = link;
    this.#channel = channel;
    this.#pid = pid;
    this.#listener = listener;
  }

  send(message: string): Promise<void> {
    return new Promise((sent, failed) => {
      this.#outgoing.push({ message: escaped(message), sent, failed });
      inBackground(this.#run());
    });
  }

  async close(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    this.#isEnded = true;
    await this.#link.shut();
  }

  destroy(): void {
    this.#isEnded = true;
    this.#link.cut();
  }

  /** The connection closed, whoever did it. */
  ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#listener.died(new Error("the connection closed"));
  }

  notified(payload: string): void {
    if (this.#isEnded) return;
    if (this.#incoming.length === 0 && !payload.startsWith("=")) {
      this.#listener.heard(unescaped(payload));
      return;
    }
    if (this.#incoming.push(payload) > mostWaiting) this.#link.cut("more came than could be fetched");
    else inBackground(this.#run());
  }

  /** Sends and fetches until there is nothing to do. */
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
    const next = this.#outgoing.findIndex(({ message }, at) => at === mostAtOnce || isLong(message));
    const batch = this.#outgoing.splice(0, isFirstLong ? 1 : next === -1 ? mostAtOnce : next);
    const messages = batch.map(({ message }) => message);
    try {
      if (isFirstLong) await this.#link.run(keep, [this.#channel, messages[0] ?? ""]);
      else await this.#link.run(notify, [this.#channel, listText(messages)]);
      for (const { sent } of batch) sent();
    } catch (thrown) {
      if (batch.length > 1 && isRefusal(thrown)) await this.#sendEach(batch);
      else for (const { failed } of batch) failed(thrown);
    }
  }

  // One that the server refuses, as its encoding has no such character, keeps no other from being sent.
  async #sendEach(batch: readonly Outgoing[]): Promise<void> {
    for (const { message, sent, failed } of batch) {
      await this.#link.run(notify, [this.#channel, listText([message])]).then(sent, failed);
    }
  }

  /** Tells what came up to the next that is too long, and fetches that. */
  async #fetch(): Promise<void> {
    const [payload = ""] = this.#incoming;
    if (!payload.startsWith("=")) this.#listener.heard(unescaped(payload));
    else await this.#fetchOne(payload.slice(1).split(" "));
    this.#incoming.shift();
  }

  async #fetchOne([id = "", pid]: readonly string[]): Promise<void> {
    if (pid === this.#pid || !/^\d{1,18}$/.test(id)) return;
    try {
      const [row] = await this.#link.run(fetch, [id]);
      const message = row?.[0];
      // One that is there no more is missed, which the next of its sender shows.
      if (typeof message === "string" && !this.#isEnded) this.#listener.heard(unescaped(message));
    } catch {
      // As one that was not there. A connection that is lost says so itself.
    }
  }
}

function isLong(message: string): boolean {
  return message.length > mostUnits && Buffer.byteLength(message) > mostBytes;
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof LinkFailure && thrown.trouble.kind === "refused";
}

function listText(messages: readonly string[]): string {
  return `{${messages.map((message) => `"${message.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

// PostgreSQL's texts hold every character but NUL.
function escaped(message: string): string {
  return /[\0\x01]/.test(message) ? message.replace(/\x01/g, "\x01\x01").replace(/\0/g, "\x01\x02") : message;
}

function unescaped(message: string): string {
  if (!message.includes("\x01")) return message;
  return message.replace(/\x01([\x01\x02])/g, (_, sign) => (sign === "\x01" ? "\x01" : "\0"));
}

// A statement here is over in a moment, or the relay has no use for its connection.
const statementTimeoutMs = "10000";
// A handful of texts.
const statementCache = 8;

/** PostgreSQL as a relay's engine: each text is a notification on the channel. */
function postgresEngine(target: Conninfo, channel: string): RelayEngine {
  return {
    source: "framework.postgres",
    open: (listener) => openLine(target, channel, listener),
    after(ms, act) {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

async function openLine(target: Conninfo, channel: string, listener: RelayListener): Promise<RelayConnection> {
  const own = { application_name: "usher relay", statement_timeout: statementTimeoutMs };
  const options = { parameters: { ...own, ...target.parameters }, statementCache };
  let line: PostgresRelayConnection | undefined;
  const link = await openConnection(target, options, {
    closed: () => line?.ended(),
    notified: (_, payload) => line?.notified(payload),
  });
  // Until it listens nobody hears that it says nothing.
  const boundMs = connectBoundOf(target);
  const timer = boundMs > 0 && setTimeout(() => link.cut(`nothing was listened to within ${boundMs} ms`), boundMs);
  try {
    const [row] = await link.run("select pg_backend_pid()", []);
    await makeTable(link);
    line = new PostgresRelayConnection(link, channel, row?.[0] ?? "", listener);
    await link.run(`listen "${channel.replaceAll('"', '""')}"`, []);
  } catch (thrown) {
    line?.destroy();
    link.cut();
    throw thrown;
  } finally {
    if (timer !== false) clearTimeout(timer);
  }
  // A relay alone is nothing to wait for.
  link.unref();
  return line;
}

// More is cut off where it is listened to, and refused where it is notified (PostgreSQL §4.1.1).
const mostChannelBytes = 63;

/**
 * A relay over PostgreSQL's LISTEN and NOTIFY, on one connection of its own, which does not keep the process running. What
 * is longer than a notification may be is kept in the table `usher_relay` while it is fetched; the table is made where it is
 * not there. The connection is made again when it is lost; what was published meanwhile is missed, which every hub
 * concerned is told: it ends its subscriptions, so that nobody goes on with a gap.
 *
 * It needs a session of its own for as long as it lives: the server itself, or a pooler that pools by the session.
 *
 * ```ts
 * const hub = Broadcast.create<typeof Placed>({ relay: await relay("postgres://app@db/orders", { channel: "orders" }) });
 * ```
 *
 * @param options `channel` is the hub's own, at most 63 bytes: what else is notified there is passed over.
 * @throws DatabaseError where the database cannot be reached now, or gives the role no such table.
 */
export async function relay(target: string | Conninfo, { channel }: { readonly channel: string }): Promise<OpenRelay> {
  const bytes = Buffer.byteLength(channel);
  if (bytes === 0 || bytes > mostChannelBytes || channel.includes("\0"))
    throw new RangeError(`relay: a channel's name has 1 to ${mostChannelBytes} bytes, and no NUL`);
  const info = typeof target === "string" ? parse(target) : target;
  try {
    return await relayOver(postgresEngine(info, channel));
  } catch (thrown) {
    if (!(thrown instanceof LinkFailure)) throw thrown;
    const { trouble } = thrown;
    if (trouble.kind !== "refused") throw new DatabaseError({ kind: "unsent", detail: trouble.why });
    const detail = `the relay could not listen, or make its table usher_relay: ${trouble.severity} ${trouble.code}`;
    throw new DatabaseError({ kind: "db", code: trouble.code, detail });
  }
}
