import type { RefusalFormat } from "../answers/refusal-format.ts";
import type { ReturnsNode } from "../answers/returns-type.ts";
import type { AnyEventKind } from "../events/event.ts";
import { stripped } from "../http/fields.ts";
import {
  busy,
  crossOrigin,
  internal,
  invalid,
  outcomeUnknown,
  rateLimited,
  timedOut,
  tooLarge,
  unreadable,
  unsupportedMediaType,
  upgradeRequired,
} from "../refusals.ts";
import type { Challenge } from "../inputs/dep.ts";
import type { Code } from "../refusals.ts";
import { crossOrigin as crossOriginKey, deadline } from "../routing/meta.ts";
import type { Route } from "../routing/route.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { compileWriter } from "../schema/write.ts";
import type { CorsExtension } from "../security/cross-origin.ts";
import type { AnyMessage, AnyProtocol } from "../sockets/socket.ts";
import { streamOf } from "./inputs.ts";
import type { Reads } from "./inputs.ts";
import type { Direction, DocumentContext, Schema } from "./schema-rules.ts";
import { keyed } from "./texts.ts";

/** The value of `x-cors`; undefined for a route that the policy does not cover. */
export function corsOf(cors: CorsExtension | undefined, route: Route): object | undefined {
  if (cors === undefined || cors.routes?.includes(route) === false) return undefined;
  const { origins, credentials, headers, expose, maxAgeMs } = cors;
  return { origins, credentials, headers, expose, maxAge: Math.ceil(maxAgeMs / 1000) };
}

/** Responses by status. */
export interface Responses {
  [status: string]: {
    readonly description: string;
    readonly headers?: HeaderDocs;
    readonly content?: object;
    readonly [extension: `x-${string}`]: unknown;
  };
}

/** The headers of a response, by name. */
interface HeaderDocs {
  readonly [name: string]: { readonly description: string; readonly required?: true; readonly schema: Schema };
}

type Response = Responses[string];

/** `WWW-Authenticate` (RFC 9110 §11.6.1). */
function howToProve(challenges: readonly string[], always: boolean): HeaderDocs {
  const schema = { type: "string", enum: [...new Set(challenges)] };
  return { "WWW-Authenticate": { description: "How to prove who asks.", ...required(always), schema } };
}

/** `Retry-After` in seconds: only `busy` and `rate_limited` have it. */
const comeAgain: HeaderDocs = {
  "Retry-After": { description: "After how many seconds to ask again.", schema: { type: "integer", minimum: 0 } },
};

/** `Accept-Encoding` of a 415 (RFC 9110 §15.5.16). */
const codingsRead: HeaderDocs = {
  "Accept-Encoding": {
    description: "The Content-Encoding that is read, where the body's is not.",
    schema: { type: "string" },
  },
};

/** `Upgrade` of a WebSocket route. */
function whatToSpeak(always: boolean): HeaderDocs {
  return {
    Upgrade: { description: "What to speak.", ...required(always), schema: { type: "string", enum: ["websocket"] } },
  };
}

const whereTo: HeaderDocs = {
  Location: { description: "Where to.", schema: { type: "string", format: "uri-reference" } },
};

const redirects: ReadonlySet<number> = /* @__PURE__ */ new Set([301, 302, 303, 307, 308]);

/** `Location` of a redirect (RFC 9110 §15.4). */
function leadingSomewhere(status: number): HeaderDocs {
  return redirects.has(status) ? whereTo : {};
}

/** Adds headers to a response. */
function withHeaders({ description, headers, ...others }: Response, more: HeaderDocs): Response {
  const all = { ...headers, ...more };
  return { description, ...(Object.keys(all).length === 0 ? {} : { headers: all }), ...others };
}

function required(always: boolean): { readonly required?: true } {
  return always ? { required: true } : {};
}

