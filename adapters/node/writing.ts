import type { Sweep } from "../../src/app/sweep.ts";

/** A stream that a stopping server may have to end. */
export interface OpenStream {
  readonly isFeed: boolean;
  cut(): void;
}

/** What the writing of an answer needs to know of its server. */
export interface Writing {
  readonly sweep: Sweep;
  readonly sendTimeoutMs: number;
  /** No further request is taken: every answer says so. */
  readonly stopping: boolean;
  /** Another's server listens, whose middleware may have set headers, and which has time-outs of its own. */
  readonly isMounted: boolean;
  /** The streams that are being sent. */
  readonly streams: Set<OpenStream>;
  /** The server stops, and a stream of events that begins now ends at once. */
  readonly endsFeeds: boolean;
}
