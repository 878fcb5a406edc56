import type { Sweep } from "../../src/app/sweep.ts";

/** What the writing of an answer needs to know of its server. */
export interface Writing {
  readonly sweep: Sweep;
  readonly sendTimeoutMs: number;
  /** No further request is taken: every answer says so. */
  readonly stopping: boolean;
  /** Another's server listens, whose middleware may have set headers, and which has time-outs of its own. */
  readonly isMounted: boolean;
  /** How each open stream that tells no length is ended. */
  readonly streams: Set<() => void>;
}
