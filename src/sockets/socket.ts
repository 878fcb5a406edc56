import { isObject, needs, needsObject, needsOptions, needsSchema, needsText } from "../arguments.ts";
import { eventOf } from "../events/event.ts";
import type { Event } from "../events/event.ts";
import { itemsOf, lists } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import { Problem, Refusal, inOneLine, invalidRefusal, upgradeRequired } from "../refusals.ts";
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

/** RFC 6455 §4.1: a token. */
const subprotocolForm = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Declares a protocol.
 *
 * @param options `subprotocol` is a name that the client must offer in `Sec-WebSocket-Protocol` (RFC 6455 §1.9), or a list in the
 *   order of the server's preference: the first that the client offers is chosen, and is the socket's `subprotocol`. With
 *   `undefined` in the list, a client that offers none of them gets a socket without one.
 * @throws Error for a name that is no token, or that is listed twice.
 *
 * @example
 * ```ts
 * const chat = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: ["chat.v2", "chat.v1"] });
 * ```
 */
export function protocol<
  Client,
  Server,
  ClientGiven = Client,
  ServerGot = Server,
  const Subprotocol extends string | undefined = undefined,
  ClientWire = unknown,
  ServerWire = unknown,
>(options: {
  readonly client: Message<Client, ClientGiven, unknown, ClientWire>;
  readonly server: Message<unknown, Server, ServerGot, ServerWire>;
  readonly subprotocol?: Subprotocol | readonly Subprotocol[];
}): Protocol<Client, Server, ClientGiven, ServerGot, Subprotocol, SocketWire<ClientWire, ServerWire, Subprotocol>> {
  // The last two are members of a protocol that is copied: `{ ...chat, subprotocol: "chat.v2" }`.
  needsOptions("Socket.protocol", options, "client server subprotocol subprotocols needsSubprotocol");
  const { client, server, subprotocol } = options;
  needsObject("Socket.protocol: client", client);
  needsObject("Socket.protocol: server", server);
  const listed: readonly (string | undefined)[] = Array.isArray(subprotocol) ? subprotocol : [subprotocol];
  if (listed.length === 0) throw new Error("Socket.protocol: subprotocol is an empty list");
  const subprotocols = listed.filter((name) => name !== undefined);
  for (const [i, name] of subprotocols.entries()) {
    needsText("Socket.protocol: subprotocol", name);
    if (!subprotocolForm.test(name)) {
      throw new Error(`Socket.protocol: ${JSON.stringify(name)} is not a valid subprotocol name`);
    }
    if (subprotocols.indexOf(name) < i) throw new Error(`Socket.protocol: subprotocol lists ${name} twice`);
  }
  return { client, server, subprotocols, needsSubprotocol: !listed.includes(undefined) };
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
  close(options?: { readonly code?: number; readonly reason?: string }): Promise<void>;
}

/** Handles one client. If it returns an `unreadable` end, the socket closes with code 1007. */
export type SocketHandler<Client, Server, Subprotocol = string | undefined> = (
  socket: Socket<Client, Server, Subprotocol>,
) => Promise<void | SocketEnd>;

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

const notOpened = "This address opens a WebSocket, and nothing else.";
const otherVersion = "This server speaks version 13 of WebSockets.";

/**
 * Checks the handshake (RFC 6455 §4.2.1). The refusal is a 426 if the request asks for no WebSocket or another version,
 * otherwise a 400 with every problem.
 *
 * @param canUpgrade False for HTTP/1.0, which has no upgrade.
 */
export function handshakeRefusal(
  request: InputRequest,
  canUpgrade: boolean,
  { subprotocols, needsSubprotocol }: AnyProtocol,
): Refusal | undefined {
  if (!canUpgrade || !lists(request.lines("upgrade"), "websocket")) return upgradeRefusal(notOpened, []);
  const versions = request.lines("sec-websocket-version");
  if (versions.length !== 1 || versions[0] !== "13") {
    return upgradeRefusal(otherVersion, [["sec-websocket-version", "13"]]);
  }
  const problems: Problem[] = [];
  if (!lists(request.lines("connection"), "upgrade")) {
    problems.push(new Problem("header.connection", "required", "A WebSocket is opened with Connection: upgrade."));
  }
  const keys = request.lines("sec-websocket-key");
  // The base64 of 16 bytes; the last character holds 2 bits.
  if (keys.length !== 1 || !/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(keys[0] ?? "")) {
    problems.push(new Problem("header.sec-websocket-key", "malformed", "This is not a WebSocket key."));
  }
  if (needsSubprotocol && chosenSubprotocol(request, subprotocols) === undefined) {
    const which = subprotocols.length === 1 ? "which was not offered" : "none of which was offered";
    const message = `This socket speaks ${subprotocols.join(", ")}, ${which}.`;
    problems.push(new Problem("header.sec-websocket-protocol", "required", message));
  }
  return problems.length === 0 ? undefined : invalidRefusal(problems);
}

function upgradeRefusal(message: string, headers: Refusal["headers"]): Refusal {
  return new Refusal(upgradeRequired, message, { headers: [["upgrade", "websocket"], ...headers] });
}

/** The first of the server's subprotocols that the client offers (RFC 6455 §4.2.2); undefined where it offers none of them. */
export function chosenSubprotocol(
  request: Pick<InputRequest, "lines">,
  subprotocols: readonly string[],
): string | undefined {
  if (subprotocols.length === 0) return undefined;
  // Names are case-sensitive.
  const offered = new Set(itemsOf(request.lines("sec-websocket-protocol")));
  return subprotocols.find((name) => offered.has(name));
}
