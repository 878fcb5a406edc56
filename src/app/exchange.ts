import type { TakeoverBody, TakeoverRequest } from "../answers/answer.ts";
import type { StreamBody } from "../events/stream.ts";
import type { SocketTransport } from "../sockets/socket.ts";
import type { SocketRequest } from "../sockets/open-socket.ts";
import type { BodySource } from "../inputs/body-source.ts";
import type { Match } from "../routing/router.ts";
import type { CompiledRoute } from "./compile.ts";

/**
 * One request as a listener hands it over. It is the whole of what the core knows of a runtime: nothing above it
 * knows which one it is on. A method is called only where a route or the framework needs what it answers.
 */
export interface Exchange extends TakeoverRequest {
  /** The token as it was sent. */
  readonly method: string;
  /** The request target as it was sent (RFC 9112 §3.2): `/a%2Fb?x`, `http://host/a`, `*`. */
  readonly target: string;
  /** The values of a header, one for each line where the runtime shows lines; `name` in lower case. */
  lines(name: string): readonly string[];
  /** Every header, names in lower case, in the order sent. */
  headers(): Iterable<readonly [name: string, value: string]>;
  /** `https` where the runtime knows that it came so. */
  readonly scheme?: "https" | undefined;
  /** The address that opened the connection, `unix:<path>` for a Unix socket, or empty where none is known. */
  readonly peer: string;
  /** The instant it is answered at, where that is not the app's clock to say: a test's own. */
  readonly now?: Date;
  /**
   * The time of an answer as its `Date` says it, where the listener has it at hand: half a second old at the most. Empty
   * where the runtime tells it.
   */
  readonly date?: string;
  /**
   * Whether nobody else's work runs in the turns it comes in, and it costs less to leave a context set at the end of one than
   * to take it back: Node has both by copies of a map from 24 on, and a line of a request takes 0.4 µs less, of 8.
   */
  readonly ownsTurn?: boolean;
  /** Once it is answered, its headers cannot be read any more. */
  readonly forgets?: boolean;
  /** Undefined where the request has none. */
  readonly body: BodySource | undefined;
  /** Aborts once the client has gone; made when first asked for. */
  readonly gone: AbortSignal;
  /** The length of a text in UTF-8, by the quickest way the runtime has. */
  byteLength(text: string): number;
  /** The text of bytes in UTF-8, likewise; undefined where they are none. A byte order mark is part of the text. */
  decode(bytes: Uint8Array): string | undefined;
  /** Whether a 101 can be answered: the request is a `GET` of HTTP/1.1, on a runtime that opens sockets. */
  readonly canUpgrade?: boolean;
  /** The route, where the listener had to find it before it could make this exchange: a connection to be upgraded. */
  readonly match?: Match<CompiledRoute> | undefined;
  /** Called where nothing will read the request's body: a listener may drop what arrives of it. */
  dropBody?(): void;
  /** Hears of what the application did, while its answer was sent, that it had not declared. A test fails on it. */
  undeclared?(deed: string): void;
  /** Lets work go on to its end after the answer, on a runtime that would drop it there. */
  keepAlive?(work: Promise<unknown>): void;
}

/** A WebSocket to be opened: `head` goes with the 101, beside what the handshake itself says. */
export interface OpenedSocket {
  readonly subprotocol: string | undefined;
  readonly maxMessage: number;
  /** For a runtime that pings by itself. */
  readonly keepAliveMs: number;
  /** For a runtime that does not tell how much its client takes. */
  readonly maxUnheard: number;
  /** Has the route speak on the link until the socket ended. Never rejects. */
  readonly open: (link: SocketTransport) => Promise<void>;
}

/** A connection to be handed over, once the head is sent. */
export interface OpenedTakeover extends TakeoverBody {
  readonly request: SocketRequest;
}

/** An answer as a listener writes it. */
export interface WireResponse {
  readonly status: number;
  /** Name, value, name, value…, in the order they are written; checked, and complete but for framing of a stream. */
  readonly head: readonly string[];
  /** Undefined for an answer without a body, and for every answer to `HEAD`. */
  readonly body: undefined | string | Uint8Array | StreamBody;
  /** A 101: the connection becomes a WebSocket. Only where the exchange said that it can. */
  readonly socket?: OpenedSocket;
  /** A 101, and what speaks on the connection behind it. Only where the exchange said that it can be handed over. */
  readonly takeover?: OpenedTakeover;
  /** The connection ends after it. */
  readonly closes: boolean;
  /** What the application did that it had not declared. A test fails on it. */
  readonly undeclared?: string;
}
