import { isObject, needs, needsCount, needsFunction, needsOptions, needsText } from "../arguments.ts";
import { current } from "../logging/context.ts";
import { log } from "../logging/writer.ts";
import { busy, refuse } from "../refusals.ts";
import type { Background } from "./background.ts";
import { failureOf } from "./failures.ts";

/** What tells one alarm from another. `7` and `"7"` are two keys. */
export type AlarmKey = string | number | bigint;

/** The options of `Alarm.create`. */
export interface AlarmOptions {
  /** Runs what the alarms do; when it stops, the alarms that are set are dropped. */
  readonly background: Background;
  /** Names the work in the log: `"the end of a turn"`. */
  readonly what: string;
  /** The most alarms that are set at once: 10,000 unless set. Setting one more throws the refusal `busy` (503). */
  readonly maxSet?: number;
}

/** Work that runs later, once for each key, made by `Alarm.create`. */
export interface Alarm {
  /**
   * Sets the alarm of a key, in place of the one that is set for it. Once it is stopping, nothing is set.
   *
   * @param inMs Milliseconds from now, by a clock that is not moved when the time of day is; below 0 is 0.
   * @param work Runs as the work of `Background.start`.
   * @throws Refusal `busy` where `maxSet` alarms are set.
   */
  set(key: AlarmKey, inMs: number, work: (signal: AbortSignal) => unknown): void;
  /** Drops the alarm of a key. Returns whether one was set. */
  cancel(key: AlarmKey): boolean;
  /** How many are set. */
  readonly size: number;
}

/**
 * Makes alarms with a key each: the end of a player's turn, a reminder that each new message puts off. Setting one again for
 * its key replaces it. What an alarm does is work of its `background`: its lines have the id of the request that set it, and
 * what it throws is an error line. Alarms are in the memory of this process, and are lost with it: what must happen
 * is a row of a database. The fake timers of a test runner move them.
 *
 * @throws TypeError for a wrong option.
 * @example
 * ```ts
 * const turns = Alarm.create({ background, what: "the end of a turn" });
 * turns.set(game.id, 60_000, () => endTurn(game.id));
 * ```
 */
export function create(options: AlarmOptions): Alarm {
  needsOptions("Alarm.create", options, "background what maxSet");
  const { background, what, maxSet = 10_000 } = options;
  const isBackground = isObject(background) && typeof background.onDrain === "function";
  needs(isBackground, "Alarm.create: background", background, "made by Background.create");
  needsText("Alarm.create: what", what);
  needsCount("Alarm.create: maxSet", maxSet);
  return new Alarms(background, what, maxSet);
}

/** Above it, `setTimeout` fires at once. */
const longestMs = 2 ** 31 - 1;

class Alarms implements Alarm {
  readonly #background: Background;
  readonly #what: string;
  readonly #maxSet: number;
  readonly #timers = new Map<AlarmKey, ReturnType<typeof setTimeout>>();
  #isStopping = false;

  constructor(background: Background, what: string, maxSet: number) {
    this.#background = background;
    this.#what = what;
    this.#maxSet = maxSet;
    background.onDrain(() => {
      this.#isStopping = true;
      for (const key of this.#timers.keys()) this.cancel(key);
    });
  }

  get size(): number {
    return this.#timers.size;
  }

  set(key: AlarmKey, inMs: number, work: (signal: AbortSignal) => unknown): void {
    needs(["string", "number", "bigint"].includes(typeof key), "Alarm.set: its key", key, "a text or a number");
    needs(Number.isFinite(inMs), "Alarm.set: inMs", inMs, "a finite number of milliseconds");
    needsFunction("Alarm.set: its work", work);
    if (!this.cancel(key) && this.size >= this.#maxSet) {
      throw refuse(busy, undefined, { detail: `maxSet (${this.#maxSet}) alarms are set` });
    }
    if (!this.#isStopping) this.#wait(key, Math.max(0, inMs), work);
  }

  cancel(key: AlarmKey): boolean {
    clearTimeout(this.#timers.get(key));
    return this.#timers.delete(key);
  }

  #wait(key: AlarmKey, leftMs: number, work: (signal: AbortSignal) => unknown): void {
    const ms = Math.min(leftMs, longestMs);
    const act = (): void => {
      if (leftMs > ms) return this.#wait(key, leftMs - ms, work);
      this.#timers.delete(key);
      this.#run(work);
    };
    this.#timers.set(key, setTimeout(act, ms));
  }

  #run(work: (signal: AbortSignal) => unknown): void {
    try {
      this.#background.start(this.#what, work);
    } catch (thrown) {
      const { why, fields } = failureOf(thrown);
      const message = `${this.#what} was not run${why}`;
      log({ level: "error", source: "framework.background", message, fields, context: current() });
    }
  }
}
