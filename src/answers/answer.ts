import type { SetCookie } from "../codecs/cookie.ts";
import type { StreamBody } from "../events/stream.ts";
import type { Refusal } from "../refusals.ts";
import type { SocketRequest } from "../sockets/open-socket.ts";
import type { SocketTransport } from "../sockets/socket.ts";

/** What an answer's body is. */
export type AnswerBody = undefined | string | Uint8Array | StreamBody | SocketBody | TakeoverBody;

/** A connection that speaks another protocol than HTTP from now on. */
export interface TakenConnection {
  /** What the client sends: first what it sent with its request. It ends when the client ends its side. */
  readonly readable: ReadableStream<Uint8Array>;
  /** What is sent to it. A write waits for room; to close it is to end this side. */
  readonly writable: WritableStream<Uint8Array>;
  /** Aborts when the server stops: what is left to be said has the time that the server gives, and is then cut. */
  readonly stopping: AbortSignal;
}

/** What a takeover has to know of a request. */
export interface TakeoverRequest {
  lines(name: string): readonly string[];
  /** Whether the connection can be handed over to another protocol; undefined where no connection ever is. */
  readonly canTakeOver?: boolean | undefined;
  /** What listens, in words for the log. */
  readonly listener?: string;
}

/** Another protocol in the place of a body: what the connection speaks once the head is sent. */
export interface TakeoverBody {
  readonly kind: "takeover";
  /** As the client offers it in `Upgrade`, in any case. */
  readonly protocol: string;
  readonly handle: (connection: TakenConnection) => Promise<void>;
  /** Why a connection is not handed over, in words for the log. */
  readonly refusedBy: (exchange: TakeoverRequest) => string | undefined;
}

/** A WebSocket in the place of a body: what the connection speaks once the head is sent. */
export interface SocketBody {
  readonly kind: "socket";
  readonly subprotocol: string | undefined;
  /** Bytes of a message the client sends; past it the socket is closed with 1009. */
  readonly maxMessage: number;
  /** How long it may be quiet before it is pinged. */
  readonly keepAliveMs: number;
  /** Bytes that are sent while the client says nothing, where what it takes is not told. */
  readonly maxUnheard: number;
  /** Speaks on it until it ended. */
  readonly speak: (link: SocketTransport, request: SocketRequest) => Promise<void>;
}

/** A built response, the contract's `Response` (renamed so that the platform's own stays in reach). */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly cookies: readonly SetCookie[];
  readonly body: AnswerBody;
  /** Ends the connection after the answer, where the runtime lets an application do that. */
  readonly closes: boolean;
  /** The refusal it tells, where it is one. */
  readonly refused?: Refusal;
}

export const none: readonly never[] = [];

export function isStream(body: AnswerBody): body is StreamBody {
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
