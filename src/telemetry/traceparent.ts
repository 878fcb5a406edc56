import type { TraceContext } from "../logging/entry.ts";

/** The flags of a trace as a number. */
export function traceFlags({ isSampled, isRandom }: Pick<TraceContext, "isSampled" | "isRandom">): number {
  return (isSampled ? 1 : 0) | (isRandom ? 2 : 0);
}

/** A `traceparent` of version 00. */
export function traceparentOf(traceId: string, spanId: string, flags: number): string {
  return `00-${traceId}-${spanId}-0${flags}`;
}
