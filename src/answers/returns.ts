import type { InputOf, JsonForm, StandardSchema, OutputOf, AnyStandard } from "../schema/standard.ts";
import type { JsonOf, AnyShape, ValueOf, Written } from "../schema/valibot.ts";
import {
  isKind,
  isListOf,
  isObject,
  kindOf,
  needs,
  needsObject,
  needsOptions,
  needsSchema,
  needsText,
  needsTexts,
} from "../arguments.ts";
import type { AnyEventKind, EventKind } from "../events/event.ts";
import type { EventsAnswer } from "../events/event-stream.ts";
import { typeWithTextKinds } from "../events/text-kinds.ts";
import type { Protocol, SocketAnswer, SocketOptions } from "../sockets/socket.ts";
import { htmlType, jsonType, textType } from "../exchange/answer.ts";
import type { Answer } from "../exchange/answer.ts";
import { answerFrom, checkKeepAlive, eventsAnswer, pageBody, plainAnswer, jsonWriterOf } from "./kinds.ts";
import { linesAnswer } from "./lines.ts";
import { isContentType } from "../inputs/body-inputs.ts";
import type { Answered, ListedAnswer, ResponseDoc, Returns, ReturnsNode } from "./returns-type.ts";
import { isPage } from "../html/page.ts";
import type { Html } from "../html/html.ts";
import { InvalidAnswerError } from "../refusals.ts";

/** A sentence in the error of a status that is no success; one that is no literal type is checked by `App.make` alone. */
type Success<Status extends number> = number extends Status
  ? Status
  : `${Status}` extends `2${number}`
    ? Status
    : "The status of an answer is 2xx: a failure is a refusal.";

/** As {@link Success}, of JSON, which HTTP sends under no 204 and no 205. */
type JsonSuccess<Status extends number> = number extends Status
  ? Status
  : `${Status}` extends "204" | "205"
    ? "HTTP sends no body under 204 and 205: use Returns.empty."
    : `${Status}` extends `2${number}`
      ? Status
      : "The status of an answer is 2xx: a failure is a refusal.";

/** The statuses of a record, each a success, and at least one. */
type SuccessList<Statuses> = [keyof Statuses] extends [never]
  ? "List at least one status."
  : { readonly [S in keyof Statuses]: S extends number ? (Success<S> extends S ? string : Success<S>) : string };

/**
 * 200, a page: `text/html; charset=utf-8`. The handler returns what the tag `html` makes, or text that is HTML already, with
 * nothing of a user in it. A page with promises or async iterables is sent as it becomes ready.
 */
export const html: Returns<string | Html, string, 200> = { node: /* @__PURE__ */ textNode("html", htmlType) };

/** 200, plain text: `text/plain; charset=utf-8`. */
export const text: Returns<string, string, 200> = { node: /* @__PURE__ */ textNode("text", textType) };

interface JsonNode {
  readonly node: ReturnsNode;
}
interface JsonOptions<Status extends number, Given> {
  readonly status?: JsonSuccess<Status>;
  readonly doc?: string;
  readonly examples?: readonly NoInfer<Given>[];
}

/**
 * A value as JSON, written from its shape: a member the shape does not name never leaves. 200 by default; the status
 * is 2xx, and never 204 or 205, which have no body. A schema that is not Valibot's validates what the handler gives, its
 * input, and its output is sent.
 *
 * @param options `doc` says for the API document what the answer is, and `examples` are values for it.
 */
