import { unrefTimer } from "../async.ts";
import { outside } from "../logging/context.ts";
import { countRefused } from "../telemetry/measure.ts";
import { CountedLog } from "./counted-log.ts";

/** The bounds of an app, as `Overload.make` names them. */
interface BoundOptions {
  readonly maxInFlight?: number;
  readonly maxEventLoopDelayMs?: number;
}

type BoundName = keyof BoundOptions;

/**
 * Where a request is with the places of `maxInFlight`.
 *
 * - `none`: it counts for no bound, or is answered. Next: `held`, `refused`.
 * - `held`: its handler may run. Next: `lent`, `none`.
 * - `lent`: it waits for its body, and another request may have its place. Next: `held`, a queue, `refused`, `none`.
 * - a queue: the next part of its body has arrived, and it waits for a place. Next: `held`, `none`.
 * - `refused`: it is answered with 503. Such requests are counted and have no line each. Next: `none`.
 */
export type Place = "none" | "held" | "lent" | "refused" | PlaceQueue;

/** What the bounds use of a request. */
export interface PlacedRequest {
  readonly match: { readonly route: { readonly isExempt: boolean } } | undefined;
  readonly exchange: { readonly isInner?: boolean };
  readonly isSent: boolean;
  place: Place;
}

/** How long a handler waits for a place while none at all is given back. */
const stuckMs = 1000;

/**
 * Requests that wait for a place again, in the order in which their bodies arrived. One of them may hold what those with a place wait
 * for, such as a row lock or a connection of a pool. So if none gives its place back for a second, the first continues without one.
 */
class PlaceQueue {
  readonly #waiting = new Map<PlacedRequest, () => void>();
  readonly #isStuck: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(isStuck: () => void) {
    this.#isStuck = isStuck;
  }

  add(request: PlacedRequest): Promise<void> {
    request.place = this;
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve);
      if (this.#waiting.size === 1) this.#startTimer();
    });
  }

  /** Lets the first request continue, if there is one. */
  shift(): boolean {
    const first = this.#waiting.entries().next();
    if (first.done === true) return false;
    const [request, resume] = first.value;
    this.#waiting.delete(request);
    request.place = "held";
    this.#startTimer();
    resume();
    return true;
  }

  /** The request is answered: its handler continues and finds that out. */
  remove(request: PlacedRequest): void {
    const resume = this.#waiting.get(request);
    this.#waiting.delete(request);
    if (this.#waiting.size === 0) clearTimeout(this.#timer);
    resume?.();
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size === 0) return;
    this.#timer = outside(() => setTimeout(this.#isStuck, stuckMs));
    unrefTimer(this.#timer);
  }
}

/** The bounds past which an app refuses requests before it reads anything of them. */
export class Bounds {
  readonly #maxInFlight: number;
  readonly #delay: LoopDelay | undefined;
  readonly #logs = new Map<BoundName, CountedLog>();
  readonly #queue = new PlaceQueue(() => this.#exceed());
  #inFlight = 0;

  constructor({ maxInFlight, maxEventLoopDelayMs }: BoundOptions) {
    this.#maxInFlight = maxInFlight ?? Number.POSITIVE_INFINITY;
    if (maxInFlight !== undefined) this.#expect("maxInFlight", maxInFlight);
    if (maxEventLoopDelayMs === undefined) return;
    this.#delay = new LoopDelay(maxEventLoopDelayMs, () => this.#inFlight > 0);
    this.#expect("maxEventLoopDelayMs", maxEventLoopDelayMs);
  }

  /** Takes a place for a request that has arrived. False where it must be refused. */
  takePlace(request: PlacedRequest): boolean {
    if (request.match?.route.isExempt === true || request.exchange.isInner === true) return true;
    const isLate = this.#delay?.isOver() === true;
    return this.#placed(request, isLate ? this.#refuses("maxEventLoopDelayMs") : this.#enters());
  }

  /** Lends the place of a request to others, if it holds one, while it waits for its body. */
  lendPlace(request: PlacedRequest): void {
    if (request.place !== "held") return;
    request.place = "lent";
    this.#leaves();
  }

