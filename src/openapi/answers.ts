import type { ReturnsNode } from "../answers/returned.ts";
import { kindOf } from "../shapes/kind.ts";
import { compileWriter } from "../shapes/writer.ts";
import type { AnyEventKind } from "../streams/event.ts";
import type { AnyMessage, AnyProtocol } from "../streams/sockets/message.ts";
import { leadingSomewhere, withHeaders } from "./responses.ts";
import type { HeaderDocs, Responses } from "./responses.ts";
import { keyed } from "./request-body.ts";
import type { Direction, Schema } from "./schemas/schema.ts";
import type { Telling } from "./telling.ts";

/** What a route answers when it does not refuse. */
export function answersOf(returns: ReturnsNode, telling: Telling): Responses {
  switch (returns.kind) {
    case "json":
      return jsonAnswers(returns, telling);
    case "html":
    case "text": {
      const content = { [`text/${returns.kind === "html" ? "html" : "plain"}`]: { schema: { type: "string" } } };
      return { 200: { description: "The answer.", content } };
    }
    case "empty":
      return Object.fromEntries(
        returns.statuses.map(([status, sentence]) => [status, { description: sentence || "No content." }]),
      );
    case "response":
      return ownAnswers(returns);
    case "events":
      return { 200: eventsAnswer(returns.events ?? [], telling) };
    default:
      return { 101: socketAnswer(returns.protocol as AnyProtocol, telling) };
  }
}

function jsonAnswers({ statuses, shape, examples = [] }: ReturnsNode, telling: Telling): Responses {
  if (shape === undefined) return {};
  const schema = telling.shape(kindOf(shape), "output", "answer");
  const { write } = compileWriter(shape);
  const values: unknown[] = [];
  for (const example of examples) {
    const written = write(example);
    if (written.ok) values.push(JSON.parse(written.value));
    else telling.problem(`has an example of its answer that it could not write: ${written.error}`);
  }
  const content = { "application/json": { schema, ...(values.length === 0 ? {} : { examples: keyed(values) }) } };
  return Object.fromEntries(
    statuses.map(([status, sentence]) => [status, { description: sentence || "The answer.", content }]),
  );
}

function ownAnswers({ statuses, several, contentTypes }: ReturnsNode): Responses {
  if (!several) {
    return { default: { description: "A response of the route's own: a page, a redirect, a file, or nothing." } };
  }
  return Object.fromEntries(
    statuses.map(([status, sentence]) => {
      const types = contentTypes?.get(status) ?? [];
      // JSON of any kind; what is not JSON is text, or bytes.
      const content = types.map((type) => [type, { schema: /[/+]json$/.test(type) ? {} : { type: "string" } }]);
      const answer = { description: sentence, ...(types.length === 0 ? {} : { content: Object.fromEntries(content) }) };
      return [status, withHeaders(answer, leadingSomewhere(status))];
    }),
  );
}

/** Answers and refusals, put together where they have one status: it is of the types of either. */
export function eitherOf(answers: Responses, refusals: Responses): Responses {
  const all = { ...answers, ...refusals };
  for (const [status, answer] of Object.entries(answers)) {
    const refusal = refusals[status];
    if (refusal === undefined) continue;
    const content = { ...answer.content, ...refusal.content };
    const both = { description: `${answer.description} ${refusal.description}`, content };
    all[status] = withHeaders(both, { ...answer.headers, ...onlySome(refusal.headers) });
  }
  return all;
}

/** Headers that the route's own answer under the same status need not have. */
function onlySome(headers: HeaderDocs = {}): HeaderDocs {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, schema }]) => [name, { description, schema }]),
  );
}

function eventsAnswer(kinds: readonly AnyEventKind[], telling: Telling): Responses[string] {
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
    oneOf: kinds.map((kind) => eventSchema(kind, telling)),
  };
  if (telling.version === "3.2") return { description, content: { "text/event-stream": { itemSchema: item } } };
  // 3.1 has a schema for the whole of an answer alone, and the whole of a stream is text.
  const said = `${description} Each event is as x-item-schema says.`;
  return { description: said, content: { "text/event-stream": { schema: { type: "string" }, "x-item-schema": item } } };
}

function eventSchema({ name, payload }: AnyEventKind, telling: Telling): Schema {
  const event = { const: name };
  if (payload.shape === undefined) return { properties: { event } };
  const contentSchema = telling.shape(kindOf(payload.shape), "output", `event ${name}`);
  return { properties: { event, data: { contentMediaType: "application/json", contentSchema } } };
}

function socketAnswer({ subprotocol, client, server }: AnyProtocol, telling: Telling): Responses[string] {
  const speaking = subprotocol === undefined ? "" : `, speaking ${subprotocol}`;
  return {
    description: `A WebSocket${speaking}. What each side sends is x-websocket's client and server.`,
    "x-websocket": {
      ...(subprotocol === undefined ? {} : { subprotocol }),
      client: messageSchema(client, "input", "client message", telling),
      server: messageSchema(server, "output", "server message", telling),
    },
  };
}

function messageSchema({ frame, shape }: AnyMessage, direction: Direction, at: string, telling: Telling): Schema {
  if (shape !== undefined) return telling.shape(kindOf(shape), direction, at);
  return frame === "text" ? { type: "string" } : { type: "string", contentMediaType: "application/octet-stream" };
}
