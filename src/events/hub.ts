import type { Event } from "./event.ts";

/** Delivers events to whoever subscribed to their topic. It never waits for a subscriber. */
export interface Hub<K, Tag> {
  /** Listed by its tag until it ends. */
  subscribe(topic: string, tag: Tag): Subscription<K>;
  /** Hands the event, encoded when it was made, to every subscriber of the topic. */
  publish(topic: string, event: Event<K>): void;
  /** The tags of a topic's live subscriptions, the newest first. */
  subscribers(topic: string): readonly Tag[];
  /** The topics that have a live subscription. */
  topics(): readonly string[];
  /** Ends every subscription; what was queued for one is still told. */
  close(): void;
}

/** One subscriber's place in a topic: what was published since it last asked, up to the hub's depth. */
export class Subscription<K> implements AsyncIterable<Event<K>> {
  readonly #depth: number;
  readonly #leave: () => void;
  readonly #queued: Event<K>[] = [];
  /** Who waits, the first of them by itself: mostly it is the only one. */
  #first: ((event: Event<K> | undefined) => void) | undefined = undefined;
  #others: ((event: Event<K> | undefined) => void)[] | undefined = undefined;
  #isOver = false;
  /** Listened to once, however often it is given; any others by themselves, as above. */
  #until: AbortSignal | undefined = undefined;
  #otherUntils: Set<AbortSignal> | undefined = undefined;

  /** @param leave Takes it out of its topic; called once. */
  constructor(depth: number, leave: () => void) {
    this.#depth = depth;
    this.#leave = leave;
  }

  /**
   * The next event; undefined once the subscription ended: dropped, unsubscribed, its hub closed, events of other
   * processes missed, or `until` aborted, which is not waited out by what is queued.
   */
  next(options: { readonly until?: AbortSignal } = {}): Promise<Event<K> | undefined> {
    if (options.until !== undefined && this.#isAborted(options.until)) return Promise.resolve(undefined);
    if (this.#queued.length > 0) return Promise.resolve(this.#queued.shift());
    if (this.#isOver) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      if (this.#first === undefined) this.#first = resolve;
      else (this.#others ??= []).push(resolve);
    });
  }

  /** Leaves the topic. What was queued is still told. */
  unsubscribe(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#until?.removeEventListener("abort", this.#onAbort);
    for (const until of this.#otherUntils ?? []) until.removeEventListener("abort", this.#onAbort);
    this.#leave();
    for (let resolve = this.#waiter(); resolve !== undefined; resolve = this.#waiter()) resolve(undefined);
  }

  /** Leaving the loop unsubscribes. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event<K>, void, undefined> {
    try {
      for (let event = await this.next(); event !== undefined; event = await this.next()) yield event;
    } finally {
      this.unsubscribe();
    }
  }

  /** For the hub: hands it an event. One that is too far behind is dropped. */
  deliver(event: Event<K>): void {
    const resolve = this.#waiter();
    if (resolve !== undefined) resolve(event);
    else if (this.#queued.length < this.#depth) this.#queued.push(event);
    else this.unsubscribe();
  }

  /** Takes out who waited longest. */
  #waiter(): ((event: Event<K> | undefined) => void) | undefined {
    const first = this.#first;
    this.#first = this.#others?.shift();
    return first;
  }

  #isAborted(until: AbortSignal): boolean {
    if (until.aborted) this.unsubscribe();
    else if (until !== this.#until && !this.#isOver) this.#listen(until);
    return until.aborted;
  }

  #listen(until: AbortSignal): void {
    if (this.#until === undefined) this.#until = until;
    else (this.#otherUntils ??= new Set()).add(until);
    // Twice it is heard once.
    until.addEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.unsubscribe();
}
