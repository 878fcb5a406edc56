import { needsCount, needsOptions } from "../arguments.ts";
import { shareOf } from "../fair-store.ts";

/** A key as it is stored: all but the key itself. */
export interface ApiKeyEntry {
  /** Its id, for a page that lists and revokes keys. It is no secret. */
  readonly id: string;
  /** SHA-256 of the key, in lower-case hexadecimal digits. */
  readonly digest: string;
  /** The account that it acts for. */
  readonly owner: string;
  /** What its owner calls it. */
  readonly name: string;
  /** What it allows. */
  readonly scopes: readonly string[];
  /** When it was made. */
  readonly createdAt: Date;
  /** It is invalid from this instant on; undefined for one that does not expire. */
  readonly expiresAt: Date | undefined;
  /** When it was last used, to `usedEveryMs`; undefined before that. */
  readonly usedAt: Date | undefined;
}

/** Stores keys by their digest, so that a leaked store has no key. An error that a method throws is answered like any of the application. */
export interface ApiKeyStore {
  /** Stores a new key. */
  add(entry: ApiKeyEntry): Promise<void>;
  /** The key of a digest; undefined if there is none. One that has expired is given too. */
  find(digest: string): Promise<ApiKeyEntry | undefined>;
  /** The key of an id; undefined if there is none. */
  get(id: string): Promise<ApiKeyEntry | undefined>;
  /** The keys of an owner, the newest first. */
  list(owner: string): Promise<readonly ApiKeyEntry[]>;
  /** Makes a key expire at that instant, or earlier where it does already. It must not be later than before. Returns whether there is one. */
  expire(id: string, at: Date): Promise<boolean>;
  /** Stores when a key was used, unless a later use is stored. */
  used(id: string, at: Date): Promise<void>;
  /** Deletes the keys that have expired by then. Returns their number. */
  sweep(before: Date): Promise<number>;
}

/**
 * Keeps keys in memory, for tests and servers of one process: they end with it.
 *
 * @param options `most` is 10,000 keys by default. One owner may have an eighth of them, or 100 if that is more; a further key is an error.
 */
export function memory(options: { readonly most?: number } = {}): ApiKeyStore {
  needsOptions("ApiKeys.memory", options, "most");
  const { most = 10_000 } = options;
  needsCount("ApiKeys.memory: most", most);
  return new MemoryApiKeyStore(most);
}

/** One key, under its id and under its digest. */
interface KeptKey {
  entry: ApiKeyEntry;
}

// It stores and returns copies, like a database: a handler that changes a `Date` of its key must not change when the key expires.
class MemoryApiKeyStore implements ApiKeyStore {
  readonly #most: number;
  readonly #byId = new Map<string, KeptKey>();
  readonly #byDigest = new Map<string, KeptKey>();
  /** How many keys each owner has. */
  readonly #owned = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  async add(entry: ApiKeyEntry): Promise<void> {
    if (this.#byId.size >= this.#most) throw new Error(`ApiKeys.memory: there are ${this.#most} keys, and no more fit`);
    const owned = this.#owned.get(entry.owner) ?? 0;
    if (owned >= shareOf(this.#most)) throw new Error(`ApiKeys.memory: one owner has ${owned} keys, and no more fit`);
    this.#owned.set(entry.owner, owned + 1);
    const kept = { entry: structuredClone(entry) };
    this.#byId.set(entry.id, kept);
    this.#byDigest.set(entry.digest, kept);
  }

  async find(digest: string): Promise<ApiKeyEntry | undefined> {
    return structuredClone(this.#byDigest.get(digest)?.entry);
  }

  async get(id: string): Promise<ApiKeyEntry | undefined> {
    return structuredClone(this.#byId.get(id)?.entry);
  }

  async list(owner: string): Promise<readonly ApiKeyEntry[]> {
    const found = [...this.#byId.values()].map(({ entry }) => entry).filter((entry) => entry.owner === owner);
    return structuredClone(found.toReversed().toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime()));
  }

  async expire(id: string, at: Date): Promise<boolean> {
    const kept = this.#byId.get(id);
    if (kept === undefined) return false;
    const { expiresAt } = kept.entry;
    if (expiresAt === undefined || expiresAt > at) kept.entry = { ...kept.entry, expiresAt: new Date(at) };
    return true;
  }

  async used(id: string, at: Date): Promise<void> {
    const kept = this.#byId.get(id);
    if (kept === undefined || (kept.entry.usedAt !== undefined && kept.entry.usedAt > at)) return;
    kept.entry = { ...kept.entry, usedAt: new Date(at) };
  }

  async sweep(before: Date): Promise<number> {
    let deleted = 0;
    for (const { entry } of this.#byId.values()) {
      const { id, digest, expiresAt, owner } = entry;
      if (expiresAt === undefined || expiresAt > before) continue;
      this.#byId.delete(id);
      this.#byDigest.delete(digest);
      const left = (this.#owned.get(owner) ?? 0) - 1;
      if (left > 0) this.#owned.set(owner, left);
      else this.#owned.delete(owner);
      deleted++;
    }
    return deleted;
  }
}
