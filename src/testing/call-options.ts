import type { CallBody } from "./call-body.ts";

/** What a call may send. */
export interface CallOptions {
  /** A list keeps a header's lines apart. */
  readonly headers?: Iterable<readonly [name: string, value: string]> | { readonly [name: string]: string };
  /** Text and bytes go as they are, `URLSearchParams` and `FormData` as forms, anything else as JSON. */
  readonly body?: CallBody;
  /** The address it comes from: `127.0.0.1` unless set. */
  readonly peer?: string;
  /** The instant it is answered at, in place of the app's clock. */
  readonly now?: Date;
  /** Aborted, the client has gone. */
  readonly gone?: AbortSignal;
}
