import { isObject, needs, needsSchema } from "../arguments.ts";
import { eventOf } from "../events/event.ts";
import type { Event } from "../events/event.ts";
import type { Answer } from "../exchange/answer.ts";
import type { InputRequest } from "../inputs/request.ts";
import { inOneLine } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { anyJson } from "../schema/built-in.ts";
import { compileReader } from "../schema/read.ts";
import { isCompiled } from "../schema/standard.ts";
import type { InputOf, JsonForm, StandardSchema, OutputOf, AnyStandard } from "../schema/standard.ts";
import type { AnyShape, JsonOf, ValueOf } from "../schema/valibot.ts";
import { compileWriter } from "../schema/write.ts";

declare const received: unique symbol;
declare const given: unique symbol;
declare const got: unique symbol;
declare const chosen: unique symbol;
declare const wired: unique symbol;

/** The messages of one side of a WebSocket, of any type. */
export interface AnyMessage {
  readonly frame: "text" | "binary";
  /** Undefined unless it is JSON. */
  readonly shape: AnyStandard | undefined;
  /** Reads a frame's data. The error is for the log. */
  readonly read: (data: string | Uint8Array) => Result<unknown, string>;
  readonly write: (value: never) => Result<string | Uint8Array, string>;
  /** The same on the side of a client, where its own library's schema does not read and write the same JSON. */
  readonly atClient?: Pick<AnyMessage, "frame" | "shape" | "read" | "write">;
}

/** What a typed client sends and gets of a message: the JSON of a shape. Of plain text it has no sign on the wire, so the type has it. */
export interface MessageWire<out Sent, out Got, out Frame> {
  /** What a client sends. */
  readonly sent: Sent;
  /** What a client gets. */
  readonly got: Got;
  /** `"text"`, `"json"` or `"binary"`. */
  readonly frame: Frame;
}

/** That of JSON which is the same both ways. */
// A name of its own: an editor would show the type twice.
export interface JsonWire<out Json> extends MessageWire<Json, Json, "json"> {}

/**
 * The messages of one side of a WebSocket. The server receives an `A`, or gives a `Given` to be sent; a client sends a `Given`
 * and gets a `Got`. The three are one type, unless a schema of another library than Valibot changes the value.
 */
export interface Message<out A, in out Given = A, out Got = A, out Wire = unknown> extends AnyMessage {
  readonly [wired]?: Wire;
  readonly [received]?: A;
  readonly [given]?: (value: Given) => Given;
  readonly [got]?: Got;
}

/** Plain text. */
export const text: Message<string, string, string, MessageWire<string, string, "text">> = {
  frame: "text",
  shape: undefined,
  read: (data) => ok(data),
  write: (text: string) => ok(text),
};

/** Bytes. */
export const binary: Message<Uint8Array, Uint8Array, Uint8Array, MessageWire<Uint8Array, Uint8Array, "binary">> = {
  frame: "binary",
  shape: undefined,
  read: (data) => ok(data),
  write: (bytes: Uint8Array) => ok(bytes),
};

/** JSON of a shape, or of a schema of another library, in text frames. */
export function json<S extends AnyShape>(shape: S): Message<ValueOf<S>, ValueOf<S>, ValueOf<S>, JsonWire<JsonOf<S>>>;
export function json<S extends StandardSchema>(
  schema: S,
): Message<OutputOf<S>, InputOf<S>, JsonForm<OutputOf<S>>, MessageWire<InputOf<S>, JsonForm<OutputOf<S>>, "json">>;
export function json(shape: AnyStandard): unknown {
  needsSchema("Socket.json: its shape", shape);
  const message = messageOf(shape);
  return isCompiled(shape) ? message : { ...message, atClient: messageOf(anyJson) };
}

function messageOf(shape: AnyStandard): AnyMessage {
  const reader = compileReader(shape);
  const writer = compileWriter(shape);
  return {
    frame: "text",
    shape,
    read: (data) => {
      // A body of no bytes is an empty object; a message of none is no JSON.
      if (data === "") return error("body malformed");
      const read = reader.readText(data as string);
      if (read.ok) return read;
      return error(inOneLine(read.error, read.more, ({ code }, at) => `${at} ${code}`));
    },
    write: (value: never) => writer.write(value),
  };
}

/** A message encoded once, for any number of sockets. A hub carries it like an event. */
export type Encoded<Given> = Event<Message<unknown, Given, unknown>>;

/**
 * Encodes a message once, to send it to many sockets.
 *
 * @throws Error for a value that the shape cannot write, and for bytes, which need no encoding.
 *
 * @example
 * ```ts
 * hub.publish("room", Socket.encode(chat.server, { text }));
 * ```
 */
export function encode<Given, Got>(
  message: Message<unknown, Given, Got>,
  value: NoInfer<Given>,
): Event<Message<unknown, Given, Got>> {
  const isMessage = isObject(message) && typeof message.write === "function";
  needs(isMessage, "Socket.encode: its message", message, "made by Socket.json");
  const written = message.write(value as never);
  if (!written.ok) throw new Error(`Socket.encode: the shape cannot write this message: ${written.error}`);
  if (typeof written.value !== "string")
    throw new Error("Socket.encode: bytes need no encoding: send them as they are");
  return eventOf(undefined, written.value);
}