  /** Takes a place again for a request whose whole body has arrived. False if all were taken meanwhile. */
  takePlaceAgain(request: PlacedRequest): boolean {
    // After its deadline nothing would give the place back.
    return request.isSent || this.#placed(request, this.#enters());
  }

  /**
   * Takes a place again for a request whose handler continues with the next part of its body. It is not refused, because its handler
   * has begun: it waits, before all requests that arrive.
   *
   * @returns Resolves once it has a place, or is answered; undefined where it need not wait.
   */
  awaitPlace(request: PlacedRequest): Promise<void> | undefined {
    if (request.isSent || request.place !== "lent") return undefined;
    if (this.#inFlight >= this.#maxInFlight) return this.#queue.add(request);
    request.place = "held";
    this.#inFlight++;
    return undefined;
  }

  /** The request is answered, and needs no place any more. */
  leavePlace(request: PlacedRequest): void {
    const { place } = request;
    request.place = "none";
    if (place === "held") this.#leaves();
    else if (typeof place === "object") place.remove(request);
  }

  /** The server stops: logs how many were refused so far. */
  drain(): void {
    for (const log of this.#logs.values()) log.stop();
  }

  #placed(request: PlacedRequest, isPlaced: boolean): boolean {
    request.place = isPlaced ? "held" : "refused";
    return isPlaced;
  }

  #enters(): boolean {
    if (this.#inFlight >= this.#maxInFlight) return this.#refuses("maxInFlight");
    this.#inFlight++;
    return true;
  }

  /** A place is free: the first that waits for one has it. */
  #leaves(): void {
    this.#inFlight--;
    if (this.#inFlight < this.#maxInFlight && this.#queue.shift()) this.#inFlight++;
  }

  #exceed(): void {
    if (this.#queue.shift()) this.#inFlight++;
  }

  /** Counts and logs one that is refused. */
  #refuses(bound: BoundName): false {
    countRefused(bound, 1);
    this.#logs.get(bound)?.count();
    return false;
  }

  #expect(bound: BoundName, limit: number): void {
    countRefused(bound, 0);
    this.#logs.set(bound, new CountedLog("warn", `requests refused with 503 busy past ${bound} (${limit})`));
  }
}

/** How many times in a row the timer must be too late before the first request of a turn is refused. */
const lateTimes = 2;

/**
 * How late the event loop is, by a timer that runs while requests come. It is read when a request arrives, and not only when
 * the timer runs: of a thousand requests that arrived in one turn, those are refused that the turn has no time for.
 *
 * Requests of the turn after a late one have waited for it already. Some are served, for a tenth of the bound, so that a single
 * pause refuses little. With the whole bound again, requests that are served would take two bounds.
 */
class LoopDelay {
  readonly #maxMs: number;
  readonly #everyMs: number;
  readonly #isNeeded: () => boolean;
  #timer: ReturnType<typeof setInterval> | undefined = undefined;
  #dueAt = 0;
  /** How many times in a row the timer was too late. Once may be a garbage collection. */
  #late = 0;
  #isRead = false;

  /** @param isNeeded Whether a request is in flight, whose handler may block the event loop before the next one arrives. */
  constructor(maxMs: number, isNeeded: () => boolean) {
    this.#maxMs = maxMs;
    this.#everyMs = Math.min(100, Math.floor(maxMs / 10));
    this.#isNeeded = isNeeded;
  }

  isOver(): boolean {
    this.#isRead = true;
    if (this.#timer === undefined) {
      this.#start();
      return false;
    }
    if (this.#late >= lateTimes) return true;
    return performance.now() - this.#dueAt > (this.#late === 0 ? this.#maxMs : 0);
  }

  #start(): void {
    this.#late = 0;
    this.#dueAt = performance.now() + this.#everyMs;
    this.#timer = outside(() => setInterval(() => this.#check(), this.#everyMs));
    unrefTimer(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    this.#late = now - this.#dueAt > this.#maxMs ? this.#late + 1 : 0;
    this.#dueAt = now + this.#everyMs;
    if (!this.#isRead && !this.#isNeeded()) this.#stop();
    this.#isRead = false;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
