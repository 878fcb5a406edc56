/** Values that come later, stores that are bounded, and results. */
export { andThen, inTime, noteIo, shouldYield, unrefTimer, unrefTimers, yieldToEventLoop } from "../async.ts";
export { chain, isPending, pass, whenResolved } from "../deferred.ts";
export type { Deferred, MaybePromise, ValueReceiver } from "../deferred.ts";
export { CallerBudget } from "../fair-store.ts";
export { OldestFirst } from "../oldest-first.ts";
export { NeededPackage, installed } from "../packages.ts";
export { error, ok } from "../result.ts";
export { isWorkers } from "../runtime.ts";
