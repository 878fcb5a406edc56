import type { OpenSpan } from "../tracing/span.ts";
import type { Level } from "./level.ts";

/** What every line carries that is logged while some work runs: a request's, or what was given tags of its own. */
export interface LogContext {
  /** Letters, digits, `-`, `_` and `.` alone; undefined outside of a request. */
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** Fields that `Log.tags` added. */
  readonly tags?: Fields | undefined;
  /** The span that is open, where the trace is recorded. */
  readonly span?: OpenSpan | undefined;
  /** Whether somebody records the trace, as those that are called next are told. */
  readonly isSampled: boolean;
  /** What is passed on beside the trace. */
  readonly traceState: string | undefined;
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
