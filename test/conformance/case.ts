/** A case: the bytes that are sent, and the expected bytes. Data, independent of any runtime. */

/** Header lines as they are sent, or as they are expected. */
export type Lines = readonly (readonly [name: string, value: string])[];

/** The applications, by their options: `configurations.ts`. */
export type Configuration =
  | "main"
  | "page"
  | "site"
  | "small"
  | "proxied"
  | "forwarded"
  | "wrong"
  | "impatient"
  | "stopping";

/**
 * A body: text or bytes with their length; chunks; or raw bytes, with whatever framing the case's own
 * headers claim for it.
 */
export type Sending =
  | string
  | Uint8Array
  | { readonly chunks: readonly (string | Uint8Array)[] }
  | { readonly wire: string };

/** One request, as it is sent. */
export interface Ask {
  /** `GET /hello/kim`, of HTTP/1.1 unless it has another version. */
  readonly ask: string;
  /** `host: h` is sent before them, unless they contain `Host`. */
  readonly headers?: Lines;
  /** Sent without `Host`. */
  readonly hostless?: true;
  readonly body?: Sending;
}

/** One whole answer: it may have no header except those named here and those that every answer has. */
export interface Expected {
  readonly status: number;
  /** In addition to `x-request-id`, `date`, `content-length`, `transfer-encoding` and `connection`, which are checked too. */
  readonly headers: Lines;
  /** For a HEAD, what a GET would have: only its length is compared. */
  readonly body: string;
  readonly framing: "length" | "chunked" | "none";
  /** The state of its connection afterwards: kept, closed as its head says, or either, if the answer is complete in any case. */
  readonly after: "kept" | "closed" | "either";
  /** The reason phrase of RFC 9110, if it is compared. */
  readonly phrase?: string;
  /** The header names as they are written, in their order, if that is compared. */
  readonly names?: readonly string[];
  /** Answered by the listener, with any body, before there is a request: only its status and its end are compared. */
  readonly bare?: true;
}

/** One request, one answer: for `app.fetch` and for every server. */
export interface MessageCase extends Ask {
  readonly name: string;
  readonly on?: Configuration;
  readonly answer: Expected;
}

/** The events of one connection, or of several, one after the other: for servers. */
export interface WireCase {
  readonly name: string;
  readonly on?: Configuration;
  readonly steps: readonly Step[];
}

/** A wire case that ends its server. */
export interface StoppingCase extends Omit<WireCase, "on"> {
  readonly drainMs: number;
}

/** The action of a client, or the event that it waits for; `by` names the client if there are several. */
export type Step =
  | { readonly does: "send"; readonly bytes: string; readonly by: string }
  | { readonly does: "answer"; readonly expected: Expected; readonly toHead: boolean; readonly by: string }
  /** A 101 to a WebSocket, with this subprotocol, and these headers in addition to those that every one has. */
  | {
      readonly does: "upgraded";
      readonly protocol: string | undefined;
      readonly headers: Lines;
      readonly by: string;
    }
  /** The next frame: its first byte, and its payload, one character for each byte. */
  | { readonly does: "frame"; readonly first: number; readonly payload: string; readonly by: string }
  /** A close frame with this code, or without one, and a reason if that is compared. */
  | {
      readonly does: "closing";
      readonly code: number | undefined;
      readonly reason: string | undefined;
      readonly by: string;
    }
  /** These bytes, and no further received byte. */
  | { readonly does: "see-only"; readonly text: string; readonly by: string }
  | { readonly does: "see"; readonly text: string; readonly by: string }
  /** The server has ended its side, or is about to: no further request is answered. */
  | { readonly does: "closed"; readonly by: string }
  /** Waits, and sends nothing, until the server ends its side. */
  | { readonly does: "ended"; readonly by: string }
  | { readonly does: "cut"; readonly by: string }
  /** The response that is being read ends whole, and its body with this text. */
  | { readonly does: "whole"; readonly text: string; readonly by: string }
  | { readonly does: "half-close"; readonly by: string }
  | { readonly does: "leave"; readonly by: string }
  | { readonly does: "stop-reading"; readonly by: string }
  /** Continues to read, as fast as it can, and checks nothing of it. */
  | { readonly does: "discard"; readonly by: string }
  /** Releases a handler that waits at this gate. */
  | { readonly does: "open"; readonly gate: string }
  /** Waits for a record of the handler under this key. */
  | { readonly does: "noted"; readonly key: string; readonly text: string }
  | { readonly does: "logged"; readonly text: string }
  | { readonly does: "signal"; readonly signal: "SIGTERM" | "SIGINT" }
  | { readonly does: "refused" }
  | { readonly does: "exit"; readonly code: number | "killed" };
