import type { SetCookie } from "../cookies/cookie.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { SocketLink } from "../streams/sockets/link.ts";
import type { SocketRequest } from "../streams/sockets/speak.ts";

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
export interface TakingOver {
  lines(name: string): readonly string[];
  /** Whether the connection can be handed over to another protocol; undefined where no connection ever is. */
  readonly canTakeOver?: boolean | undefined;
  /** What listens, in words for the log. */
  readonly listener?: string;
}

/** Another protocol in the place of a body: what the connection speaks once the head is sent. */
export interface TakeoverBody {
  /** As the client offers it in `Upgrade`, in any case. */
  readonly protocol: string;
  readonly handle: (connection: TakenConnection) => Promise<void>;
  /** Why a connection is not handed over, in words for the log. */
  readonly refusedBy: (exchange: TakingOver) => string | undefined;
}

/** A WebSocket in the place of a body: what the connection speaks once the head is sent. */
export interface SocketBody {
  readonly subprotocol: string | undefined;
  /** Bytes of a message the client sends; past it the socket is closed with 1009. */
  readonly maxMessage: number;
  /** How long it may be quiet before it is pinged. */
  readonly keepAliveMs: number;
  /** Bytes that are sent while the client says nothing, where what it takes is not told. */
  readonly maxUnheard: number;
  /** Speaks on it until it ended. */
  readonly speak: (link: SocketLink, request: SocketRequest) => Promise<void>;
}

/** The parts of a body, one by one. */
export interface StreamParts extends AsyncIterable<Uint8Array> {
  /** Of parts whose iterator returns before what makes them has: settles once that has ended. Never rejects. */
  readonly produced?: Promise<void> | undefined;
}

/** A body made while it is sent. */
export interface StreamBody {
  readonly parts: StreamParts;
  /** Bytes, where it is known before: then the answer is framed by it, and never a byte longer. */
  readonly length?: number;
  /** Its content type for a client that asks which of its events are text. */
  readonly typeWithTextKinds?: string;
  /** What makes the parts of an async iterable, from when the answer is made ready to be sent. */
  readonly iterator?: AsyncIterator<Uint8Array> | undefined;
  /** The request it answers, from when the answer is made ready to be sent. */
  readonly request?: StreamRequest;
  /** Told of the request before its first part is asked for. Throws for a second request. */
  readonly begin?: (request: StreamRequest) => void;
  /** Has it write its parts itself as it makes them, where whoever sends it has a sink; `parts` is then not read. */
  readonly writeTo?: (sink: StreamSink) => StreamWriting;
}

/** What a body writes itself to: the parts are sent in the order they are written. */
export interface StreamSink {
  /** False where the client has to take some of it before there is room for more. */
  write(part: Uint8Array): boolean;
  /** Whether there came to be room again; false where the client went, or takes nothing. */
  room(): Promise<boolean>;
  /** All of it is written. */
  end(): void;
  /** What makes it raised. */
  fail(thrown: unknown): void;
}

/** A body that writes itself. */
export interface StreamWriting {
  /** Nobody reads any further. */
  cancel(): void;
}

/** How the sending of a streamed body ended. */
export type StreamEnd =
  | "finished"
  | "client gone"
  | "client stopped reading"
  /** The server stopped. */
  | "connection closed"
  /** Less, or more, than the length it was given. */
  | "short"
  | "long"
  /** What makes it raised. */
  | "failed";

/** What a streamed body, and whoever sends it, has of its request. */
export interface StreamRequest {
  /** Runs work as part of the request: what it logs carries the request's id. */
  run<A>(work: () => A): A;
  /** The application did what its route had not declared. */
  undeclared(did: string): void;
  /** Said once, by whoever sends it; with what was raised, where it failed. */
  ended(how: StreamEnd, thrown?: unknown): void;
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
  return typeof body === "object" && "parts" in body;
}

export function isSocket(body: AnswerBody): body is SocketBody {
  return typeof body === "object" && "speak" in body;
}

export function isTakeover(body: AnswerBody): body is TakeoverBody {
  return typeof body === "object" && "handle" in body;
}