export function json<S extends AnyShape, const Status extends number = 200>(
  shape: S,
  options?: JsonOptions<Status, Written<ValueOf<S>>>,
): Returns<Written<ValueOf<S>>, JsonOf<S>, Status>;
export function json<S extends StandardSchema, const Status extends number = 200>(
  schema: S,
  options?: JsonOptions<Status, Written<InputOf<S>>>,
): Returns<Written<InputOf<S>>, JsonForm<OutputOf<S>>, Status>;
// For errors: of four overloads a compiler reports the last alone; of three, TypeScript 5.9 reports each.
export function json<S extends AnyShape, const Status extends number = 200>(
  shape: S,
  options?: JsonOptions<Status, Written<ValueOf<S>>>,
): Returns<Written<ValueOf<S>>, JsonOf<S>, Status>;
// No schema reaches it that the others take.
export function json<S, const Status extends number = 200>(
  schema: S extends AnyStandard ? S : "Write a schema, such as v.object({ name: v.string() }).",
  options?: JsonOptions<
    Status,
    S extends AnyShape ? Written<ValueOf<S>> : S extends StandardSchema ? Written<InputOf<S>> : never
  >,
): Returns<never, unknown, Status>;
export function json(shape: AnyStandard, options: JsonOptions<number, unknown> = {}): JsonNode {
  needsOptions("Returns.json", options, "status doc examples");
  const status: number = options.status ?? 200;
  const { examples = [], doc = "" } = options;
  needs(Array.isArray(examples), "Returns.json: examples", examples, "a list");
  const compile = () => {
    const write = jsonWriterOf(shape);
    return (returned: unknown) => plainAnswer(status, jsonType, write(returned));
  };
  const check = () => wrongJson(status);
  return { node: { kind: "json", statuses: [[status, doc]], several: false, shape, examples, check, compile } };
}

/**
 * A value as JSON under one of several statuses, each listed with what it means; answered with `answer`.
 *
 * @param options `examples` are values for the API document.
 */
export function jsonResponse<S extends AnyShape, const Statuses extends { readonly [status: number]: string }>(
  shape: S,
  statuses: Statuses & SuccessList<Statuses>,
  options?: { readonly examples?: readonly NoInfer<Written<ValueOf<S>>>[] },
): Returns<
  ListedAnswer<"return answer(status, value)", keyof Statuses, Written<ValueOf<S>>>,
  JsonOf<S>,
  keyof Statuses & number
>;
export function jsonResponse<S extends StandardSchema, const Statuses extends { readonly [status: number]: string }>(
  schema: S,
  statuses: Statuses & SuccessList<Statuses>,
  options?: { readonly examples?: readonly NoInfer<Written<InputOf<S>>>[] },
): Returns<
  ListedAnswer<"return answer(status, value)", keyof Statuses, Written<InputOf<S>>>,
  JsonForm<OutputOf<S>>,
  keyof Statuses & number
>;
export function jsonResponse(
  shape: AnyStandard,
  statuses: { readonly [status: number]: string },
  options: { readonly examples?: readonly unknown[] } = {},
): JsonNode {
  needsOptions("Returns.jsonResponse", options, "examples");
  needsObject("Returns.jsonResponse: statuses", statuses);
  const compile = () => {
    const write = jsonWriterOf(shape);
    return (returned: unknown) => {
      const { status, value } = answeredOf(returned);
      return plainAnswer(status, jsonType, write(value));
    };
  };
  const { examples = [] } = options;
  needs(Array.isArray(examples), "Returns.jsonResponse: examples", examples, "a list");
  const check = checkOf(listed(statuses), wrongJson);
  return { node: { kind: "json", statuses: listed(statuses), several: true, shape, examples, check, compile } };
}

/**
 * No body; 204 by default.
 *
 * @param options `doc` says for the API document what the answer means.
 */
export function empty<const Status extends number = 204>(
  options: { readonly status?: Success<Status>; readonly doc?: string } = {},
): Returns<void, undefined, Status> {
  needsOptions("Returns.empty", options, "status doc");
  const status = (options.status ?? 204) as number;
  const compile = () => () => plainAnswer(status, undefined, undefined);
  const check = () => wrongSuccess(status);
  return { node: { kind: "empty", statuses: [[status, options.doc ?? ""]], several: false, check, compile } };
}

/** No body, under one of several statuses, each listed with what it means; answered with `answer`. */
export function emptyResponse<const Statuses extends { readonly [status: number]: string }>(
  statuses: Statuses & SuccessList<Statuses>,
): Returns<ListedAnswer<"return answer(status)", keyof Statuses, void>, undefined, keyof Statuses & number> {
  needsObject("Returns.emptyResponse: statuses", statuses);
  const compile = () => (returned: unknown) => plainAnswer(answeredOf(returned).status, undefined, undefined);
  const check = checkOf(listed(statuses), wrongSuccess);
  return { node: { kind: "empty", statuses: listed(statuses), several: true, check, compile } };
}

