import { stripped } from "../codecs/white-space.ts";
import { freshHex } from "./random.ts";

/** The trace a request belongs to, and its own span in it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The caller's span; undefined where the trace begins here. */
  readonly parentId: string | undefined;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
  /** What tracing systems pass on beside it, as it came. */
  readonly state: string | undefined;
}

/** The values of a header, one for each line. */
type Lines = (name: string) => readonly string[];

const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

// W3C Trace Context §3.3.1.5: at least this much of it is to be passed on. Any more is not.
const longestState = 512;

/** Joins the trace a `traceparent` names (W3C Trace Context §3.2), or starts one. */
export function joinTrace(lines: Lines): TraceContext {
  const parents = lines("traceparent");
  const match = parents.length === 1 ? joined(parents[0] as string) : undefined;
  const spanId = freshHex(8);
  if (match === undefined) {
    return { traceId: freshHex(16), spanId, parentId: undefined, isSampled: false, state: undefined };
  }
  const [, , traceId, parentId, flags] = match;
  return {
    traceId: traceId as string,
    spanId,
    parentId,
    isSampled: (Number.parseInt(flags as string, 16) & 1) === 1,
    state: stateOf(lines("tracestate")),
  };
}

function joined(line: string): RegExpExecArray | undefined {
  const match = traceparent.exec(stripped(line));
  if (match === null) return undefined;
  const [, version, traceId, parentId, , more] = match;
  // Version 00 ends after its flags; a later one may go on behind another dash.
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  return /^0+$/.test(traceId as string) || /^0+$/.test(parentId as string) ? undefined : match;
}

function stateOf(lines: readonly string[]): string | undefined {
  const state = lines
    .map((line) => stripped(line))
    .filter((line) => line !== "")
    .join(",");
  return state === "" || state.length > longestState || !/^[\t\x20-\x7e]+$/.test(state) ? undefined : state;
}