/** The protocol of a WebSocket, of any types. */
export interface AnyProtocol {
  readonly client: AnyMessage;
  readonly server: AnyMessage;
  /** The names that the client may choose from, in the order of the server's preference; empty for none. */
  readonly subprotocols: readonly string[];
  /** Whether the client must offer one of them. */
  readonly needsSubprotocol: boolean;
  /** Internal to the framework: how a route opens a WebSocket that speaks it. */
  readonly node: ProtocolNode;
}

/** What a protocol does for its route. */
export interface ProtocolNode {
  /** Checks the handshake: the refusal of a request that opens no WebSocket. */
  readonly opens: (request: InputRequest, canUpgrade: boolean) => Refusal | undefined;
  /** Checks the limits of a route, and makes the writer of its answers. Throws for an invalid limit. */
  readonly compile: (options: SocketOptions) => SocketAnswers;
}

/** The answers of a route with a WebSocket. */
export interface SocketAnswers {
  /** Bytes. */
  readonly maxMessage: number;
  /** The answer that opens the socket and runs the handler on it. */
  readonly write: (handler: unknown) => Answer;
}

/** The limits of a socket. */
export interface SocketOptions {
  /** Milliseconds without a message before a ping, and then before the socket counts as lost: 15,000 unless set. */
  readonly keepAliveMs?: number;
  /** The most bytes of a message: 1 MiB unless set. A longer one closes the socket with 1009. */
  readonly maxMessage?: number;
  /**
   * The most bytes sent without a message from the client, on a runtime that does not report what the client took (Workers):
   * 16 MiB unless set. Then `send` waits for a message, and after 30 s the socket counts as lost.
   */
  readonly maxUnheard?: number;
  /**
   * Compresses messages by `permessage-deflate` (RFC 7692) where the client offers it, on Node; off unless set. `true` is
   * `{ minBytes: 1024 }`. Messages that hold a secret next to text of another user are not to be compressed (BREACH).
   */
  readonly compression?: boolean | SocketCompression;
}

/** How the messages of a socket are compressed. */
export interface SocketCompression {
  /** A shorter message is sent as it is: 1024 bytes unless set. */
  readonly minBytes?: number;
}

/** A protocol as a typed client has it. */
export interface SocketWire<out ClientWire, out ServerWire, out Subprotocol> {
  /** The messages of the client. */
  readonly client: ClientWire;
  /** The messages of the server. */
  readonly server: ServerWire;
  /** The subprotocols that the route declares, and undefined where it needs none. */
  readonly subprotocol: Subprotocol;
}

/** The protocol of a WebSocket: the messages of the client and of the server. */
export interface Protocol<
  out Client,
  in out Server,
  in out ClientGiven = Client,
  out ServerGot = Server,
  out Subprotocol = string | undefined,
  out Wire = unknown,
> extends AnyProtocol {
  readonly [chosen]?: Subprotocol;
  readonly [wired]?: Wire;
  /** What the client sends. */
  readonly client: Message<Client, ClientGiven, unknown>;
  /** What the server sends. */
  readonly server: Message<unknown, Server, ServerGot>;
}

/** How a socket ended, or why a message could not be read. */
export type SocketEnd =
  | { readonly kind: "closed"; readonly code: number; readonly reason: string }
  | { readonly kind: "lost"; readonly detail: string }
  /** One message did not fit the protocol; the socket is still open. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** An open WebSocket. Iterating gives each message until it is closed, and throws for an unreadable one. */
export interface Socket<Client, Server, out Subprotocol = string | undefined> extends AsyncIterable<Client> {
  /** The subprotocol that both sides speak: one that the route declares and its client offered; undefined without one. */
  readonly subprotocol: Subprotocol;
  /**
   * The next message. The server reads no further from the client until this is called. Rejects if a function of the message's
   * shape throws.
   */
  receive(): Promise<Result<Client, SocketEnd>>;
  /** Resolves once there is room for another message. It also takes a message of `Socket.encode`. */
  send(message: Server | Encoded<Server>): Promise<Result<void, SocketEnd>>;
  /** Closes it, with code 1000 unless set. Only the first call counts. Resolves once the client has answered. */
  close(options?: { readonly code?: number | undefined; readonly reason?: string | undefined }): Promise<void>;
}

/** Handles one client. If it returns an `unreadable` end, the socket closes with code 1007. */
export type SocketHandler<Client, Server, Subprotocol = string | undefined> = (
  socket: Socket<Client, Server, Subprotocol>,
) => Promise<void | SocketEnd>;

/** As {@link SocketHandler}, of a handler. Its first parameter is a sentence of the compiler's error where the handler itself sends. */
export interface SocketAnswer<_Do extends string, Client, Server, Subprotocol = string | undefined> {
  (socket: Socket<Client, Server, Subprotocol>): Promise<void | SocketEnd>;
}

/** Thrown by an iteration for a message that could not be read. */
export class Unreadable extends Error {
  readonly end: Extract<SocketEnd, { readonly kind: "unreadable" }>;

  constructor(detail: string) {
    super("a message that could not be read");
    this.end = { kind: "unreadable", detail };
  }
}

/** A socket's end as text for the log. */
export function socketEndText(end: SocketEnd): string {
  if (end.kind === "lost") return `lost: ${end.detail}`;
  if (end.kind === "unreadable") return `a message that could not be read: ${end.detail}`;
  return "closed";
}