/** The 2xx statuses of a record; any number where a redirect, which a client follows, may lead elsewhere, and where none is listed. */
type ListedSuccess<Statuses> = [SuccessKey<Statuses>] extends [never] ? number : SuccessKey<Statuses>;
type SuccessKey<Statuses> = {
  [S in keyof Statuses]: S extends number
    ? `${S}` extends `2${number}`
      ? S
      : `${S}` extends "304"
        ? never
        : `${S}` extends `3${number}`
          ? number
          : never
    : never;
}[keyof Statuses];

/** What a typed client gets of the 2xx statuses of a record, by their content types. */
type ListedValue<Statuses> =
  number extends ListedSuccess<Statuses>
    ? unknown
    : { [S in keyof Statuses]: S extends ListedSuccess<Statuses> ? BodyOf<S, Statuses[S]> : never }[keyof Statuses];
type BodyOf<Status, Doc> = Doc extends { readonly contentTypes: readonly (infer Type)[] }
  ? string extends Type
    ? unknown
    : BodyOfType<Lowercase<Type & string>>
  : Status extends 204 | 205
    ? undefined
    : unknown;
/** As a client reads it: JSON, a text, a stream of events or of lines, and for any other type the `Response`. */
type BodyOfType<Type extends string> = Type extends `${string}/json` | `${string}+json`
  ? unknown
  : Type extends "text/event-stream"
    ? AsyncIterable<{ readonly name: string; readonly id: string | undefined; readonly value: unknown }>
    : Type extends "application/x-ndjson" | "application/jsonl"
      ? AsyncIterable<unknown>
      : Type extends `${"image" | "audio" | "video" | "font"}/*`
        ? Response
        : Type extends `${string}*${string}`
          ? unknown
          : Type extends `text/${string}`
            ? string
            : Response;

/**
 * Any response: built with `Answer`, or a standard `Response`. The API document has no statuses of it: use `Returns.responses`
 * to list them.
 */
export const response: Returns<Answer | Response, unknown> = {
  node: { kind: "response", statuses: [], several: false, compile: () => answerFrom },
};

/**
 * Any response under one of several statuses. Each is listed for the API document with its meaning, and with its content types
 * where it has a body: any status from 200 to 599, also of a refusal, and the 101 of a takeover. A typed client has the value of a
 * 2xx by its content types: a `string` of `text/csv`, and a `Response` whose body is unread of `application/pdf`. A file of any type has
 * the content type of every type, an asterisk on both sides.
 *
 * @throws RangeError for an invalid content type.
 *
 * @example
 * ```ts
 * Returns.responses({
 *   303: "Signed in: back to the orders.",
 *   403: { doc: "The name or the password is wrong: the page again.", contentTypes: ["text/html"] },
 * });
 * ```
 */
export function responses<const Statuses extends { readonly [status: number]: string | ResponseDoc }>(
  statuses: Statuses,
): Returns<Answer | Response, ListedValue<Statuses>, ListedSuccess<Statuses>> {
  needsObject("Returns.responses: statuses", statuses);
  const given = Object.entries(statuses).map(([status, doc]) => [Number(status), doc] as const);
  const contentTypes = new Map(
    given.flatMap(([status, doc]) => {
      if (typeof doc === "string") return [];
      needsObject(`Returns.responses: ${status}`, doc);
      needsTexts(`Returns.responses: contentTypes of ${status}`, doc.contentTypes);
      return [[status, doc.contentTypes] as const];
    }),
  );
  const wrong = [...contentTypes.values()].flat().find((type) => type !== "*/*" && !isContentType(type));
  if (wrong !== undefined) {
    throw new RangeError(
      `${JSON.stringify(wrong)} is no content type: neither type/subtype, type/*, type/*+suffix nor */*`,
    );
  }
  const meanings = given.map(([status, doc]) => [status, typeof doc === "string" ? doc : doc.doc] as const);
  return {
    node: {
      kind: "response",
      statuses: meanings,
      several: true,
      contentTypes,
      check: checkOf(meanings, wrongResponse),
      compile: () => answerFrom,
    },
  };
}

