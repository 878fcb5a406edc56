import { unrefTimer } from "../async.ts";
import { shown } from "../arguments.ts";
import { outside } from "../logging/context.ts";
import { busy, refuse } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { overload } from "../routing/meta.ts";
import type { Route } from "../routing/route.ts";
import { isWorkers } from "../runtime.ts";
import { countRefused } from "../telemetry/measure.ts";
import { CountedLog } from "./counted-log.ts";

/** The refusal of a request that comes past a bound. */
export const overloaded: Refusal<"busy"> = /* @__PURE__ */ refuse(busy);

/** The bounds of an app, as its options name them. */
interface OverloadOptions {
  readonly maxInFlight?: number;
  readonly maxEventLoopDelayMs?: number;
}

type BoundName = keyof OverloadOptions;

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
  readonly app: { readonly overload: Overload | undefined };
  readonly match: { readonly route: { readonly isExempt: boolean } } | undefined;
  readonly exchange: { readonly isInner?: boolean };
  readonly isSent: boolean;
  place: Place;
}

/** Takes a place for a request. False where it must be refused. */
export function takePlace(request: PlacedRequest, overload: Overload): boolean {
  if (request.match?.route.isExempt === true || request.exchange.isInner === true) return true;
  return placed(request, overload.admits());
}

/** Lends the place of a request to others, if it holds one, while it waits for its body. */
export function lendPlace(request: PlacedRequest): void {
  if (request.place !== "held") return;
  request.place = "lent";
  request.app.overload?.leaves();
}

/** Takes a place again for a request whose whole body has arrived. False if all were taken meanwhile. */
export function takePlaceAgain(request: PlacedRequest): boolean {
  // After its deadline nothing would give the place back.
  return request.isSent || placed(request, request.app.overload?.enters() === true);
}

/**
 * Takes a place again for a request whose handler continues with the next part of its body. It is not refused, because its handler
 * has begun: it waits, before all requests that arrive.
 *
 * @returns Resolves once it has a place, or is answered; undefined where it need not wait.
 */
export function awaitPlace(request: PlacedRequest): Promise<void> | undefined {
  const { overload } = request.app;
  if (request.isSent || request.place !== "lent" || overload === undefined) return undefined;
  return overload.returns(request);
}

/** The request is answered, and needs no place any more. */
export function leavePlace(request: PlacedRequest): void {
  const { place } = request;
  request.place = "none";
  if (place === "held") request.app.overload?.leaves();
  else if (typeof place === "object") place.remove(request);
}

function placed(request: PlacedRequest, isPlaced: boolean): boolean {
  request.place = isPlaced ? "held" : "refused";
  return isPlaced;
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

const leastDelayMs = 10;
const maxMs = 2 ** 31 - 1;

/** Checks the bounds of an app, and what its routes say of them. */
export function checkOverload(options: OverloadOptions, routes: readonly Route[], problems: string[]): void {
  const { maxInFlight, maxEventLoopDelayMs } = options;
  if (maxInFlight !== undefined && !isBetween(1, maxInFlight, Number.MAX_SAFE_INTEGER))
    problems.push(`maxInFlight is a whole number, 1 or more, and not ${shown(maxInFlight)}`);
  if (maxEventLoopDelayMs !== undefined && !isBetween(leastDelayMs, maxEventLoopDelayMs, maxMs)) {
    const what = `a whole number of milliseconds from ${leastDelayMs} to ${maxMs}`;
    problems.push(`maxEventLoopDelayMs is ${what}, and not ${shown(maxEventLoopDelayMs)}`);
  }
  for (const { method, pattern, meta } of routes) {
    const own: unknown = meta.find(overload);
    if (own === undefined || own === "exempt") continue;
    problems.push(`${method} ${pattern}: its Meta.overload is "exempt", and not ${shown(own)}`);
  }
  if (!isWorkers()) return;
  for (const name of ["maxInFlight", "maxEventLoopDelayMs"] as const) {
    if (options[name] === undefined) continue;
    problems.push(
      `${name} is not for Workers, whose platform runs more isolates under load, and whose clock stands still while code runs`,
    );
  }
}

/** The bounds of an app; undefined where it has none, and its requests are not counted. */
export function overloadOf(options: OverloadOptions): Overload | undefined {
  const { maxInFlight, maxEventLoopDelayMs } = options;
  return maxInFlight === undefined && maxEventLoopDelayMs === undefined ? undefined : new Overload(options);
}

function isBetween(min: number, value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** The bounds past which an app refuses requests before it reads anything of them. */
export class Overload {
  readonly #maxInFlight: number;
  readonly #delay: LoopDelay | undefined;
  readonly #logs = new Map<BoundName, CountedLog>();
  readonly #queue = new PlaceQueue(() => this.#exceed());
  #inFlight = 0;

  constructor({ maxInFlight, maxEventLoopDelayMs }: OverloadOptions) {
    this.#maxInFlight = maxInFlight ?? Number.POSITIVE_INFINITY;
    if (maxInFlight !== undefined) this.#expect("maxInFlight", maxInFlight);
    if (maxEventLoopDelayMs === undefined) return;
    this.#delay = new LoopDelay(maxEventLoopDelayMs, () => this.#inFlight > 0);
    this.#expect("maxEventLoopDelayMs", maxEventLoopDelayMs);
  }

  /** Takes a place for a request that has arrived. False where it must be refused, which is counted and logged. */
  admits(): boolean {
    if (this.#delay?.isOver() === true) return this.#refuses("maxEventLoopDelayMs");
    return this.enters();
  }

  /** Takes a place, also for a request that gave its place back while its body arrived. */
  enters(): boolean {
    if (this.#inFlight >= this.#maxInFlight) return this.#refuses("maxInFlight");
    this.#inFlight++;
    return true;
  }

  /** A place is free: the first that waits for one has it. */
  leaves(): void {
    this.#inFlight--;
    if (this.#inFlight < this.#maxInFlight && this.#queue.shift()) this.#inFlight++;
  }

  /** Takes a place again for a handler whose body continues; it waits for one where all are taken. */
  returns(request: PlacedRequest): Promise<void> | undefined {
    if (this.#inFlight >= this.#maxInFlight) return this.#queue.add(request);
    request.place = "held";
    this.#inFlight++;
    return undefined;
  }

  /** The server stops: logs how many were refused so far. */
  drain(): void {
    for (const log of this.#logs.values()) log.stop();
  }

  #exceed(): void {
    if (this.#queue.shift()) this.#inFlight++;
  }

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
