/** What a case is: what is sent, and what must come back. Data, and nothing of any runtime. */

/** Header lines as they are sent, or as they must come back. */
export type Lines = readonly (readonly [name: string, value: string])[];

/** The applications there are, by what they were made with: `configurations.ts`. */
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
 * A body: text or bytes with their length; chunks; or what stands on the wire, with whatever framing the case's own
 * headers claim for it.
 */
export type Sending =
  | string
  | Uint8Array
  | { readonly chunks: readonly (string | Uint8Array)[] }
  | { readonly wire: string };

/** One request, as it is to be written. */
export interface Ask {
  /** `GET /hello/kim`, of HTTP/1.1 unless it says another version itself. */
  readonly ask: string;
  /** `host: h` is sent before them, unless they have a `Host` of their own. */
  readonly headers?: Lines;
  /** Sent with no `Host` at all. */
  readonly hostless?: true;
  readonly body?: Sending;
}

/** One answer, whole: a header that is not named here and is none of those every answer has must not be there. */
export interface Expected {
  readonly status: number;
  /** Beside `x-request-id`, `date`, `content-length`, `transfer-encoding` and `connection`, which are looked at too. */
  readonly headers: Lines;
  /** Of a HEAD, what a GET would have: only its length is looked for. */
  readonly body: string;
  readonly framing: "length" | "chunked" | "none";
  /** What becomes of its connection: kept, closed as its head says, or either, where the answer is whole in any case. */
  readonly after: "kept" | "closed" | "either";
  /** RFC 9110's words for the status, where they are looked at. */
  readonly phrase?: string;
  /** The names of the head as they are written, in their order, where that is looked at. */
  readonly names?: readonly string[];
  /** Answered by the listener, in whatever words, before there is a request: only its status and its end are looked at. */
  readonly bare?: true;
}

/** One request, one answer: for `app.fetch` and for every server. */
export interface MessageCase extends Ask {
  readonly name: string;
  readonly on?: Configuration;
  readonly answer: Expected;
}

/** What happens on one connection, or on several, one after the other: for servers. */
export interface WireCase {
  readonly name: string;
  readonly on?: Configuration;
  readonly steps: readonly Step[];
}

/** A wire case that ends a server, which is one of its own. */
export interface StoppingCase extends Omit<WireCase, "on"> {
  readonly drainMs: number;
}

/** What a client does, or what it waits for; `by` names the client where there are several. */
export type Step =
  | { readonly does: "send"; readonly bytes: string; readonly by: string }
  | { readonly does: "answer"; readonly expected: Expected; readonly toHead: boolean; readonly by: string }
  /** A 101 to a WebSocket, with this subprotocol, and these headers beside those that every one has. */
  | {
      readonly does: "upgraded";
      readonly protocol: string | undefined;
      readonly headers: Lines;
      readonly by: string;
    }
  /** The next frame: its first byte, and its payload a character for each byte. */
  | { readonly does: "frame"; readonly first: number; readonly payload: string; readonly by: string }
  /** A close frame with this code, or with none, and a reason where that is looked at. */
  | {
      readonly does: "closing";
      readonly code: number | undefined;
      readonly reason: string | undefined;
      readonly by: string;
    }
  /** These bytes, and not one more of what has come. */
  | { readonly does: "see-only"; readonly text: string; readonly by: string }
  | { readonly does: "see"; readonly text: string; readonly by: string }
  /** The server has ended its side, or is about to: another request is not answered any more. */
  | { readonly does: "closed"; readonly by: string }
  /** Waits, and says nothing, until the server ends its side. */
  | { readonly does: "ended"; readonly by: string }
  | { readonly does: "cut"; readonly by: string }
  | { readonly does: "half-close"; readonly by: string }
  | { readonly does: "leave"; readonly by: string }
  | { readonly does: "stop-reading"; readonly by: string }
  /** Reads on, as fast as it can, and looks at nothing of it. */
  | { readonly does: "discard"; readonly by: string }
  /** Lets a handler go on that waits at this gate. */
  | { readonly does: "open"; readonly gate: string }
  /** Waits for what a handler notes under this key. */
  | { readonly does: "noted"; readonly key: string; readonly text: string }
  | { readonly does: "logged"; readonly text: string }
  | { readonly does: "signal"; readonly signal: "SIGTERM" | "SIGINT" }
  | { readonly does: "refused" }
  | { readonly does: "exit"; readonly code: number | "killed" };
