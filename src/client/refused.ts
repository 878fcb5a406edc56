/** A refusal: the error response of a call, with its code. */
export interface Refused<Name, Problems = readonly []> {
  /** Tells it from a success. */
  readonly ok: false;
  /** The status code; 0 if no response arrived. */
  readonly status: number;
  /** The headers of the response; empty if none arrived. */
  readonly headers: Headers;
  /** The code's name, or `unreachable`. */
  readonly error: Name;
  /** A sentence for the user. */
  readonly message: string;
  /** The validation errors of `invalid`; empty for any other code. */
  readonly problems: Problems;
  /** The number of further problems that are not listed. */
  readonly more?: number;
  /**
   * Of `unreachable`: what `fetch` or the reading of the response raised, for a log. On Node its own `cause` has the code of the
   * connection, as `ECONNRESET`.
   */
  readonly cause?: unknown;
}
