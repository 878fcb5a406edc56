import { Queue } from "../queue.ts";
import type { Event } from "./event.ts";

/** Delivers events to the subscribers of their topic. It never waits for a subscriber. */
export interface Hub<K, Tag = void> {
  /** Subscribes to a topic. `subscribers` lists the tag until the subscription ends. */
  subscribe(topic: string, tag: Tag): Subscription<K>;
  /** Delivers the event to every subscriber of the topic. */
  publish(topic: string, event: Event<K>): void;
  /** The tags of a topic's live subscriptions, newest first. */
  subscribers(topic: string): readonly Tag[];
  /** The topics that have a live subscription. */
  topics(): readonly string[];
  /** Ends every subscription. Queued events are still delivered. */
  close(): void;
}

/** One subscription to a topic. It queues events up to the hub's depth. */
export class Subscription<K> implements AsyncIterable<Event<K>> {
  readonly #depth: number;
  readonly #behind: "drop" | "skip";
  readonly #leave: () => void;
  readonly #queued = new Queue<Event<K>>();
  /** The waiting `next()`. There is rarely more than one, so the others have a list of their own. */
  #first: ((event: Event<K> | undefined) => void) | undefined = undefined;
  #others: ((event: Event<K> | undefined) => void)[] | undefined = undefined;
  #isOver = false;
  /** The signal that has a listener; others likewise in a set. */
  #until: AbortSignal | undefined = undefined;
  #otherUntils: Set<AbortSignal> | undefined = undefined;

  /** @param leave Removes it from its topic; called once. */
  constructor(depth: number, behind: "drop" | "skip", leave: () => void) {
    this.#depth = depth;
    this.#behind = behind;
    this.#leave = leave;
  }

  /**
   * Resolves with the next event, or with undefined once the subscription has ended: it was dropped or unsubscribed, its hub
   * closed, events of other processes were missed, or `until` aborted. An abort also discards the queue.
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

  /** Leaves the topic. Queued events are still delivered. */
  unsubscribe(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopListening();
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

  /** For the hub. False where the subscription is too far behind, and is dropped. */
  deliver(event: Event<K>): boolean {
    const resolve = this.#waiter();
    if (resolve !== undefined) {
      resolve(event);
      return true;
    }
    if (this.#queued.length === this.#depth) {
      if (this.#behind === "drop") {
        this.unsubscribe();
        return false;
      }
      this.#queued.shift();
    }
    this.#queued.push(event);
    return true;
  }

  /** Removes and returns the `next()` that has waited longest. */
  #waiter(): ((event: Event<K> | undefined) => void) | undefined {
    const first = this.#first;
    this.#first = this.#others?.shift();
    return first;
  }

  #isAborted(until: AbortSignal): boolean {
    if (until.aborted) this.#onAbort();
    else if (until !== this.#until && !this.#isOver) this.#listen(until);
    return until.aborted;
  }

  #listen(until: AbortSignal): void {
    // With a signal of its own for each call, those of the calls before would stay until the end.
    if (this.#first === undefined) this.#stopListening();
    if (this.#until === undefined) this.#until = until;
    else (this.#otherUntils ??= new Set()).add(until);
    // Adding the same listener twice has no effect.
    until.addEventListener("abort", this.#onAbort);
  }

  #stopListening(): void {
    this.#until?.removeEventListener("abort", this.#onAbort);
    for (const until of this.#otherUntils ?? []) until.removeEventListener("abort", this.#onAbort);
    this.#until = undefined;
    this.#otherUntils = undefined;
  }

  readonly #onAbort = (): void => {
    this.#queued.takeAll();
    this.unsubscribe();
  };
}
