import { AsyncLocalStorage } from "node:async_hooks";
import type { LogContext } from "./entry.ts";
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
