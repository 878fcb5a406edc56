/** Log lines, and the last catch around callbacks of a runtime. */
export { current, withoutDeadline } from "../logging/context.ts";
export type { Level, LogFields } from "../logging/entry.ts";
export {
  attempt,
  caught,
  describeRaised,
  guarded,
  inBackground,
  isA,
  isOfSignal,
  raisedCodes,
} from "../logging/raised.ts";
export { batch, byLines, log, useSink } from "../logging/writer.ts";
export type { Sink } from "../logging/writer.ts";
