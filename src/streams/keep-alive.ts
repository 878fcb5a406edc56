/** A bound to how long something stays quiet, until it is ended. */
export interface KeptAlive {
  /** It was heard of just now. */
  heard(): void;
  end(): void;
}

/** Calls `onQuiet` whenever it was not heard of for that long; the call itself counts as being heard of. */
export function keepAlive(ms: number, onQuiet: () => void): KeptAlive {
  let waits = all.get(ms);
  if (waits === undefined) {
    waits = new Waits(ms);
    all.set(ms, waits);
  }
  return new Wait(waits, onQuiet);
}

const all = new Map<number, Waits>();

/**
 * Every wait of one length, as a ring that begins and ends here, by one timer: the one heard of last stands last, so the
 * first is the next to be due. A timer of its own would have to be set anew with every event of a stream.
 */
class Waits {
  readonly #ms: number;
  readonly #ring: Link = new Link();
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  putLast(wait: Wait): void {
    wait.heardAt = performance.now();
    wait.putBefore(this.#ring);
    this.#timer ??= setTimeout(this.#look, this.#ms);
  }

  /** A timer that nothing waits for would keep a process from its end. */
  forgetIfEmpty(): void {
    if (this.#ring.next !== this.#ring) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    all.delete(this.#ms);
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (let first = this.#ring.next; first instanceof Wait; first = this.#ring.next) {
      const leftMs = first.heardAt + this.#ms - now;
      // A timer may be a fraction of a millisecond early.
      if (leftMs >= 1) {
        this.#timer ??= setTimeout(this.#look, leftMs);
        return;
      }
      first.heard();
      first.onQuiet();
    }
  };
}

/** A place in a ring; alone, it is a ring of its own. */
class Link {
  next: Link = this;
  #before: Link = this;

  putBefore(next: Link): void {
    this.next = next;
    this.#before = next.#before;
    next.#before.next = this;
    next.#before = this;
  }

  takeOut(): void {
    this.#before.next = this.next;
    this.next.#before = this.#before;
    this.next = this;
    this.#before = this;
  }
}

class Wait extends Link implements KeptAlive {
  /** On the monotonic clock. */
  heardAt = 0;
  readonly onQuiet: () => void;
  readonly #waits: Waits;

  constructor(waits: Waits, onQuiet: () => void) {
    super();
    this.#waits = waits;
    this.onQuiet = onQuiet;
    waits.putLast(this);
  }

  heard(): void {
    this.takeOut();
    this.#waits.putLast(this);
  }

  end(): void {
    this.takeOut();
    this.#waits.forgetIfEmpty();
  }
}
