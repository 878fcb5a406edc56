import { eventOf } from "../events/event.ts";
import type { Event } from "../events/event.ts";
import { inOneLine } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { compileReader } from "../schema/read.ts";
import type { Shape, ValueOf } from "../schema/valibot.ts";
import { compileWriter } from "../schema/write.ts";

declare const value: unique symbol;

/** The messages of one side of a WebSocket, of any type. */
export interface AnyMessage {
  readonly frame: "text" | "binary";
  /** Undefined unless it is JSON. */
  readonly shape: Shape | undefined;
  /** Reads a frame's data. The error is for the log. */
  readonly read: (data: string | Uint8Array) => Result<unknown, string>;
  readonly write: (value: never) => Result<string | Uint8Array, string>;
}

/** The messages of one side of a WebSocket. */
export interface Message<in out A> extends AnyMessage {
  readonly [value]?: (a: A) => A;
}

/** Plain text. */
export const text: Message<string> = {
  frame: "text",
  shape: undefined,
  read: (data) => ok(data),
  write: (text: string) => ok(text),
};

/** Bytes. */
export const binary: Message<Uint8Array> = {
  frame: "binary",
  shape: undefined,
  read: (data) => ok(data),
  write: (bytes: Uint8Array) => ok(bytes),
};

/** JSON of a shape, in text frames. */
export function json<S extends Shape>(shape: S): Message<ValueOf<S>> {
  const reader = compileReader(shape);
  const writer = compileWriter(shape);
  return {
    frame: "text",
    shape,
    read: (data) => {
      const read = reader.readText(data as string);
      if (read.ok) return read;
      return error(inOneLine(read.error, read.more, ({ code }, at) => `${at} ${code}`));
    },
    write: (value: never) => writer.write(value),
  };
}

/** A message encoded once, for any number of sockets. A hub carries it like an event. */
export type Encoded<A> = Event<Message<A>>;

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
export function encode<A>(message: Message<A>, value: A): Encoded<A> {
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
  /** The client must offer this name (RFC 6455 §1.9). */
  readonly subprotocol: string | undefined;
}

/** The protocol of a WebSocket: the messages of the client and of the server. */
export interface Protocol<Client, Server> extends AnyProtocol {
  readonly client: Message<Client>;
  readonly server: Message<Server>;
}

/** Declares a protocol. Throws if the subprotocol is not a token. */
export function protocol<Client, Server>(options: {
  readonly client: Message<Client>;
  readonly server: Message<Server>;
  readonly subprotocol?: string;
}): Protocol<Client, Server> {
  const { client, server, subprotocol } = options;
  if (subprotocol !== undefined && !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(subprotocol)) {
    throw new Error(`Socket.protocol: ${JSON.stringify(subprotocol)} is not a valid subprotocol name`);
  }
  return { client, server, subprotocol };
}
