import type { Level } from "./level.ts";

/** What every line logged during a request carries. */
export interface LogContext {
  /** Letters, digits, `-`, `_` and `.` alone. */
  readonly requestId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Fields that `Log.tags` added. */
  readonly tags?: Fields;
}

/** A line's own fields, in the order they are written. */
export interface Fields {
  readonly [key: string]: string | number | bigint | boolean | undefined;
}

/** `json` for machines, `pretty` for a terminal. */
export type Format = "pretty" | "json";

/** One thing to be logged. */
export interface Entry {
  readonly level: Level;
  readonly source: string;
  readonly message: string;
  readonly fields: Fields;
  /** The whole line as JSON, where that is made quicker than from the parts. */
  json?(at: number): string;
  readonly context: LogContext | undefined;
}
