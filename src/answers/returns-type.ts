import type { InputRequest } from "../inputs/request.ts";
import type { Code, Refusal } from "../refusals.ts";
import type { AnyStandard } from "../schema/standard.ts";
import type { AnyEventKind } from "../events/event.ts";
import type { AnyProtocol } from "../sockets/socket.ts";
import type { Answer } from "../exchange/answer.ts";

declare const takes: unique symbol;
declare const sends: unique symbol;
declare const under: unique symbol;

/** A route's declared kind of answer: what its handler returns, and what a caller then gets, under which statuses. */
export interface Returns<in A, out Sent = A, out Status = number> {
  /** For the framework alone. */
  readonly node: ReturnsNode;
  readonly [takes]?: (a: A) => void;
  readonly [sends]?: Sent;
  readonly [under]?: Status;
}

/** A kind of answer, for the framework. */
export interface ReturnsNode {
  readonly kind: "html" | "text" | "json" | "empty" | "response" | "events" | "lines" | "websocket";
  /** Each status with its meaning; empty for `Returns.response`. */
  readonly statuses: readonly (readonly [status: number, sentence: string])[];
  /** Whether the handler chooses one of the statuses. */
  readonly several: boolean;
  /** The content types of `Returns.responses`, by status. */
  readonly contentTypes?: ReadonlyMap<number, readonly string[]>;
  readonly shape?: AnyStandard;
  /** Its answers have an `ETag` or a `Last-Modified`: one to GET may be a 304, or a refusal with this code. */
  readonly validates?: Code;
  /** Values of the shape, for the API document. */
  readonly examples?: readonly unknown[];
  /** The kinds of event a stream may send. */
  readonly events?: readonly AnyEventKind[];
  /** The protocol of a socket. */
  readonly protocol?: AnyProtocol;
  /** The most bytes of a message that a socket accepts. */
  readonly maxMessage?: number;
  /** What is wrong with its statuses, or with the method of its route; each problem follows the route's name. */
  readonly check?: (method: string) => readonly string[];
  /** Checks the handshake of a socket before the inputs are read, and refuses a wrong one. */
  readonly opens?: (request: InputRequest, canUpgrade: boolean) => Refusal | undefined;
  /** Makes the writer, once per route. The writer throws `InvalidAnswerError` for a value that the declaration does not allow. */
  readonly compile: () => (returned: unknown) => Answer;
}

/** The meaning of a status, and the content types of its body: `type/subtype`, `type/*` or `type/*+suffix`. */
export interface ResponseDoc {
  readonly doc: string;
  readonly contentTypes: readonly string[];
}

/** One of the statuses a route lists, with its value; made with `answer`. */
export interface Answered<out Status, out A> {
  /** One of the statuses that the route lists. */
  readonly status: Status;
  /** The body, before it is encoded. */
  readonly value: A;
}

declare const hint: unique symbol;

/**
 * What a route that lists its statuses returns: a call of `answer`. The compiler's errors print `Hint`, the call to write, because
 * the names of the missing members do not say it.
 */
export interface ListedAnswer<out Hint extends string, out Status, out A> extends Answered<Status, A> {
  readonly [hint]?: Hint;
}

/** The answer of a route that lists several statuses; the compiler refuses any other status. */
export function answer<const Status extends number>(status: Status): Answered<Status, void>;
export function answer<const Status extends number, const A>(status: Status, value: A): Answered<Status, A>;
export function answer(status: number, value?: unknown): Answered<number, unknown> {
  return { status, value };
}

/** What the handler of a route with this `returns` may return. */
export type AnswerOf<R extends Returns<never, unknown>> = R extends Returns<infer A, unknown> ? A : never;

/** What a caller gets of an answer. */
export interface Succeeded<Status, Value> {
  /** Tells it from a refusal. */
  readonly ok: true;
  /** The 2xx status code. */
  readonly status: Status;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The decoded body: JSON, text, an event stream, or undefined without a body. */
  readonly value: Value;
}
