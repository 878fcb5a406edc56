import { CallerBudget } from "../../src/doors/base.ts";

/** How many compressions run at once: two of the four threads of Node's pool, which also reads files and looks up names. */
const atOnce = 2;
/** How many wait, of all callers and of one. */
const maxWaiting = 64;
const maxWaitingOfOne = 16;

/** The turns of compressions outside of the event loop. Callers take turns, so that one with many waits as long as one with few. */
export class CompressionTurns {
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #room = new CallerBudget(maxWaiting, maxWaitingOfOne);
  #running = 0;

  /**
   * Runs a compression once it is its turn.
   *
   * @param mayLeave Whether it need not run: it is not, where too many wait.
   * @returns Undefined where it is not run.
   */
  async run<A>(caller: string, mayLeave: boolean, compress: () => Promise<A>): Promise<A | undefined> {
    if (this.#running < atOnce) this.#running++;
    else if (!(await this.#wait(caller, mayLeave))) return undefined;
    try {
      return await compress();
    } finally {
      // The turn is handed over, so that what comes in between does not take it.
      if (!this.#next()) this.#running--;
    }
  }

  async #wait(caller: string, mayLeave: boolean): Promise<boolean> {
    const hasRoom = this.#room.take(caller, 1);
    if (!hasRoom && mayLeave) return false;
    await new Promise<void>((resolve) => {
      const others = this.#waiting.get(caller);
      if (others === undefined) this.#waiting.set(caller, [resolve]);
      else others.push(resolve);
    });
    if (hasRoom) this.#room.give(caller, 1);
    return true;
  }

  /** Lets the first compression run of the caller that waited longest for a turn. False where none waits. */
  #next(): boolean {
    const first = this.#waiting.entries().next();
    if (first.done === true) return false;
    const [caller, waiting] = first.value;
    const run = waiting.shift();
    this.#waiting.delete(caller);
    if (waiting.length > 0) this.#waiting.set(caller, waiting);
    run?.();
    return true;
  }
}

/** Those of the process: its threads are the same for all apps. */
export const turns: CompressionTurns = /* @__PURE__ */ new CompressionTurns();
