import type { SetCookie } from "../codecs/cookie.ts";
import type { MaybePromise } from "../deferred.ts";
import type { StreamBody } from "../events/stream.ts";
import type { Refusal } from "../refusals.ts";
import type { SocketRequest, SocketTransport } from "./transport.ts";

/** The body of an answer. */
export type AnswerBody = undefined | string | Uint8Array | StreamBody | SocketBody | TakeoverBody;

/** A connection that the application has taken over from HTTP. */
export interface TakenConnection {
  /** The bytes from the client, first those that arrived with its request. Ends when the client ends its side. */
  readonly readable: ReadableStream<Uint8Array>;
  /** The bytes to the client. A write waits for room; `close` ends this side. */
  readonly writable: WritableStream<Uint8Array>;
  /** Aborts when the server stops. The connection is cut when the server's drain time is over. */
  readonly stopping: AbortSignal;
}

/** The part of a request that a takeover checks. */
export interface TakeoverRequest {
  lines(name: string): readonly string[];
  /** Whether the connection can be taken over; undefined on a listener that never allows it. */
  readonly canTakeOver?: boolean | undefined;
  /** The name of the listener, for the log. */
  readonly listener?: string;
}

/** Another protocol, which the connection speaks once the head is sent. */
export interface TakeoverBody {
  readonly kind: "takeover";
  /** As the client offers it in `Upgrade`; case is ignored. */
  readonly protocol: string;
  readonly handle: (connection: TakenConnection) => Promise<void>;
  /** Why the connection cannot be taken over, for the log; undefined where it can. */
  readonly refusedBy: (exchange: TakeoverRequest) => string | undefined;
}

/** A WebSocket, which the connection becomes once the head is sent. */
export interface SocketBody {
  readonly kind: "socket";
  /** The subprotocol for a client. */
  readonly subprotocolOf: (request: Pick<TakeoverRequest, "lines">) => string | undefined;
  /** The most bytes of a client's message; a longer one closes the socket with 1009. */
  readonly maxMessage: number;
  /** The time without a message from the client before a ping is sent. */
  readonly keepAliveMs: number;
  /** The most bytes sent without a message from the client, on a runtime that does not report what the client took. */
  readonly maxUnheard: number;
  /** How messages are compressed, on a runtime that can; undefined where they are not. */
  readonly compression: { readonly minBytes: number } | undefined;
  /** Runs the handler until the socket has closed. */
  readonly runHandler: (
    link: SocketTransport,
    request: SocketRequest,
    subprotocol: string | undefined,
  ) => Promise<void>;
}

/** A built response: the contract's `Response`, under a name that does not hide the platform's. */
export interface Answer {
  /** The status code, 200 to 599, or 101 for a takeover or a socket. */
  readonly status: number;
  /** The `Content-Type`; undefined without a body. */
  readonly contentType?: string;
  /** The other headers, in the order of sending. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The cookies to set, each a `Set-Cookie` header. */
  readonly cookies: readonly SetCookie[];
  /** The encoded body; undefined without one. */
  readonly body: AnswerBody;
  /** Ends the connection after the answer, where the runtime lets an application do that. */
  readonly closes: boolean;
  /** The refusal that it answers with, if it does. */
  readonly refused?: Refusal;
  /** Chooses what is sent in its place, last of all: a 304, a part of it, a compressed body. */
  readonly revise?: Revise;
  /** Made by `Answer.pass`: its headers have the `Set-Cookie` lines of other code. */
  readonly passed?: PassedAnswer;
}

/** What a `Response` of other code says, and an answer of the app's own does not. */
export interface PassedAnswer {
  /** Its `Content-Length`, which the answer to a `HEAD` has without a body; undefined where it has none. */
  readonly length: number | undefined;
}

/** What a revision of an answer reads of the request. */
export interface RevisedRequest {
  readonly method: string;
  readonly now: Date;
  /** The values of a header, one for each line; `name` in lower case. */
  lines(name: string): readonly string[];
  /** The network of the client, which has one share of what is bounded; undefined where no address is known. */
  readonly network: string | undefined;
  /** Aborts once the client has gone. */
  readonly gone: AbortSignal;
}

/** Makes another answer of one, once the whole of it and the request are known; by a promise where that takes long. */
export type Revise = (request: RevisedRequest, answer: Answer) => MaybePromise<Answer>;

export function isStream<Body>(body: Body): body is Extract<Body, { readonly kind: "stream" }> {
  return typeof body === "object" && (body as Partial<StreamBody>).kind === "stream";
}

export function isSocket(body: AnswerBody): body is SocketBody {
  return typeof body === "object" && (body as Partial<SocketBody>).kind === "socket";
}

export function isTakeover(body: AnswerBody): body is TakeoverBody {
  return typeof body === "object" && (body as Partial<TakeoverBody>).kind === "takeover";
}

export const htmlType = "text/html; charset=utf-8";
export const textType = "text/plain; charset=utf-8";
export const jsonType = "application/json";

// Headers that only the framework writes: those that frame a message, and those that it derives from the declaration.
const serverOwned: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
  "content-type",
  "set-cookie",
  "date",
  "x-request-id",
]);

/** What the listener writes in the 101 of a WebSocket, besides (RFC 6455 §4.2.2). */
const handshakeOwned: ReadonlySet<string> = new Set([
  "sec-websocket-accept",
  "sec-websocket-extensions",
  "sec-websocket-protocol",
]);

/** Whether a header of a WebSocket's 101 says what the listener has agreed on with the client. */
export function isHandshakeOwned(name: string): boolean {
  return handshakeOwned.has(name.toLowerCase());
}

/**
 * Whether only the framework writes a header. A 426 names in `Upgrade` the protocol that it requires (RFC 9110 §15.5.22); an
 * app's format of refusals may give it another status.
 *
 * @param answer The answer that has the header.
 */
export function isServerOwned(name: string, answer?: Pick<Answer, "status" | "refused" | "passed">): boolean {
  const lower = name.toLowerCase();
  if (!serverOwned.has(lower) || (lower === "set-cookie" && answer?.passed !== undefined)) return false;
  return lower !== "upgrade" || (answer?.status !== 426 && answer?.refused?.code.status !== 426);
}
