import { isWorkers } from "../../src/doors/base.ts";
import { IssuerAway } from "./failures.ts";

/**
 * Whether an endpoint may be called. After a failure it rests, and then one call at a time tries whether it works again: an issuer
 * that says 429 gets no more calls than that, however many requests need it.
 *
 * | | `working` | `resting` | `trying` |
 * | --- | --- | --- | --- |
 * | a call, the rest is over | is made | is made: `trying` | |
 * | a call, otherwise | | is refused | is refused |
 * | a call failed | `resting` | `resting`, the longer of both | `resting`, twice as long |
 * | a call worked | | | `working` |
 */
type RestState =
  | { readonly at: "working" }
  | { readonly at: "resting"; readonly failures: number; readonly fromMs: number; readonly untilMs: number }
  | { readonly at: "trying"; readonly failures: number; readonly fromMs: number };

const working: RestState = { at: "working" };
const firstRestMs = 1000;
const maxRestMs = 30_000;
/** The longest `Retry-After` that is heeded: with another one by mistake, every sign-in would fail for a day. */
export const maxRetryAfterMs = 300_000;
/** On Workers a call that takes longer has died with its request. */
const maxTryMs = 15_000;

/** How long to rest after failures in a row. */
function restAfter(failures: number): number {
  return Math.min(maxRestMs, firstRestMs * 2 ** (failures - 1));
}

/** The rest of one endpoint, or of one token. */
export class EndpointRest {
  #state: RestState = working;

  /** How long it still rests, in milliseconds; 0 where a call may be made. */
  leftMs(nowMs: number): number {
    const state = this.#state;
    if (state.at === "working") return 0;
    if (state.at === "trying") return isWorkers() && Math.abs(nowMs - state.fromMs) > maxTryMs ? 0 : firstRestMs;
    // A clock may be set back: the time before its begin is over, too.
    return nowMs < state.fromMs || nowMs >= state.untilMs ? 0 : state.untilMs - nowMs;
  }

  /** Throws while it rests. */
  check(nowMs: number): void {
    const leftMs = this.leftMs(nowMs);
    if (leftMs > 0)
      throw new IssuerAway("the issuer failed a moment ago, and is not called until it has rested", leftMs);
  }

  /** A call begins. Throws while it rests. */
  begin(nowMs: number): void {
    this.check(nowMs);
    if (this.#state.at === "resting") this.#state = { ...this.#state, at: "trying", fromMs: nowMs };
  }

  failed(nowMs: number, leastMs: number): void {
    const state = this.#state;
    const isLate = state.at === "resting" && this.leftMs(nowMs) > 0;
    const failures = state.at === "working" ? 1 : state.failures + (isLate ? 0 : 1);
    const untilMs = nowMs + Math.max(leastMs, restAfter(failures));
    const laterMs = state.at === "resting" && state.fromMs <= nowMs ? Math.max(untilMs, state.untilMs) : untilMs;
    this.#state = { at: "resting", failures, fromMs: nowMs, untilMs: laterMs };
  }

  worked(): void {
    // One that began before the rest does not show that it works.
    if (this.#state.at !== "resting") this.#state = working;
  }
}

/** The endpoints of an issuer: a few, unless its description changes. */
const maxEndpoints = 32;

/** The rests of an issuer's endpoints. */
export class Rests {
  readonly #byEndpoint = new Map<string, EndpointRest>();

  of({ origin, pathname }: URL): EndpointRest {
    const key = origin + pathname;
    let rest = this.#byEndpoint.get(key);
    if (rest === undefined) {
      if (this.#byEndpoint.size >= maxEndpoints) this.#byEndpoint.clear();
      this.#byEndpoint.set(key, (rest = new EndpointRest()));
    }
    return rest;
  }
}
