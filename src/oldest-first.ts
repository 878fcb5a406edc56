/**
 * Values by key, in the order in which they were set last. Every call takes a constant number of steps. A `Map` keeps such an
 * order too, but a fresh iterator of one walks what was deleted before the first entry: V8 takes 26 to 43 µs for that in a
 * `Map` of 100,000, and an iterator that is kept keeps every table that the `Map` has had.
 */
export class OldestFirst<V> {
  readonly #entries = new Map<string, QueueEntry<V>>();
  #oldest: QueueEntry<V> | undefined;
  #newest: QueueEntry<V> | undefined;
  /** The entry that `sweep` looks at next; where there is none, it begins with the oldest. */
  #next: QueueEntry<V> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Keeps a value as the newest, and answers whether its key is new. */
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

  /** Answers whether it was there. */
  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#unlink(entry);
    return true;
  }

  /** Deletes the oldest, and answers its key; undefined where there is none. */
  deleteOldest(): string | undefined {
    const oldest = this.#oldest;
    if (oldest === undefined) return undefined;
    this.#entries.delete(oldest.key);
    this.#unlink(oldest);
    return oldest.key;
  }

  /**
   * Looks at so many of the next entries, round and round, and deletes those that have expired. Where it looks at more than
   * are set in between, every entry's turn comes.
   *
   * @param onDelete Called with each key that is deleted.
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
