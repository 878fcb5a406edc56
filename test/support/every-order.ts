/** Every order in which the calls of several requests can reach one store. */
import type { SessionStore } from "usher-http";

/** One request: what it does with the store that it is given. */
export type Request = (store: SessionStore) => Promise<unknown>;

/** One run: the calls in the order in which they reached the store, such as `"renew replace"`. */
export interface Run {
  readonly store: SessionStore;
  readonly calls: readonly string[];
  /** The result of each request, by its name. */
  readonly outcomes: ReadonlyMap<string, PromiseSettledResult<unknown>>;
}

/**
 * Runs the requests once for each order of their calls. A request waits before each call until it is its turn, and the
 * next turn is given once the request waits again or has ended: no run depends on time.
 */
export async function everyOrder(
  begin: () => Promise<SessionStore>,
  requests: Readonly<Record<string, Request>>,
  check: (run: Run) => Promise<void>,
): Promise<number> {
  let runs = 0;
  for (let turns: Turn[] | undefined = []; turns !== undefined; turns = nextTurns(turns), runs++) {
    const store = await begin();
    const running = Object.entries(requests).map(([name, request]) => new HeldRequest(name, request, store));
    const calls: string[] = [];
    await Promise.all(running.map((request) => request.quiet()));
    for (let step = 0; ; step++) {
      const held = running.filter((request) => request.call !== undefined);
      if (held.length === 0) break;
      const turn: Turn = { of: held.length, taken: turns[step]?.taken ?? 0 };
      turns[step] = turn;
      const next = held[turn.taken];
      if (next === undefined) throw new Error(`made other calls than in the run before, after: ${calls.join(", ")}`);
      calls.push(`${next.name} ${next.call}`);
      await next.go();
    }
    const outcomes = new Map(running.map(({ name, outcome }) => [name, outcome as PromiseSettledResult<unknown>]));
    await check({ store, calls, outcomes });
  }
  return runs;
}

/** The waiting requests that were released. */
interface Turn {
  readonly of: number;
  readonly taken: number;
}

/** The same turns up to the last at which another request could continue, and that one's; undefined after the last order. */
function nextTurns(turns: readonly Turn[]): Turn[] | undefined {
  const last = turns.findLastIndex(({ of, taken }) => taken + 1 < of);
  const turn = turns[last];
  return turn && [...turns.slice(0, last), { of: turn.of, taken: turn.taken + 1 }];
}

class HeldRequest {
  readonly name: string;
  /** The call that waits for its turn. */
  call: string | undefined;
  outcome: PromiseSettledResult<unknown> | undefined;
  #release = (): void => {};
  #becameQuiet = (): void => {};
  #quiet: Promise<void> = this.#unquiet();

  constructor(name: string, request: Request, store: SessionStore) {
    this.name = name;
    request(this.#held(store)).then(
      (value) => this.#end({ status: "fulfilled", value }),
      (reason: unknown) => this.#end({ status: "rejected", reason }),
    );
  }

  /** Waits until it waits for its turn or has ended. */
  quiet(): Promise<void> {
    return this.#quiet;
  }

  go(): Promise<void> {
    this.call = undefined;
    this.#quiet = this.#unquiet();
    this.#release();
    return this.#quiet;
  }

  #unquiet(): Promise<void> {
    return new Promise((resolve) => (this.#becameQuiet = resolve));
  }

  #end(outcome: PromiseSettledResult<unknown>): void {
    this.outcome = outcome;
    this.#becameQuiet();
  }

  #held(store: SessionStore): SessionStore {
    return new Proxy(store, {
      get: (target, method: keyof SessionStore) => {
        const call = target[method];
        if (typeof call !== "function") return call;
        return async (...given: unknown[]): Promise<unknown> => {
          const turn = new Promise<void>((resolve) => (this.#release = resolve));
          this.call = method;
          this.#becameQuiet();
          await turn;
          return (call as (...given: unknown[]) => unknown).apply(target, given);
        };
      },
    });
  }
}
