import { encodeBase64url } from "../http/bytes.ts";
import { OldestFirst } from "../oldest-first.ts";

/** 128 random bits, in base64url: nobody guesses one. */
export function freshSessionId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Whether a text can be an id at all: what can be none is not looked for. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9_-]{22}$/.test(text);
}

/** What a store knows an id by: the SHA-256 of its text, in lower-case hexadecimal digits. */
export async function digestOf(id: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A session as its store keeps it. */
export interface SessionEntry {
  /** The application's data, as JSON. */
  readonly data: string;
  readonly createdAt: Date;
  /** When it was last used, to a tenth of how long it may be left alone. */
  readonly seenAt: Date;
  /** From then on it is nobody's. */
  readonly expiresAt: Date;
}

/**
 * Why an entry is saved. `"started"` is a new one. Of one that is kept, `"updated"` changes its data and when it was seen,
 * and `"seen"` the latter alone; both leave a session alone that was closed in the meantime, which must not come back.
 */
export type SessionChange = "started" | "updated" | "seen";

/**
 * Where sessions are kept, by the digest of their id: what is read from the store opens nobody's session. What it raises
 * is answered as any failure of the application is.
 */
export interface SessionStore {
  find(digest: string): Promise<SessionEntry | undefined>;
  save(digest: string, entry: SessionEntry, change: SessionChange): Promise<void>;
  /**
   * Renews a session: moves the entry of `digest` to `next`, with the times of `entry`. As for `"seen"`, the data stays what
   * the store has.
   *
   * It is one step of the store's: of several calls at once that replace or delete one digest, exactly one finds the entry.
   * Otherwise a sign-out could be undone by a renewal, and two renewals would make two sessions. A store that cannot move an
   * entry in one step takes it out in one, and adds `next` only where it got it: `GETDEL` and `SET` in Redis.
   *
   * A store of the older form, without this method, works: `Session.renew` calls `find`, `save` and `delete`, and a sign-out
   * between the first and the last of them is undone. A line at `warn` says so, once.
   *
   * @returns Whether the entry was there. Where it was not, nothing is changed.
   */
  replace(digest: string, next: string, entry: SessionEntry): Promise<boolean>;
  delete(digest: string): Promise<void>;
  /** Deletes what has expired, and answers how many that were. */
  sweep(now: Date): Promise<number>;
}

/** How much a store in memory holds. */
export interface MemoryOptions {
  /** Sessions: 100,000 unless set. Past that, the one that was left alone for longest is given up. */
  readonly most?: number;
}

/** After so many that were started, twice as many are looked at, for whether they have expired. */
const sweepEvery = 1000;

/** Keeps sessions in memory, for a server that is one process; they end with it. */
export function memory({ most = 100_000 }: MemoryOptions = {}): SessionStore {
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new Error(`Sessions.memory: most is a whole number, 1 or more, and not ${most}`);
  }
  return new MemorySessionStore(most);
}

class MemorySessionStore implements SessionStore {
  readonly #most: number;
  /** The one that was left alone for longest first. */
  readonly #entries = new OldestFirst<SessionEntry>();
  #started = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async find(digest: string): Promise<SessionEntry | undefined> {
    return this.#entries.get(digest);
  }

  async save(digest: string, entry: SessionEntry, change: SessionChange): Promise<void> {
    const kept = this.#entries.get(digest);
    if (change === "started") this.#start(entry.seenAt);
    else if (kept === undefined) return;
    this.#entries.set(digest, change === "seen" && kept !== undefined ? { ...entry, data: kept.data } : entry);
  }

  async replace(digest: string, next: string, entry: SessionEntry): Promise<boolean> {
    const kept = this.#entries.get(digest);
    if (kept === undefined) return false;
    this.#entries.delete(digest);
    this.#entries.set(next, { ...entry, data: kept.data });
    return true;
  }

  async delete(digest: string): Promise<void> {
    this.#entries.delete(digest);
  }

  async sweep(now: Date): Promise<number> {
    return this.#sweep(now, this.#entries.size);
  }

  #start(now: Date): void {
    if (++this.#started % sweepEvery === 0) this.#sweep(now, 2 * sweepEvery);
    if (this.#entries.size >= this.#most) this.#entries.deleteOldest();
  }

  #sweep(now: Date, steps: number): number {
    return this.#entries.sweep(steps, ({ expiresAt }) => expiresAt <= now);
  }
}