/** The schemas of every document: the body of a refusal. */
export const refusalSchemas: { readonly [name: string]: Schema } = {
  Problem: {
    description: "One input that is not what it should be.",
    type: "object",
    properties: {
      at: { type: "string", description: "Where: path.x, query.x, body.x." },
      code: { type: "string", description: "The code." },
      message: { type: "string", description: "A sentence." },
    },
    required: ["at", "code", "message"],
  },
  Refusal: {
    description: "A refusal: the code a client branches on, and a sentence for a person.",
    type: "object",
    properties: {
      error: { type: "string", description: "The code." },
      message: { type: "string", description: "A sentence." },
      problems: {
        type: "array",
        items: { $ref: "#/components/schemas/Problem" },
        description: "For invalid: each input that is not what it should be.",
      },
    },
    required: ["error", "message"],
  },
};

/**
 * The codes that a route may refuse with: its own, its inputs', and those of the framework (contract 7.2).
 *
 * @param decodes Whether the app reads bodies by their `Content-Encoding`.
 * @param hasDeadlines Whether the app has a deadline for its routes.
 */
export function codesOf(route: Route, reads: Reads, decodes = false, hasDeadlines = false): readonly Code[] {
  const isSocket = route.returns.node.kind === "websocket";
  // A path parameter is checked even if the handler does not read it. One that declines never causes a 400.
  const checksPath = route.path.segments.some((segment) => {
    return typeof segment !== "string" && !(segment.kind === "param" && segment.declines);
  });
  const added: Code[] = [];
  if (checksPath || reads.isAny || isSocket) added.push(invalid);
  if (isSocket) added.push(upgradeRequired);
  if (reads.body !== undefined) added.push(unreadable, tooLarge);
  if (reads.body !== undefined && decodes) added.push(unsupportedMediaType);
  const isForAll = route.meta.find(crossOriginKey) === "any";
  if ((isSocket || isUnsafe(route.method)) && !isForAll) added.push(crossOrigin);
  const ofVersions = reads.validates ?? route.returns.node.validates;
  if (ofVersions !== undefined && route.method === "GET") added.push(ofVersions);
  added.push(busy, internal);
  if (hasDeadline(route, hasDeadlines)) added.push(timedOut, outcomeUnknown);
  const all = [...route.refuses, ...reads.codes, ...added];
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}

/** As the app compiles it: an event stream and a WebSocket have one only of their own. */
function hasDeadline({ meta, returns: { node } }: Route, hasDeadlines: boolean): boolean {
  const own = meta.find(deadline);
  return own === undefined ? hasDeadlines && node.kind !== "events" && node.kind !== "websocket" : own !== "none";
}

function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

/** Descriptions are CommonMark, where a line ends with two spaces. */
const lineBreak = "  \n";

/** How a document's refusals are written. */
export interface RefusalDocs {
  /** The content of every refusal, with unresolved references. */
  readonly content: object;
  readonly statusOf: (code: Code) => number;
}

/** Describes the refusals of an app with this format. */
export function describeRefusals(format: RefusalFormat | undefined, shape: DocumentContext["shape"]): RefusalDocs {
  if (format === undefined) {
    const schema = { $ref: "#/components/schemas/Refusal" };
    return { content: { "application/json": { schema } }, statusOf: ({ status }) => status };
  }
  const { contentType, shape: given, statusOf } = format.node;
  const type = stripped(contentType.split(";")[0] as string).toLowerCase();
  const schema = given === undefined ? { type: "string" } : shape(given, "output", "refusal");
  return { content: { [type]: { schema } }, statusOf };
}

/** One response for each status, with the meaning of each code on a line. */
export function refusalsOf(
  all: readonly Code[],
  { content, statusOf }: RefusalDocs,
  challenges: readonly Challenge[] = [],
): Responses {
  const responses: Responses = {};
  for (const status of [...new Set(all.map(statusOf))].toSorted((a, b) => a - b)) {
    const ofStatus = all.filter((code) => statusOf(code) === status);
    const description = ofStatus.map(({ name, doc }) => `${name}: ${doc}`).join(lineBreak);
    responses[status] = withHeaders({ description, content }, headersOf(ofStatus, challenges));
  }
  return responses;
}

