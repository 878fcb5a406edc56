/** Something that a stopping server may have to end. */
export interface Cuttable {
  cut(): void;
}

/** What is under way: a ring, from which one is taken as quickly as it is put in, and which keeps nothing of it. */
export class InFlight<C extends Cuttable> {
  readonly #ends: Entry<C> = new Entry<C>(undefined);
  size = 0;

  add(cuttable: C): Entry<C> {
    const entry = new Entry<C>(cuttable);
    entry.putBefore(this.#ends);
    this.size++;
    return entry;
  }

  remove(entry: Entry<C>): void {
    if (entry.takeOut()) this.size--;
  }

  some(isIt: (cuttable: C) => boolean): boolean {
    for (let at = this.#ends.next; at.cuttable !== undefined; at = at.next) if (isIt(at.cuttable)) return true;
    return false;
  }

  cutAll(): void {
    for (let at = this.#ends.next; at.cuttable !== undefined; at = this.#ends.next) {
      this.remove(at);
      at.cuttable.cut();
    }
  }
}

/** One that is under way; without anything, the place where the ring begins and ends. */
export class Entry<C> {
  readonly cuttable: C | undefined;
  next: Entry<C> = this;
  #before: Entry<C> = this;

  constructor(cuttable: C | undefined) {
    this.cuttable = cuttable;
  }

  putBefore(next: Entry<C>): void {
    this.next = next;
    this.#before = next.#before;
    next.#before.next = this;
    next.#before = this;
  }

  /** Whether it was in a ring. */
  takeOut(): boolean {
    if (this.next === this) return false;
    this.#before.next = this.next;
    this.next.#before = this.#before;
    this.next = this;
    this.#before = this;
    return true;
  }
}
