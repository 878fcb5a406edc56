import { needsOptions } from "../arguments.ts";
import { encodeBase64url, encodeHex } from "../http/bytes.ts";
import { FairStore } from "../fair-store.ts";
import type { Caller } from "../fair-store.ts";

/** 128 random bits in base64url, which cannot be guessed. */
export function freshSessionId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Whether a text can be an id. The store is not asked for any other text. */
export function isSessionId(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9_-]{22}$/.test(text);
}

/** The key of a session in a store: the SHA-256 of its id, in lower-case hexadecimal digits. */
export async function digestOf(id: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id)));
  return encodeHex(digest);
}

/** A session whose data can be changed. */
export interface Amendable<in out A> {
  readonly data: A;
  update(data: A): Promise<void>;
  /** For the framework: of a session of `Sessions.make`. */
  amend?(change: (data: A) => A): Promise<void>;
}

/**
 * Changes the data of a session: other requests may have changed it since this one read it. Nothing is stored where `change` gives the
 * same data.
 */
export async function amend<A>(session: Amendable<A>, change: (data: A) => A): Promise<void> {
  if (session.amend === undefined) await session.update(change(session.data));
  else await session.amend(change);
}

/** A stored session. */
export interface SessionEntry {
  /** The application's data, as JSON. */
  readonly data: string;
  /** When the session was started or renewed. */
  readonly createdAt: Date;
  /** When it was last used, precise to a tenth of the idle limit. */
  readonly seenAt: Date;
  /** The session is invalid from this instant on. */
  readonly expiresAt: Date;
}

/**
 * Why an entry is saved. `"started"` adds a new one. `"updated"` changes the data and `seenAt` of an existing one, and
 * `"seen"` only `seenAt`. Both must not bring back a session that was closed in the meantime.
 */
export type SessionChange = "started" | "updated" | "seen";

/**
 * Stores sessions by the digest of their id, so a leaked store opens no session. An error that a method throws is answered
 * like any error of the application.
 */
export interface SessionStore {
  /** The entry of a digest; undefined if there is none. */
  find(digest: string): Promise<SessionEntry | undefined>;
  /**
   * Stores an entry, new or changed. `change` names what changed. `caller` is whose share of a bounded store a started one takes; a
   * database needs none.
   */
  save(digest: string, entry: SessionEntry, change: SessionChange, caller?: Caller): Promise<void>;
  /**
   * Renews a session: moves the entry of `digest` to `next`, with the times of `entry`. As for `"seen"`, the stored data
   * stays.
   *
   * The move must be atomic: of several concurrent calls that replace or delete one digest, exactly one finds the entry.
   * Otherwise a renewal could undo a sign-out, and two renewals could make two sessions. A store without an atomic move
   * removes the entry atomically, and adds `next` only if it removed one: `GETDEL` and `SET` in Redis.
   *
   * An older store without this method works: `Session.renew` calls `find`, `save` and `delete`. A sign-out between the
   * first and the last of them is undone; one log line at `warn` reports this.
   *
   * @returns Whether the entry existed. Otherwise nothing is changed.
   */
  replace(digest: string, next: string, entry: SessionEntry): Promise<boolean>;
  /** Deletes an entry; without effect if there is none. */
  delete(digest: string): Promise<void>;
  /** Deletes expired sessions. Returns their number. */
  sweep(now: Date): Promise<number>;
}

/** The size of a store in memory. */
export interface MemoryOptions {
  /** Sessions: 100,000 by default. Beyond that, the least recently used one is dropped of the client network that started the most. */
  readonly most?: number;
}

/** The number of sessions started between two sweeps. A sweep looks at twice as many. */
const sweepEvery = 1000;

/** Keeps sessions in memory, for a server of one process; they end with it. */
export function memory(options: MemoryOptions = {}): SessionStore {
  needsOptions("Sessions.memory", options, "most");
  const { most = 100_000 } = options;
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new Error(`Sessions.memory: most must be a whole number, 1 or more, not ${most}`);
  }
  return new MemorySessionStore(most);
}

class MemorySessionStore implements SessionStore {
  readonly #most: number;
  /** The least recently used first. */
  readonly #entries = new FairStore<SessionEntry>();
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async find(digest: string): Promise<SessionEntry | undefined> {
    return this.#entries.get(digest);
  }

  async save(digest: string, entry: SessionEntry, change: SessionChange, caller?: Caller): Promise<void> {
    const kept = this.#entries.get(digest);
    if (change !== "started" && kept === undefined) return;
    const saved = change === "seen" && kept !== undefined ? { ...entry, data: kept.data } : entry;
    this.#entries.set(digest, saved, () => caller?.network);
    if (change === "started") this.#started(digest, entry.seenAt);
  }

  async replace(digest: string, next: string, entry: SessionEntry): Promise<boolean> {
    const kept = this.#entries.get(digest);
    if (kept === undefined) return false;
    this.#entries.rename(digest, next, { ...entry, data: kept.data });
    return true;
  }

  async delete(digest: string): Promise<void> {
    this.#entries.delete(digest);
  }

  async sweep(now: Date): Promise<number> {
    return this.#sweep(now, this.#entries.size);
  }

  #started(digest: string, now: Date): void {
    if (++this.#count % sweepEvery === 0) this.#sweep(now, 2 * sweepEvery);
    if (this.#entries.size > this.#most) this.#entries.evict(digest);
  }

  #sweep(now: Date, steps: number): number {
    return this.#entries.sweep(steps, ({ expiresAt }) => expiresAt <= now);
  }
}
