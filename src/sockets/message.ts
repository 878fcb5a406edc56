import { eventOf } from "../events/event.ts";
import type { Event } from "../events/event.ts";
import { inOneLine } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { compileReader } from "../schema/read.ts";
import type { Shape, ValueOf } from "../schema/valibot.ts";
import { compileWriter } from "../schema/write.ts";

declare const value: unique symbol;

/** What one side of a socket sends, of any type. */
export interface AnyMessage {
  /** The kind of frame it travels in. */
  readonly frame: "text" | "binary";
  /** Undefined where it is no JSON. */
  readonly shape: Shape | undefined;
  /** The message a frame holds, or for the log why it holds none. */
  readonly read: (data: string | Uint8Array) => Result<unknown, string>;
  readonly write: (value: never) => Result<string | Uint8Array, string>;
}

/** What one side of a socket sends. */
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

/** JSON of a shape, as text. */
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

/** A message as it goes out, written once, however many sockets it is sent to. A hub carries it as it does an event. */
export type Encoded<A> = Event<Message<A>>;

/**
 * Writes a message once, for all the sockets it is to be sent to.
 *
 * @throws Error for a value its shape cannot write, and for bytes: those are sent as they are.
 *
 * @example
 * ```ts
 * hub.publish("room", Socket.encode(chat.server, { text }));
 * ```
 */
export function encode<A>(message: Message<A>, value: A): Encoded<A> {
  const written = message.write(value as never);
  if (!written.ok) throw new Error(`Socket.encode: a message that cannot be written: ${written.error}`);
  if (typeof written.value !== "string") throw new Error("Socket.encode: bytes are sent as they are");
  return eventOf(undefined, written.value);
}

/** What a socket speaks, of any types. */
export interface AnyProtocol {
  readonly client: AnyMessage;
  readonly server: AnyMessage;
  /** Must be offered by the client, by this very name (RFC 6455 §1.9). */
  readonly subprotocol: string | undefined;
}

/** What a socket speaks: what its client sends, and what it is sent. */
export interface Protocol<Client, Server> extends AnyProtocol {
  readonly client: Message<Client>;
  readonly server: Message<Server>;
}

/** A protocol of messages each way. Throws where the subprotocol is no token. */
export function protocol<Client, Server>(options: {
  readonly client: Message<Client>;
  readonly server: Message<Server>;
  readonly subprotocol?: string;
}): Protocol<Client, Server> {
  const { client, server, subprotocol } = options;
  if (subprotocol !== undefined && !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(subprotocol)) {
    throw new Error(`Socket.protocol: ${JSON.stringify(subprotocol)} is no subprotocol's name`);
  }
  return { client, server, subprotocol };
}
