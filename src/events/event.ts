import { isKind, kindOf, needs, needsOptions, needsSchema, needsText } from "../arguments.ts";
import { current } from "../logging/context.ts";
import { log } from "../logging/writer.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { InputOf, JsonForm, StandardSchema, OutputOf, AnyStandard } from "../schema/standard.ts";
import type { JsonOf, AnyShape, ValueOf, Written } from "../schema/valibot.ts";
import { compileWriter } from "../schema/write.ts";

declare const value: unique symbol;
declare const sent: unique symbol;
declare const kind: unique symbol;

/** A kind of event, with any payload. */
export interface AnyEventKind {
  readonly name: string;
  /** Internal. */
  readonly payload: Payload;
}

/** A kind of event, declared on a route: its name, the type of its payload, and the type that a client gets. */
export interface EventKind<out Name extends string, in out A, out Sent = unknown> extends AnyEventKind {
  /** The `event` line. */
  readonly name: Name;
  // `undefined` is written out: with `exactOptionalPropertyTypes` TypeScript would advise to add it wherever a kind does not fit.
  readonly [value]?: ((a: A) => A) | undefined;
  readonly [sent]?: Sent | undefined;
}

/** How a payload is written. The error is for the log. */
export interface Payload {
  /** Undefined for plain text. */
  readonly shape: AnyStandard | undefined;
  readonly write: (value: never) => Result<string, string>;
}

/** An encoded event. It is encoded once, for any number of streams. `K` is its kind. */
export interface Event<out K> {
  /** The name of its kind; undefined for a retry, a comment or data alone. */
  readonly name: string | undefined;
  /** The lines of the event stream, with the blank one; empty if the event could not be encoded. */
  readonly wire: string;
  /** The same in UTF-8, encoded once. */
  readonly bytes: Uint8Array;
  readonly [kind]?: K | undefined;
}

export function eventOf(name: string | undefined, wire: string): Event<never> {
  return new WireEvent(name, wire);
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** The only class of events: a socket tells an event from a value by `instanceof`. */
export class WireEvent implements Event<never> {
  readonly name: string | undefined;
  readonly wire: string;
  #bytes: Uint8Array | undefined = undefined;

  constructor(name: string | undefined, wire: string) {
    this.name = name;
    this.wire = wire;
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= encoder.encode(this.wire));
  }
}

/** A kind of event whose payload is JSON, written by a shape or by a schema of another library. */
export function json<const Name extends string, S extends AnyShape>(
  name: Name,
  shape: S,
): EventKind<Name, ValueOf<S>, JsonOf<S>>;
export function json<const Name extends string, S extends StandardSchema>(
  name: Name,
  schema: S,
): EventKind<Name, InputOf<S>, JsonForm<OutputOf<S>>>;
export function json(name: string, shape: AnyStandard): AnyEventKind {
  needsText("Event.json: its name", name);
  needsSchema("Event.json: its shape", shape);
  const { write } = compileWriter(shape);
  return { name, payload: { shape, write } };
}

/** A kind of event whose payload is plain text, of any number of lines. */
export function text<const Name extends string>(name: Name): EventKind<Name, string, string> {
  needsText("Event.text: its name", name);
  return { name, payload: { shape: undefined, write: writeText } };
}

function writeText(text: string): Result<string, string> {
  return typeof text === "string" ? ok(text) : error(`its payload is ${kindOf(text)}, and not a text`);
}

/**
 * Makes an event. A value that the shape cannot write, an id with a line break or NUL, or a name with a line break is a
 * bug: it is logged at error, and the event sends nothing.
 *
 * @param options `id` comes back as `Last-Event-ID` when the client reconnects.
 */
export function make<Name extends string, A, Sent>(
  kind: EventKind<Name, A, Sent>,
  value: NoInfer<Written<A>>,
  options: { readonly id?: string } = {},
): Event<EventKind<Name, A, Sent>> {
  needs(isKind(kind), "Event.make: its kind", kind, "made by Event.json or Event.text");
  needsOptions("Event.make", options, "id");
  const { name } = kind;
  const wire = encode(name, kind.payload.write(value as never), options.id);
  if (wire.ok) return eventOf(name, wire.value);
  logUnsent(`the event ${JSON.stringify(name)} could not be made: ${wire.error}`);
  return eventOf(name, "");
}

function logUnsent(message: string): void {
  log({ level: "error", source: "framework.http", message, fields: {}, context: current() });
}

/**
 * Tells the client how long to wait before it reconnects, in milliseconds; a fraction is rounded up. A negative number, or one that
 * is not a safe integer, is a bug: it is logged at error, and nothing is sent.
 */
export function retry(options: { readonly ms: number }): Event<never> {
  needsOptions("Event.retry", options, "ms");
  const { ms } = options;
  const whole: unknown = typeof ms === "number" ? Math.ceil(ms) : ms;
  if (Number.isSafeInteger(whole) && ms >= 0) return eventOf(undefined, `retry: ${String(whole)}\n\n`);
  logUnsent("Event.retry sent nothing: its ms is not a number of milliseconds, 0 or more");
  return eventOf(undefined, "");
}

/**
 * An event that has data and no name, as the clients of OpenAI's API and the like read them: `data: {…}`, and `data: [DONE]` at the end.
 * An `EventSource` gets it as `message`. The text is sent as it is, each of its lines as one of the data. An id with a line break or
 * NUL is a bug: it is logged at error, and nothing is sent.
 *
 * @param options `id` comes back as `Last-Event-ID` when the client reconnects.
 * @example
 * ```ts
 * yield Event.data(JSON.stringify(chunk));
 * yield Event.data("[DONE]");
 * ```
 */
export function data(text: string, options: { readonly id?: string } = {}): Event<never> {
  needsText("Event.data: its text", text);
  needsOptions("Event.data", options, "id");
  const wire = encode(undefined, ok(text), options.id);
  if (wire.ok) return eventOf(undefined, wire.value);
  logUnsent(`an event of Event.data could not be made: ${wire.error}`);
  return eventOf(undefined, "");
}

/** A comment, which clients ignore. */
export function comment(text: string): Event<never> {
  needsText("Event.comment: its text", text);
  return eventOf(undefined, `${prefixed(": ", text)}\n`);
}

function encode(
  name: string | undefined,
  payload: Result<string, string>,
  id: string | undefined,
): Result<string, string> {
  if (name !== undefined && /[\r\n]/.test(name)) return error("its name has a line break");
  if (id !== undefined && /[\r\n\0]/.test(id)) return error("its id has a line break or a NUL");
  if (!payload.ok) return payload;
  const named = name === undefined ? "" : `event: ${name}\n`;
  const head = id === undefined ? named : `${named}id: ${id}\n`;
  return ok(`${head}${prefixed("data: ", payload.value)}\n`);
}

// HTML, "Server-sent events": a lone CR ends a line too. A pattern takes 12 µs for 10 kB, and these 0.1 µs.
function prefixed(prefix: string, text: string): string {
  if (!text.includes("\n") && !text.includes("\r")) return `${prefix}${text}\n`;
  const lines = text.split(/\r\n|\r|\n/);
  return lines.map((line) => `${prefix}${line}\n`).join("");
}
