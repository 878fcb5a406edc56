import { AsyncLocalStorage } from "node:async_hooks";
import type { Fields } from "./line.ts";

/** What every line logged during a request carries. */
export interface LogContext {
  readonly requestId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Fields that `Log.tags` added. */
  readonly tags?: Fields;
}

/** The request whose work is running, if any. */
export const context: AsyncLocalStorage<LogContext> = new AsyncLocalStorage();
