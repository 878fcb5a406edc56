import type { TakeoverBody, TakeoverRequest } from "../exchange/answer.ts";
import type { OpenStream } from "../events/open-stream.ts";
import type { BodySource } from "../inputs/body-source.ts";
import type { CertificateHolder } from "../inputs/peer-certificate.ts";
import { guarded } from "../logging/raised.ts";
import type { Match } from "../routing/router.ts";
import type { CompiledRoute } from "./compile.ts";
import type { SocketRequest, SocketTransport } from "../exchange/transport.ts";

/**
 * The port between the core and a runtime: one request, as a listener hands it over. The core knows nothing else about the
 * runtime. A method is called only where the route or the framework needs its value.
 */
export interface Exchange extends TakeoverRequest, CertificateHolder {
  /** The token as it was sent. */
  readonly method: string;
  /** The request target as it was sent (RFC 9112 §3.2): `/a%2Fb?x`, `http://host/a`, `*`. */
  readonly target: string;
  /** The values of a header, one per line where the runtime keeps lines apart; `name` in lower case. */
  lines(name: string): readonly string[];
  /** Every header, names in lower case, in the order sent. */
  headers(): Iterable<readonly [name: string, value: string]>;
  /** `https` where the runtime knows that the connection is encrypted. */
  readonly scheme?: "https" | undefined;
  /** The address that opened the connection, `unix:<path>` for a Unix socket, or empty where none is known. */
  readonly peer: string;
  /** The time of the request, where a test sets it instead of the app's clock. */
  readonly now?: Date | undefined;
  /**
   * The value of `Date`, where the listener keeps one: half a second old at most. Empty where the runtime writes the header
   * itself.
   */
  readonly date?: string;
  /**
   * Whether no other request's work runs in the turn that delivers this one, and leaving a context set at its end costs less
   * than resetting it. Node from 24 on copies contexts: a request that writes a log line takes 0.4 µs less, of 8.
   */
  readonly ownsTurn?: boolean;
  /** Whether other code of its server runs around the app, and may have set an `AsyncLocalStorage` for the request. */
  readonly isMounted?: boolean;
  /** Undefined where the request has no body. */
  readonly body: BodySource | undefined;
  /** Whether the server has ended it, because it stops: its client has not left. */
  readonly isCut?: boolean;
  /** Aborts once the client has disconnected, or the server has ended it; made on first use. */
  readonly gone: AbortSignal;
  /** The length of a text in UTF-8, by the fastest function of the runtime. */
  byteLength(text: string): number;
  /** Bytes as UTF-8, likewise; undefined where they are invalid. A byte order mark is part of the text. */
  decode(bytes: Uint8Array): string | undefined;
  /** The most bytes of an answer's head that the listener can send, as `headBytes` counts them; undefined where any can be. */
  readonly maxHeadBytes?: number;
  /** Whether a 101 can be answered: the request is a `GET` of HTTP/1.1, on a runtime that opens sockets. */
  readonly canUpgrade?: boolean;
  /** The route, where the listener had to find it before it could make this exchange: a connection to be upgraded. */
  readonly match?: Match<CompiledRoute> | undefined;
  /** Sends a 103 with these values of `Link`. Called before the answer, and also where the client may have gone. */
  sendEarlyHints?(links: readonly string[]): void;
  /** Called where nothing will read the request's body: a listener may drop what arrives of it. */
  dropBody?(): void;
  /** Called where the application did, during its answer, what it had not declared. A test fails on it. */
  undeclared?(deed: string): void;
  /** Whether it is made by another request of the app, which has a place of `maxInFlight`. */
  readonly isInner?: boolean;
  /** Whether it is a call of a test: its lines at `info` are written only where the test asks for them. */
  readonly isTest?: boolean;
  /** Keeps work running after the answer, at most `ms`, on a runtime that would stop it there. */
  keepAlive?(work: Promise<unknown>, ms?: number): void;
}

/** A WebSocket to be opened. `head` is sent with the 101, in addition to the headers of the handshake. */
export interface OpenedSocket {
  readonly subprotocol: string | undefined;
  readonly maxMessage: number;
  /** For a runtime that sends pings itself. */
  readonly keepAliveMs: number;
  /** For a runtime that does not report how much its client has taken. */
  readonly maxUnheard: number;
  /** For a runtime that can compress messages. */
  readonly compression?: { readonly minBytes: number } | undefined;
  /** Runs the route's handler on the transport until the socket has closed. Never rejects. */
  readonly open: (link: SocketTransport) => Promise<void>;
}

/** A connection to be handed over, once the head is sent. */
export interface OpenedTakeover extends TakeoverBody {
  readonly request: SocketRequest;
}

/** An answer as a listener writes it. */
export interface WireResponse {
  readonly status: number;
  /** Name, value, name, value…, in the order they are written; checked, and complete except for the framing of a stream. */
  readonly head: readonly string[];
  /** Undefined for an answer without a body, and for every answer to `HEAD`. */
  readonly body: undefined | string | Uint8Array | OpenStream;
  /** A 101: the connection becomes a WebSocket. Only where `canUpgrade` was true. */
  readonly socket?: OpenedSocket;
  /** A 101, after which the application's own protocol runs on the connection. Only where `canTakeOver` was true. */
  readonly takeover?: OpenedTakeover;
  /** The connection ends after it. */
  readonly closes: boolean;
  /** The handler still reads the request's body while its stream is sent: the listener drops the rest after that. */
  readonly readsBody?: boolean;
  /**
   * Called in place of sending, where the client has gone: ends a streamed body, and releases what the request acquired.
   * Undefined where nothing is open.
   */
  readonly unsent?: (() => void) | undefined;
  /** What the application did that it had not declared. A test fails on it. */
  readonly undeclared?: string;
}

/** The bytes of a head: names and values, and 12 for each field, as it may take before it is compressed (RFC 7541 §6). */
export function headBytes(head: readonly string[]): number {
  let bytes = head.length * 6;
  for (const text of head) bytes += text.length;
  return bytes;
}

/** Whether a response is an event stream, which a stopping server ends at once. */
export function isEventStream({ head }: WireResponse): boolean {
  return head[0] === "content-type" && /^text\/event-stream[\t ]*(?:;|$)/i.test(head[1] as string);
}

/** A controller that aborts with a runtime's signal, until `isOver`. An adapter may abort it, too. */
export function abortingWith(signal: AbortSignal, isOver: () => boolean = () => false): AbortController {
  const controller = new AbortController();
  const left = (): void => {
    if (!isOver()) controller.abort();
  };
  if (signal.aborted) left();
  else signal.addEventListener("abort", guarded(undefined, left));
  return controller;
}
