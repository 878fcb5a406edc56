import { OldestFirst } from "./oldest-first.ts";

/** Whose share of a store an entry takes: the network of its client, by whose address it is known. */
export interface Caller {
  readonly network: string | undefined;
}

interface FairEntry<V> {
  readonly key: string;
  readonly owner: Owner<V>;
  value: V;
  weight: number;
  /** When it was set last, by a counter. */
  age: number;
  older: FairEntry<V> | undefined;
  newer: FairEntry<V> | undefined;
}

/** The entries of one caller. */
class Owner<V> {
  readonly name: string;
  weight = 0;
  oldest: FairEntry<V> | undefined = undefined;
  newest: FairEntry<V> | undefined = undefined;
  /** Its index in the heap. */
  at = -1;

  constructor(name: string) {
    this.name = name;
  }

  append(entry: FairEntry<V>): void {
    this.weight += entry.weight;
    entry.older = this.newest;
    entry.newer = undefined;
    if (this.newest === undefined) this.oldest = entry;
    else this.newest.newer = entry;
    this.newest = entry;
  }

  remove(entry: FairEntry<V>): void {
    this.weight -= entry.weight;
    const { older, newer } = entry;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.newest = older;
    else newer.older = older;
  }
}

/**
 * A store that is bounded in total and by caller: where it is full, the caller that holds the most loses its oldest entry. So a
 * flood of one caller pushes out its own entries, and none of a caller that holds less. A caller that is alone may fill the store.
 * Every call takes at most a logarithmic number of steps, except the first eviction of a store that has grown.
 */
export class FairStore<V> {
  /** All entries, for a sweep. */
  readonly #entries = new OldestFirst<FairEntry<V>>();
  readonly #owners = new Map<string, Owner<V>>();
  /** Made by the first eviction: most stores are never full. */
  #heap: OwnerHeap<V> | undefined = undefined;
  #weight = 0;
  #age = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** The weights of all entries, added up. */
  get weight(): number {
    return this.#weight;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** How many callers have entries. */
  get owners(): number {
    return this.#owners.size;
  }

  /**
   * Keeps a value as the newest. Returns whether its key is new.
   *
   * @param owner Called for a new key alone: one that is known stays with its caller.
   */
  set(key: string, value: V, owner: () => string | undefined, weight = 1): boolean {
    const known = this.#entries.get(key);
    const entry = known ?? this.#made(key, value, owner() ?? "");
    if (known !== undefined) this.#detach(known);
    entry.value = value;
    entry.weight = weight;
    entry.age = ++this.#age;
    this.#entries.set(key, entry);
    entry.owner.append(entry);
    this.#weight += weight;
    this.#heap?.moved(entry.owner);
    return known === undefined;
  }

  /** Gives an entry another key and value, as the newest. It stays with its caller. */
  rename(key: string, next: string, value: V): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const { name } = entry.owner;
    this.set(next, value, () => name, entry.weight);
    this.delete(key);
  }

  /** Returns whether the key was present. */
  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#forget(entry);
    return true;
  }

  /**
   * Deletes the oldest entry of the caller that holds the most; of several such callers, the oldest one of all. Returns its key;
   * undefined where there is none.
   *
   * @param kept A key that is not deleted, as that of an entry that was just set.
   */
  evict(kept?: string): string | undefined {
    this.#heap ??= new OwnerHeap(this.#owners.values());
    const heap = this.#heap;
    const [first, second] = heap.largest();
    let entry = first?.oldest;
    if (entry !== undefined && entry.key === kept) entry = entry.newer ?? second?.oldest;
    if (entry === undefined) return undefined;
    this.delete(entry.key);
    return entry.key;
  }

  /** As `sweep` of {@link OldestFirst}. */
  sweep(steps: number, hasExpired: (value: V) => boolean): number {
    return this.#entries.sweep(steps, (entry) => {
      const isOver = hasExpired(entry.value);
      if (isOver) this.#forget(entry);
      return isOver;
    });
  }

  #made(key: string, value: V, name: string): FairEntry<V> {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      this.#owners.set(name, (owner = new Owner(name)));
      this.#heap?.add(owner);
    }
    return { key, value, owner, weight: 0, age: 0, older: undefined, newer: undefined };
  }

  #detach(entry: FairEntry<V>): void {
    entry.owner.remove(entry);
    this.#weight -= entry.weight;
  }

  #forget(entry: FairEntry<V>): void {
    this.#detach(entry);
    const { owner } = entry;
    if (owner.oldest === undefined) {
      this.#owners.delete(owner.name);
      this.#heap?.remove(owner);
    } else {
      this.#heap?.moved(owner);
    }
    if (this.#entries.size === 0) this.#heap = undefined;
  }
}

