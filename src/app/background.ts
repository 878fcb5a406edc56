import { isThenable } from "../async.ts";
import { needs, needsCount, needsFunction, needsOptions, needsText } from "../arguments.ts";
import { carried, current, withoutDeadline } from "../logging/context.ts";
import type { LogContext } from "../logging/entry.ts";
import { attempt, inBackground } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { busy, isRefusal, refuse } from "../refusals.ts";
import { hasFailedStart } from "./failed-start.ts";
import { failureOf } from "./failures.ts";
import { RunningWork } from "./running-work.ts";

/** The work in which an error was raised. */
export interface FailedWork {
  /** The name that it was started with. */
  readonly what: string;
  /** The id of the request that started it; undefined where none did. */
  readonly requestId: string | undefined;
}

/** The options of `Background.create`. */
export interface BackgroundOptions {
  /** The most works that run at once: 1,000 unless set. Starting one more throws the refusal `busy` (503). */
  readonly maxRunning?: number;
  /** Gets what a work threw, with its message, for an error tracker. What it throws itself is an error line. */
  readonly onError?: (error: unknown, work: FailedWork) => unknown;
}

/** Work of the application's own that no request waits for, made by `Background.create`. */
export interface Background {
  /**
   * Starts work, once the runtime has handled the events that it has. What it throws is an error line that begins with `what`, and never
   * ends the process. After a server of the program could not start, the line is at debug: the error of the start is read first. Its log lines have the id of the request that started it.
   *
   * @param what Names the work in the log: `"the nightly report"`.
   * @param work Gets a signal that aborts once the server begins to stop. A loop ends with it; short work need not look at it.
   * @throws Refusal `busy` where `maxRunning` works run.
   */
  start(what: string, work: (signal: AbortSignal) => unknown): void;
  /** The names of the works that run now. */
  readonly running: readonly string[];
  /**
   * Waits until no work runs, at most `ms` milliseconds.
   *
   * @returns How many still run.
   */
  settled(ms: number): Promise<number>;
  /** Starts to stop: the signals abort, and alarms are dropped. A server that has it in its options does this. */
  drain(): void;
  /** Calls `act` once it is stopping. */
  onDrain(act: () => void): void;
}

/**
 * Makes a place for work of the application's own: a loop that takes jobs, a report, what a request began and no answer
 * waits for. Give it to `serve` as the option `background`: a server that stops aborts its signals and waits for it, at most
 * `drainMs`. The metric `framework.background.active` counts what runs. Work is lost where the process is killed.
 *
 * @throws TypeError for a wrong option.
 * @example
 * ```ts
 * const background = Background.create();
 * background.start("the sweep of sessions", async (signal) => {
 *   while (!signal.aborted) await sweep(signal);
 * });
 * await serve(routes, { background });
 * ```
 */
export function create(options: BackgroundOptions = {}): Background {
  needsOptions("Background.create", options, "maxRunning onError");
  const { maxRunning = 1000, onError } = options;
  needsCount("Background.create: maxRunning", maxRunning);
  if (onError !== undefined) needsFunction("Background.create: onError", onError);
  return new OwnWork(maxRunning, onError);
}

/** A work that runs. */
interface Work {
  readonly what: string;
  /** Its own, so that what listens to it is dropped with the work. */
  readonly stopping: AbortController;
}

class OwnWork implements Background {
  readonly #work: RunningWork;
  readonly #maxRunning: number;
  readonly #onError: BackgroundOptions["onError"];
  readonly #running = new Set<Work>();
  readonly #whenStopping: (() => void)[] = [];
  #isStopping = false;

  constructor(maxRunning: number, onError: BackgroundOptions["onError"]) {
    this.#work = new RunningWork(maxRunning, "works");
    this.#maxRunning = maxRunning;
    this.#onError = onError;
  }

  get running(): readonly string[] {
    return Array.from(this.#running, ({ what }) => what);
  }

  start(what: string, work: (signal: AbortSignal) => unknown): void {
    needsText("Background.start: its name", what);
    needsFunction("Background.start: its work", work);
    if (!this.#work.take()) throw refuse(busy, undefined, { detail: `maxRunning (${this.#maxRunning}) works run` });
    const one: Work = { what, stopping: new AbortController() };
    if (this.#isStopping) one.stopping.abort();
    this.#running.add(one);
    const context = current();
    // What starts in one turn shares a callback, so each returns to its own context. The deadline of its request is not the work's.
    this.#work.soon(withoutDeadline(() => carried(() => this.#run(one, work, context))));
  }

  settled(ms: number): Promise<number> {
    needs(typeof ms === "number" && ms >= 0, "Background.settled: ms", ms, "milliseconds, 0 or more");
    return this.#work.settled(ms);
  }

  drain(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const act of this.#whenStopping.splice(0)) attempt(undefined, act);
    for (const { stopping } of this.#running) stopping.abort();
  }

  onDrain(act: () => void): void {
    needsFunction("Background.onDrain: its function", act);
    if (this.#isStopping) act();
    else this.#whenStopping.push(act);
  }

  async #run(one: Work, work: (signal: AbortSignal) => unknown, context: LogContext | undefined): Promise<void> {
    try {
      const done = work(one.stopping.signal);
      if (isThenable(done)) await done;
    } catch (thrown) {
      this.#failed(one, thrown, context);
    } finally {
      this.#running.delete(one);
      this.#work.free();
    }
  }

  #failed({ what }: Work, thrown: unknown, context: LogContext | undefined): void {
    const { level: usual, why, fields } = failureOf(thrown);
    const level = hasFailedStart(this) ? "debug" : usual;
    log({ level, source: "framework.background", message: `${what} raised${why}`, fields, context });
    if (this.#onError === undefined || isRefusal(thrown)) return;
    const report = async (): Promise<void> => {
      await this.#onError?.(thrown, { what, requestId: context?.requestId });
    };
    inBackground(report());
  }
}