/** The headers of refusals with one status. */
function headersOf(ofStatus: readonly Code[], own: readonly Challenge[]): HeaderDocs {
  const names = new Set(ofStatus.map(({ name }) => name));
  const ownOfStatus = own.filter(({ code }) => names.has(code)).map(({ value }) => value);
  const challenges = [...ofStatus.flatMap(({ challenge }) => challenge ?? []), ...ownOfStatus];
  const always = ofStatus.every(({ challenge }) => challenge !== undefined);
  return {
    ...(challenges.length === 0 ? {} : howToProve(challenges, always)),
    ...(names.has(busy.name) || names.has(rateLimited.name) ? comeAgain : {}),
    ...(names.has(unsupportedMediaType.name) ? codingsRead : {}),
    ...(names.has(upgradeRequired.name) ? whatToSpeak(ofStatus.length === 1) : {}),
  };
}

/** A route's responses, without its refusals. */
export function answersOf(returns: ReturnsNode, context: DocumentContext): Responses {
  switch (returns.kind) {
    case "json":
      return jsonAnswers(returns, context);
    case "html":
    case "text": {
      const content = { [`text/${returns.kind === "html" ? "html" : "plain"}`]: { schema: { type: "string" } } };
      return { 200: { description: meaningOf(200), content } };
    }
    case "empty":
      return Object.fromEntries(
        returns.statuses.map(([status, sentence]) => [status, { description: sentence || "No content." }]),
      );
    case "response":
      return ownAnswers(returns);
    case "events":
      return { 200: eventsAnswer(returns.events ?? [], context) };
    case "lines":
      return { 200: linesAnswer(returns, context) };
    default:
      return { 101: socketAnswer(returns.protocol as AnyProtocol, context) };
  }
}

/** A response must have a description. Without a sentence of its own it says no more than its status does. */
function meaningOf(status: number): string {
  return { 200: "OK.", 201: "Created.", 202: "Accepted." }[status] ?? "";
}

function jsonAnswers({ statuses, shape, examples = [] }: ReturnsNode, context: DocumentContext): Responses {
  if (shape === undefined) return {};
  const schema = context.shape(shape, "output", "answer");
  const { write } = compileWriter(shape);
  const values: unknown[] = [];
  for (const example of examples) {
    const written = write(example);
    if (written.ok) values.push(JSON.parse(written.value));
    else context.problem(`has an example answer that its shape cannot write: ${written.error}`);
  }
  const content = { "application/json": { schema, ...(values.length === 0 ? {} : { examples: keyed(values) }) } };
  return Object.fromEntries(
    statuses.map(([status, sentence]) => [status, { description: sentence || meaningOf(status), content }]),
  );
}

function ownAnswers({ statuses, several, contentTypes }: ReturnsNode): Responses {
  if (!several) {
    return { default: { description: "A response of the route's own: a page, a redirect, a file, or nothing." } };
  }
  return Object.fromEntries(
    statuses.map(([status, sentence]) => {
      const types = contentTypes?.get(status) ?? [];
      // JSON of any kind; other types are text or bytes.
      const content = types.map((type) => [
        type,
        { schema: /[/+]json$|^\*\/\*$/.test(type) ? {} : { type: "string" } },
      ]);
      const answer = { description: sentence, ...(types.length === 0 ? {} : { content: Object.fromEntries(content) }) };
      return [status, withHeaders(answer, leadingSomewhere(status))];
    }),
  );
}

const validatorHeaders: HeaderDocs = {
  ETag: { description: "The version of this representation.", schema: { type: "string" } },
  "Last-Modified": { description: "When it changed last.", schema: { type: "string" } },
};

/** Whether a route's answers have versions, by what it returns or by an input. */
export function hasVersions({ validates }: Pick<ReturnsNode, "validates">, reads: Reads): boolean {
  return (reads.validates ?? validates) !== undefined;
}

