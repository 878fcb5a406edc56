import { freshHex } from "./random.ts";

/** The trace a request belongs to, and its own span in it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
}

const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Joins the trace a `traceparent` names (W3C Trace Context §3.2), or starts one. */
export function joinTrace(lines: readonly string[]): TraceContext {
  return { traceId: (lines.length === 1 && joined(lines[0] as string)) || freshHex(16), spanId: freshHex(8) };
}

function joined(line: string): string | undefined {
  const match = traceparent.exec(line.trim());
  if (match === null) return undefined;
  const [, version, traceId, parentId, , more] = match;
  // Version 00 ends after its flags; a later one may go on behind another dash.
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  return /^0+$/.test(traceId as string) || /^0+$/.test(parentId as string) ? undefined : traceId;
}
