/**
 * Values by key, ordered by when each was last set. Every call takes a constant number of steps. A `Map` keeps such an order
 * too, but a fresh iterator walks over the deleted entries before the first one: 26 to 43 µs in V8 for a `Map` of 100,000.
 * An iterator that is kept holds every table that the `Map` has had.
 */
export class OldestFirst<V> {
  readonly #entries = new Map<string, QueueEntry<V>>();
  #oldest: QueueEntry<V> | undefined;
  #newest: QueueEntry<V> | undefined;
  /** The entry at which `sweep` continues; undefined means the oldest. */
  #next: QueueEntry<V> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  /** The value of the oldest entry; undefined where there are no entries. */
  get oldest(): V | undefined {
    return this.#oldest?.value;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Keeps a value as the newest. Returns whether its key is new. */
  set(key: string, value: V): boolean {
    const known = this.#entries.get(key);
    if (known === undefined) {
      const entry: QueueEntry<V> = { key, value, older: undefined, newer: undefined };
      this.#entries.set(key, entry);
      this.#append(entry);
      return true;
    }
    known.value = value;
    this.#unlink(known);
    this.#append(known);
    return false;
  }

  /** Returns whether the key was present. */
  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#unlink(entry);
    return true;
  }

  /** Deletes the oldest entry and returns its key; undefined where there are no entries. */
  deleteOldest(): string | undefined {
    const oldest = this.#oldest;
    if (oldest === undefined) return undefined;
    this.#entries.delete(oldest.key);
    this.#unlink(oldest);
    return oldest.key;
  }

  /**
   * Looks at the next `steps` entries, round and round, and deletes those that have expired. Every entry gets its turn if
   * `steps` is larger than the number of entries set between two calls.
   *
   * @param onDelete Called with each deleted key.
   */
  sweep(steps: number, hasExpired: (value: V) => boolean, onDelete?: (key: string) => void): number {
    let deleted = 0;
    for (let left = Math.min(steps, this.size); left > 0; left--) {
      const entry: QueueEntry<V> | undefined = this.#next ?? this.#oldest;
      if (entry === undefined) break;
      this.#next = entry.newer;
      if (!hasExpired(entry.value)) continue;
      this.delete(entry.key);
      onDelete?.(entry.key);
      deleted++;
    }
    return deleted;
  }

  #append(entry: QueueEntry<V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: QueueEntry<V>): void {
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (this.#next === entry) this.#next = newer;
  }
}

interface QueueEntry<V> {
  readonly key: string;
  value: V;
  older: QueueEntry<V> | undefined;
  newer: QueueEntry<V> | undefined;
}