/**
 * A stream of events (`text/event-stream`) of the listed kinds. The handler returns a function that gets `send`, and makes the
 * events once the head is sent. After `keepAliveMs` without an event, 15,000 unless set, the stream sends a comment.
 *
 * @throws RangeError for an invalid `keepAliveMs`.
 *
 * @example
 * ```ts
 * const tick = Event.json("tick", v.number());
 * get(Path.of("ticks"), { inputs: { clientGone }, returns: Returns.events([tick]) }, ({ clientGone }) => async (send) => {
 *   for (let n = 0; !clientGone.aborted; n++) {
 *     if (!(await send(Event.make(tick, n, { id: `${n}` }))).ok) return;
 *     await setTimeout(1000);
 *   }
 * });
 * ```
 */
export function events<const Kinds extends readonly AnyEventKind[]>(
  kinds: Kinds,
  options: { readonly keepAliveMs?: number } = {},
): Returns<EventsAnswer<"return async (send) => { ... }", Kinds[number]>, AsyncIterable<Received<Kinds[number]>>, 200> {
  const areKinds = isListOf(kinds, isKind);
  needs(areKinds, "Returns.events: kinds", kinds, "a list of Event.json and Event.text");
  needsOptions("Returns.events", options, "keepAliveMs");
  const { keepAliveMs } = options;
  checkKeepAlive(keepAliveMs);
  const compile = () => {
    const declared = new Set(kinds.map(({ name }) => name));
    const type = typeWithTextKinds(kinds.filter(({ payload }) => payload.shape === undefined).map(({ name }) => name));
    return (returned: unknown) => eventsAnswer(returned, declared, keepAliveMs, type);
  };
  return { node: { kind: "events", statuses: [[200, ""]], several: false, events: kinds, compile } };
}

/**
 * 200, JSON lines (`application/x-ndjson`): one value of the shape on each line. The handler returns an async iterable, and a line
 * is sent as soon as its value is made. Nothing more is asked of it while the client has no room for a line, and its `return()` is
 * called when the client has gone. What raises after the head is sent, a value that the shape cannot write among it, cuts the
 * response.
 *
 * @param options `doc` says for the API document what the answer is.
 *
 * @example
 * ```ts
 * get(Path.of("orders"), { returns: Returns.jsonLines(Order) }, async function* () {
 *   for await (const order of allOrders()) yield order;
 * });
 * ```
 */
export function jsonLines<S extends StandardSchema>(
  schema: S,
  options?: { readonly doc?: string },
): Returns<AsyncIterable<Written<InputOf<S>>>, AsyncIterable<JsonForm<OutputOf<S>>>, 200>;
// The last, because TypeScript 7 reports the errors of the last overload alone.
export function jsonLines<S extends AnyShape>(
  shape: S,
  options?: { readonly doc?: string },
): Returns<AsyncIterable<Written<ValueOf<S>>>, AsyncIterable<JsonOf<S>>, 200>;
export function jsonLines(shape: AnyStandard, options: { readonly doc?: string } = {}): JsonNode {
  needsSchema("Returns.jsonLines: its shape", shape);
  needsOptions("Returns.jsonLines", options, "doc");
  const { doc = "" } = options;
  needsText("Returns.jsonLines: doc", doc);
  const compile = () => {
    const write = jsonWriterOf(shape);
    return (returned: unknown) => linesAnswer(returned, write);
  };
  return { node: { kind: "lines", statuses: [[200, doc]], several: false, shape, compile } };
}

/**
 * A WebSocket (RFC 6455): the handler returns a function that sends and receives on it. A request without a handshake is 426,
 * and one with a malformed handshake 400, before the inputs are read. A refusal is answered before the socket is opened.
 *
 * @throws RangeError for an invalid bound.
 *
 * @example
 * ```ts
 * const chat = Socket.protocol({ client: Socket.text, server: Socket.json(Line) });
 * get(Path.of("chat"), { returns: Returns.websocket(chat) }, () => async (socket) => {
 *   for await (const line of socket) await socket.send({ line });
 * });
 * ```
 */
