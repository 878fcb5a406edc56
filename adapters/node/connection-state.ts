import type { IncomingMessage } from "node:http";
import type { BodyFailure } from "../../src/doors/inputs.ts";

/*
 * A connection of HTTP/1.1 has two halves: what is read of it, and what is written. Either may end first: by a head that is refused, a
 * response that closes it, a client that stops reading, a server that stops. Both tables are here.
 */

/** What the bytes of the client are. */
export type ReadState =
  /** No request has arrived, and the time of its head is not over. */
  | { readonly at: "fresh" }
  /** Requests, one after the other. */
  | { readonly at: "heads" }
  /** This request is the last one, though Node's parser reads on: see `Upgrades.takes`. */
  | { readonly at: "last"; readonly request: IncomingMessage }
  /** HTTP/2: its session reads and ends it. */
  | { readonly at: "session" }
  /** No HTTP any more. The responses that are pending are sent, and then it is refused. */
  | { readonly at: "broken"; readonly fault: BodyFailure }
  /** The same, and the end of a line decides how it is refused. It has a time limit of its own. */
  | { readonly at: "broken line"; readonly fault: BodyFailure }
  /** No request any more: a response, or a refused head, ends the connection (RFC 9112 §9.6). */
  | { readonly at: "over"; readonly fault: BodyFailure | undefined };

/** How what is written ends. How much of it is on its way, numbers say: see `ConnectionWriting`. */
export type WriteState =
  /** A response follows each request. */
  | { readonly at: "open" }
  /** `end` is called once no response is pending. */
  | { readonly at: "ending"; readonly end: () => void }
  /** Its client has taken nothing of a response for too long, or too little. */
  | { readonly at: "cut" };

/** What happens to a connection. */
export type ConnectionEvent =
  /** A request arrives, or the time of the first one's head is over. */
  | "begins"
  /** A request arrives behind which nothing is a request. */
  | "last"
  /** The client begins with HTTP/2. */
  | "session"
  /** The parser finds a fault. */
  | "breaks"
  /** It found it in a line whose end has not arrived. */
  | "line"
  /** A response closes the connection, or it is refused. */
  | "closes"
  /** Something is to end it once no response is pending. */
  | "ends"
  /** No response is pending. */
  | "idle"
  /** The client is disconnected, because it does not read. */
  | "cut";

type HalfMoves<At extends string> = { readonly [From in At]: { readonly [E in ConnectionEvent]?: At } };

/** Where each event leads. One that is missing comes too late, or is of the other half, and changes nothing. */
export const readings: HalfMoves<ReadState["at"]> = {
  fresh: { begins: "heads", last: "last", session: "session", breaks: "broken", closes: "over", cut: "over" },
  heads: { last: "last", breaks: "broken", closes: "over", cut: "over" },
  last: { breaks: "broken", closes: "over", cut: "over" },
  session: { cut: "over" },
  broken: { line: "broken line", closes: "over", cut: "over" },
  "broken line": { closes: "over", cut: "over" },
  over: {},
};

export const writings: HalfMoves<WriteState["at"]> = {
  open: { ends: "ending", cut: "cut" },
  ending: { idle: "open", cut: "cut" },
  cut: {},
};