/** The successes with the headers of their version and, of a GET, the 304 of a client that has it already. */
export function withValidators(answers: Responses, method: string): Responses {
  const successes = Object.entries(answers).map(([status, answer]) => {
    return [status, status.startsWith("2") ? withHeaders(answer, validatorHeaders) : answer] as const;
  });
  const all: Responses = Object.fromEntries(successes);
  if (method !== "GET" || all["304"] !== undefined) return all;
  const { ETag } = validatorHeaders;
  return {
    ...all,
    304: { description: "The client has this version.", headers: { ETag: ETag as NonNullable<typeof ETag> } },
  };
}

/** Merges answers and refusals. If they share a status, the response has the content types of both. */
export function eitherOf(answers: Responses, refusals: Responses): Responses {
  const all = { ...answers, ...refusals };
  for (const [status, answer] of Object.entries(answers)) {
    const refusal = refusals[status];
    if (refusal === undefined) continue;
    const content = eitherContent(answer.content, refusal.content);
    const both = { description: `${answer.description}${lineBreak}${refusal.description}`, content };
    all[status] = withHeaders(both, { ...answer.headers, ...onlySome(refusal.headers) });
  }
  return all;
}

/** Content of either: of a type that both have, the schema is that of either. */
function eitherContent(one: object = {}, other: object = {}): object {
  const all: { [type: string]: unknown } = { ...one, ...other };
  for (const [type, { schema }] of Object.entries(one) as [string, { readonly schema?: unknown }][]) {
    const same = (other as { readonly [type: string]: { readonly schema?: unknown } })[type];
    if (same !== undefined) all[type] = { schema: { anyOf: [same.schema, schema] } };
  }
  return all;
}

/** The headers without `required`: the route's own answer of that status may lack them. */
function onlySome(headers: HeaderDocs = {}): HeaderDocs {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, schema }]) => [name, { description, schema }]),
  );
}

function eventsAnswer(kinds: readonly AnyEventKind[], context: DocumentContext): Responses[string] {
  const names = kinds.map(({ name }) => name).join(", ");
  const description = `Server-Sent Events: ${names}.`;
  const item: Schema = {
    type: "object",
    required: ["event", "data"],
    properties: {
      event: { type: "string" },
      data: { type: "string" },
      id: { type: "string" },
      retry: { type: "integer", minimum: 0 },
    },
    oneOf: kinds.map((kind) => eventSchema(kind, context)),
  };
  const content = { "text/event-stream": streamOf(item, context) };
  if (context.version === "3.2") return { description, content };
  return { description: `${description} Each event is as x-item-schema says.`, content };
}

function linesAnswer({ shape, statuses }: ReturnsNode, context: DocumentContext): Responses[string] {
  const item = context.shape(shape as AnyStandard, "output", "line");
  const description = statuses[0]?.[1] || "JSON lines: one value on each.";
  return { description, content: { "application/x-ndjson": streamOf(item, context) } };
}

function eventSchema({ name, payload }: AnyEventKind, context: DocumentContext): Schema {
  const event = { const: name };
  if (payload.shape === undefined) return { properties: { event } };
  const contentSchema = context.shape(payload.shape, "output", `event ${name}`);
  return { properties: { event, data: { contentMediaType: "application/json", contentSchema } } };
}

function socketAnswer({ subprotocols, client, server }: AnyProtocol, context: DocumentContext): Responses[string] {
  const speaking = subprotocols.length === 0 ? "" : `, speaking ${subprotocols.join(" or ")}`;
  const subprotocol = subprotocols.length === 1 ? subprotocols[0] : subprotocols;
  return {
    description: `A WebSocket${speaking}. What each side sends is x-websocket's client and server.`,
    "x-websocket": {
      ...(subprotocols.length === 0 ? {} : { subprotocol }),
      client: messageSchema(client, "input", "client message", context),
      server: messageSchema(server, "output", "server message", context),
    },
  };
}

function messageSchema(
  { frame, shape }: AnyMessage,
  direction: Direction,
  at: string,
  context: DocumentContext,
): Schema {
  if (shape !== undefined) return context.shape(shape, direction, at);
  return frame === "text" ? { type: "string" } : { type: "string", contentMediaType: "application/octet-stream" };
}
