import { unrefTimer } from "../async.ts";
import { attempt } from "../logging/raised.ts";
import { outside } from "../logging/context.ts";
import { isWorkers } from "../runtime.ts";

/** An entry of the wheel. It has the links itself, so that adding it makes no object. */
export interface Timed {
  next: Timed;
  previous: Timed;
  /** The tick that it is due at. */
  dueTick: number;
  /** Its own timer, on a runtime where requests share none. */
  timer: ReturnType<typeof setTimeout> | undefined;
  expire(): void;
}

/** How late an expiry may be, while nothing blocks the event loop. */
const tickMs = 10;
const slotCount = 256;

/** The two ends of a slot's ring. */
class Slot implements Timed {
  next: Timed = this;
  previous: Timed = this;
  dueTick = 0;
  timer: undefined = undefined;
  expire(): void {}
}

/**
 * The deadlines of all requests, checked by one timer, which runs while there is one: a timer for each request costs 0.5 µs. A
 * deadline is in the slot of its tick, so that a check looks at few of them. The `Deadlines` of a listener are for clients: they
 * start and stop with it, and are checked every half second.
 */
class DeadlineWheel {
  #slots: readonly Timed[] | undefined = undefined;
  /** What was added since the last check. Most of it is answered by the next one, and is never linked, which takes 0.07 µs. */
  #added: Timed[] = [];
  /** How many are in the slots. */
  #count = 0;
  /** The tick that was checked last. */
  #tick = 0;
  #timer: ReturnType<typeof setInterval> | undefined = undefined;

  /** @param dueAt By `performance.now()`. It never expires earlier. */
  add(timed: Timed, dueAt: number): void {
    if (this.#timer === undefined) this.#start();
    timed.dueTick = Math.ceil(dueAt / tickMs);
    this.#added.push(timed);
  }

  /** Does nothing where it is not in the wheel. */
  remove(timed: Timed): void {
    timed.dueTick = 0;
    if (timed.next === timed) return;
    timed.previous.next = timed.next;
    timed.next.previous = timed.previous;
    timed.next = timed;
    timed.previous = timed;
    this.#count--;
  }

  #start(): void {
    this.#slots ??= Array.from({ length: slotCount }, () => new Slot());
    this.#tick = Math.floor(performance.now() / tickMs);
    this.#timer = outside(() => setInterval(() => this.#check(), tickMs));
    unrefTimer(this.#timer);
  }

  /** Puts what was added, and still waits, into its slot. */
  #link(): void {
    const added = this.#added;
    this.#added = [];
    for (const timed of added) {
      // It may have been removed, and added once more.
      if (timed.dueTick === 0 || timed.next !== timed) continue;
      timed.dueTick = Math.max(timed.dueTick, this.#tick + 1);
      const slot = (this.#slots as readonly Timed[])[timed.dueTick % slotCount] as Timed;
      timed.next = slot;
      timed.previous = slot.previous;
      slot.previous.next = timed;
      slot.previous = timed;
      this.#count++;
    }
  }

  // The timer stays until a check finds nothing: the next request would start it again.
  #check(): void {
    const tick = Math.floor(performance.now() / tickMs);
    this.#link();
    const due = this.#count === 0 ? [] : this.#dueUntil(tick);
    this.#tick = Math.max(tick, this.#tick);
    for (const timed of due) attempt(undefined, () => timed.expire());
    if (this.#count > 0 || this.#added.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  // Collected first, because an expiry may add and remove others.
  #dueUntil(tick: number): readonly Timed[] {
    const due: Timed[] = [];
    const from = Math.max(this.#tick + 1, tick - slotCount + 1);
    for (let at = from; at <= tick; at++) {
      const slot = (this.#slots as readonly Timed[])[at % slotCount] as Timed;
      for (let timed = slot.next; timed !== slot; timed = timed.next) if (timed.dueTick <= tick) due.push(timed);
    }
    return due;
  }
}

const wheel = /* @__PURE__ */ new DeadlineWheel();

/** Calls `expire` at that time of `performance.now()`, and not before. The entry must not wait already. */
export function expireAt(timed: Timed, dueAt: number): void {
  // There a timer belongs to the request that set it, and ends with it.
  if (!isWorkers()) return wheel.add(timed, dueAt);
  timed.timer = setTimeout(() => timed.expire(), Math.max(0, dueAt - performance.now()));
}

/** Does nothing for an entry that does not wait. */
export function cancelExpiry(timed: Timed): void {
  if (timed.timer === undefined) wheel.remove(timed);
  else clearTimeout(timed.timer);
}
