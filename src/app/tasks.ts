import type { RequestEnd, TaskList } from "../inputs/request.ts";
import { busy, refuse } from "../refusals.ts";
import type { RunningWork } from "./running-work.ts";

/** Work for after the answer. */
export interface Task {
  readonly run: (end: RequestEnd) => unknown;
  /** Whether it runs although the answer is a refusal. */
  readonly always: boolean;
}

/** The tasks of one request. */
export class Tasks implements TaskList {
  readonly #work: RunningWork;
  readonly #waiting: Task[] = [];
  #start: ((task: Task) => void) | undefined = undefined;
  #isRefused = false;

  constructor(work: RunningWork) {
    this.#work = work;
  }

  add(run: Task["run"], always: boolean): void {
    // A handler whose deadline has passed adds it too late.
    if (this.#isRefused && !always) return;
    if (!this.#work.take()) throw refuse(busy, undefined, { detail: "maxAfter tasks wait or run" });
    if (this.#start === undefined) this.#waiting.push({ run, always });
    else this.#start({ run, always });
  }

  /** The answer is on its way. A task that is added from now on, as by a stream's producer, runs at once. */
  begin(isRefused: boolean, start: (task: Task) => void): void {
    this.#start = start;
    this.#isRefused = isRefused;
    for (const task of this.#waiting.splice(0)) {
      if (task.always || !isRefused) start(task);
      else this.#work.free();
    }
  }
}