/** Whether the first of two callers loses an entry before the second. */
function isBefore<V>(one: Owner<V>, other: Owner<V>): boolean {
  if (one.weight !== other.weight) return one.weight > other.weight;
  return (one.oldest?.age ?? 0) < (other.oldest?.age ?? 0);
}

/** A binary heap, whose first caller is the next to lose an entry. */
class OwnerHeap<V> {
  readonly #owners: Owner<V>[] = [];

  constructor(owners: Iterable<Owner<V>>) {
    for (const owner of owners) this.add(owner);
  }

  /** The first two. */
  largest(): readonly [Owner<V> | undefined, Owner<V> | undefined] {
    const [first, one, other] = this.#owners;
    return [first, one !== undefined && other !== undefined && isBefore(other, one) ? other : one];
  }

  add(owner: Owner<V>): void {
    owner.at = this.#owners.push(owner) - 1;
    this.#up(owner);
  }

  remove(owner: Owner<V>): void {
    const last = this.#owners.pop();
    if (last === undefined || last === owner) return;
    this.#place(last, owner.at);
    this.moved(last);
  }

  /** What it holds has changed. */
  moved(owner: Owner<V>): void {
    this.#up(owner);
    this.#down(owner);
  }

  #up(owner: Owner<V>): void {
    while (owner.at > 0) {
      const parent = this.#owners[(owner.at - 1) >> 1] as Owner<V>;
      if (!isBefore(owner, parent)) return;
      this.#swap(owner, parent);
    }
  }

  #down(owner: Owner<V>): void {
    for (;;) {
      const one = this.#owners[2 * owner.at + 1];
      const other = this.#owners[2 * owner.at + 2];
      const child = one !== undefined && other !== undefined && isBefore(other, one) ? other : one;
      if (child === undefined || !isBefore(child, owner)) return;
      this.#swap(child, owner);
    }
  }

  #swap(one: Owner<V>, other: Owner<V>): void {
    const { at } = one;
    this.#place(one, other.at);
    this.#place(other, at);
  }

  #place(owner: Owner<V>, at: number): void {
    owner.at = at;
    this.#owners[at] = owner;
  }
}

/** The most that one caller may hold of what cannot be evicted: an eighth, and 100 of a store that is small. */
export function shareOf(most: number): number {
  return Math.min(most, Math.max(100, Math.floor(most / 8)));
}

/** Amounts that are taken and given back, bounded in total and for each caller. */
export class CallerBudget {
  readonly #total: number;
  readonly #share: number;
  readonly #amounts = new Map<string, number>();
  #taken = 0;

  constructor(total: number, share: number) {
    this.#total = total;
    this.#share = share;
  }

  /** Takes an amount. False if there is no room for it. */
  take(caller: string, amount: number): boolean {
    const held = (this.#amounts.get(caller) ?? 0) + amount;
    if (held > this.#share || this.#taken + amount > this.#total) return false;
    this.#amounts.set(caller, held);
    this.#taken += amount;
    return true;
  }

  give(caller: string, amount: number): void {
    this.#taken -= amount;
    const left = (this.#amounts.get(caller) ?? 0) - amount;
    if (left > 0) this.#amounts.set(caller, left);
    else this.#amounts.delete(caller);
  }
}
