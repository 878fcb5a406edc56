import type { Succeeded } from "../answers/returns-type.ts";
import type { Refused } from "./refused.ts";

/** What the client uses of a WebSocket: that of a browser, Node 22, Bun, Deno and Workers, and that of the package `ws`. */
export interface WebSocketLike {
  /** How many bytes wait to be sent. That of Workers does not tell. */
  readonly bufferedAmount?: number;
  /** The subprotocol that the server chose. */
  readonly protocol: string;
  /** 1 while it is open. */
  readonly readyState: number;
  /** Sends a message. */
  send(message: string): void;
  /** Begins the closing handshake. */
  close(code?: number, reason?: string): void;
}

/** How a socket of the typed client ended. */
export interface ClientSocketEnd {
  /** The code of the close frame (RFC 6455 §7.4); 1005 without a code, and 1006 without a close frame: the connection was lost. */
  readonly code: number;
  /** The reason of the close frame. */
  readonly reason: string;
}

/**
 * An open WebSocket of a typed client. A loop over it gets each message. It ends when the server closes it with 1000, 1001 or no
 * code, and when this side does: by `close`, by leaving the loop, or by the signal. For any other end it throws an error, whose
 * `cause` is the {@link ClientSocketEnd}. It is not opened again: what a new connection begins with is the program's to say.
 */
export interface ClientSocket<in Sent, out Got, out Subprotocol = string | undefined> extends AsyncIterable<Got> {
  /** The subprotocol that the server chose; undefined without one. */
  readonly subprotocol: Subprotocol;
  /** Resolves when it is closed, or was ended by this side, with its code. It never rejects. */
  readonly closed: Promise<ClientSocketEnd>;
  /**
   * Sends a message. False where the socket is closed, and the message is not sent.
   *
   * @throws RangeError where more than `maxSocketBuffer` would wait to be sent.
   */
  send(message: Sent): boolean;
  /**
   * Closes it, with code 1000 unless set: 1000, or 3000 to 4999. Resolves when the server has answered, or after 3 seconds.
   *
   * @throws what the platform's `close` throws, for another code and for a reason of more than 123 bytes.
   */
  close(options?: {
    readonly code?: number | undefined;
    readonly reason?: string | undefined;
  }): Promise<ClientSocketEnd>;
  /** Messages may be taken by several loops: each gets the next one. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Got, undefined>;
}

/** The result of opening a WebSocket: the socket, or `unreachable`. */
export type SocketOutcome<Socket> = Succeeded<101, Socket> | Refused<"unreachable">;

/** The route of a WebSocket, in the typed client. */
export interface SocketCall<Given, Wire> {
  /**
   * Opens the WebSocket. Whatever prevents that is `unreachable` with status 0: no server, a refusal of the route, 30 seconds, the
   * signal. A WebSocket shows a program neither the status nor the body of a refusal, in a browser as in Node. A page that needs the
   * reason asks another route.
   *
   * It opens a WebSocket of the platform, or of the option `webSocket`, and not by the client's `fetch`. The platform's sends no
   * `headers`, of a call or of the client: give a token in a subprotocol, which `Socket.credential` reads.
   *
   * @example
   * ```ts
   * const chat = await api["GET /rooms/{room}"].open({ path: { room: "a" } });
   * if (chat.ok) {
   *   chat.value.send({ name: "Ada", text: "Hello." });
   *   for await (const line of chat.value) console.log(line.text);
   * }
   * ```
   */
  readonly open: (
    ...given: OpenArguments<Given & TextSides<Wire> & OfferedSubprotocol<SubprotocolOf<Wire>>>
  ) => Promise<SocketOutcome<ClientSocket<SentTo<Wire>, GotOf<Wire>, SubprotocolOf<Wire>>>>;
}

/** As {@link SocketCall}. Its first parameter is a sentence of the compiler's error where a program calls it. */
export interface OpenedCall<_Do extends string, Given, Wire> extends SocketCall<Given, Wire> {}

type OpenArguments<Given> = {} extends Given ? [given?: Given] : [given: Given];
type SentTo<Wire> = Wire extends { readonly client: { readonly sent: infer Sent } } ? Sent : unknown;
type GotOf<Wire> = Wire extends { readonly server: { readonly got: infer Got } } ? Got : unknown;
type SubprotocolOf<Wire> = Wire extends { readonly subprotocol: infer Subprotocol } ? Subprotocol : string | undefined;
type FrameOf<Wire, Side extends string> = Wire extends { readonly [S in Side]: { readonly frame: infer Frame } }
  ? Frame
  : unknown;

/** Which messages are plain text and not JSON: a client has no code of the route, and a text may look like JSON. */
type TextSides<Wire> =
  FrameOf<Wire, "client"> extends "text"
    ? FrameOf<Wire, "server"> extends "text"
      ? { readonly text: "both" }
      : { readonly text: "sent" }
    : FrameOf<Wire, "server"> extends "text"
      ? { readonly text: "received" }
      : { readonly text?: undefined };

/** The subprotocols to offer: that of the route, and with a list others too, as a credential. */
type OfferedSubprotocol<Subprotocol> = undefined extends Subprotocol
  ? { readonly subprotocol?: Exclude<Subprotocol, undefined> | readonly string[] | undefined }
  : { readonly subprotocol: Subprotocol | readonly [Subprotocol, ...string[]] };
