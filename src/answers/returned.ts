import type { InputRequest } from "../inputs/request.ts";
import type { Refusal } from "../refusals.ts";
import type { Shape } from "../schema/valibot.ts";
import type { AnyEventKind } from "../events/event.ts";
import type { AnyProtocol } from "../sockets/message.ts";
import type { Answer } from "./answer.ts";

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

/** A kind of answer as the framework handles it. */
export interface ReturnsNode {
  readonly kind: "html" | "text" | "json" | "empty" | "response" | "events" | "websocket";
  /** Each status it may have with what that means; none where the answer is the route's own. */
  readonly statuses: readonly (readonly [status: number, sentence: string])[];
  /** The handler says which of the statuses. */
  readonly several: boolean;
  /** What the body of a response of the route's own may be, by its status. */
  readonly contentTypes?: ReadonlyMap<number, readonly string[]>;
  readonly shape?: Shape;
  /** Values of the shape, for the API document. */
  readonly examples?: readonly unknown[];
  /** The kinds of event a stream may send. */
  readonly events?: readonly AnyEventKind[];
  /** What a socket speaks. */
  readonly protocol?: AnyProtocol;
  /** Bytes of the longest message a socket takes. */
  readonly maxMessage?: number;
  /** What keeps a request from opening a socket, asked before its inputs are read. */
  readonly opens?: (asked: InputRequest, canUpgrade: boolean) => Refusal | undefined;
  /** Made once for each route; throws `Unwritable` for what the declaration cannot write. */
  readonly compile: () => (returned: unknown) => Answer;
}

/** What a response of the route's own means, and the content types of its body: `type/subtype`, `type/*` or `type/*+suffix`. */
export interface ResponseDoc {
  readonly doc: string;
  readonly contentTypes: readonly string[];
}

/** One of the statuses a route lists, with its value; made with {@link answer}. */
export interface Answered<out Status, out A> {
  readonly status: Status;
  readonly value: A;
}

/** What a route answers that lists several statuses; any other status is refused by the compiler. */
export function answer<const Status extends number>(status: Status): Answered<Status, void>;
export function answer<const Status extends number, A>(status: Status, value: A): Answered<Status, A>;
export function answer(status: number, value?: unknown): Answered<number, unknown> {
  return { status, value };
}

/** What a caller gets of an answer. */
export interface Succeeded<Status, Value> {
  readonly ok: true;
  readonly status: Status;
  readonly headers: Headers;
  readonly value: Value;
}