export function websocket<
  Client,
  Server,
  ClientGiven = Client,
  ServerGot = Server,
  Subprotocol = string | undefined,
  Wire = unknown,
>(
  protocol: Protocol<Client, Server, ClientGiven, ServerGot, Subprotocol, Wire>,
  options: SocketOptions = {},
): Returns<SocketAnswer<"return async (socket) => { ... }", Client, Server, Subprotocol>, Wire, 101> {
  const isProtocol = isObject(protocol) && isObject(protocol.node);
  needs(isProtocol, "Returns.websocket: protocol", protocol, "made by Socket.protocol");
  needsOptions("Returns.websocket", options, "keepAliveMs maxMessage maxUnheard compression");
  checkKeepAlive(options.keepAliveMs);
  const { opens, compile } = protocol.node;
  const { maxMessage, write } = compile(options);
  const node: ReturnsNode = {
    kind: "websocket",
    statuses: [[101, ""]],
    several: false,
    protocol,
    maxMessage,
    opens,
    check: (method) => (method === "GET" ? [] : ["opens a WebSocket, which a GET alone does (RFC 6455 §4.1)"]),
    compile: () => write,
  };
  return { node };
}

type StatusList = readonly (readonly [status: number, sentence: string])[];

/** The check of the statuses that a handler chooses from. */
function checkOf(statuses: StatusList, wrongOf: (status: number) => readonly string[]): () => readonly string[] {
  const numbers = statuses.map(([status]) => status);
  const twice = numbers.filter((status, i) => numbers.indexOf(status) < i).map(() => "lists a status twice");
  return () => (numbers.length === 0 ? ["lists no status to answer"] : [...numbers.flatMap(wrongOf), ...twice]);
}

function wrongSuccess(status: number): readonly string[] {
  if (Number.isInteger(status) && status >= 200 && status <= 299) return [];
  return [`lists ${status}, which is not a success: failing is a refusal`];
}

function wrongJson(status: number): readonly string[] {
  if (status !== 204 && status !== 205) return wrongSuccess(status);
  return [`answers JSON under ${status}, which HTTP sends without a body: use Returns.empty`];
}

/** Any final status, and the 101 of `Answer.takeover`. */
function wrongResponse(status: number): readonly string[] {
  if (Number.isInteger(status) && (status === 101 || (status >= 200 && status <= 599))) return [];
  return [`lists ${status}, which no answer has`];
}

/** An event as a client receives it: `id` is the last id of its stream, and `value` its JSON value. */
export type Received<K> =
  K extends EventKind<infer Name, infer _A, infer Sent>
    ? { readonly name: Name; readonly id: string | undefined; readonly value: Sent }
    : never;

function textNode(kind: "html" | "text", contentType: string): ReturnsNode {
  const write = (returned: unknown): Answer => {
    if (typeof returned === "string") return plainAnswer(200, contentType, returned);
    if (kind === "html" && isPage(returned)) return plainAnswer(200, contentType, pageBody(returned));
    const what = returned instanceof Response ? "a Response: declare Returns.response" : kindOf(returned);
    throw new InvalidAnswerError(`an answer declared as ${kind} that is ${what}`);
  };
  return { kind, statuses: [[200, ""]], several: false, compile: () => write };
}

function listed(statuses: { readonly [status: number]: string }): StatusList {
  return Object.entries(statuses).map(([status, sentence]) => [Number(status), sentence]);
}

function answeredOf(returned: unknown): Answered<number, unknown> {
  if (typeof returned === "object" && returned !== null && "status" in returned && "value" in returned) {
    const { status, value } = returned;
    if (typeof status === "number") return { status, value };
  }
  throw new InvalidAnswerError("an answer with no status, from a route that lists several");
}

export type { SocketOptions } from "../sockets/socket.ts";
export type { AnswerOf } from "./returns-type.ts";
