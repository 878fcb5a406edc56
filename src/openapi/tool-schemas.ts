/** The JSON Schemas of one route as a tool: everything that a caller gives in one flat object, and what it gets. */
import type { BodyNeed, TextNeed } from "../inputs/dep.ts";
import { listSchema } from "../inputs/wire-list.ts";
import type { Route } from "../routing/route.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { Components } from "./components.ts";
import { readsOf } from "./inputs.ts";
import type { Reads } from "./inputs.ts";
import type { DocumentContext, Schema } from "./schema-rules.ts";
import { fieldSchema, parametersOf } from "./texts.ts";

/** A member of a tool's arguments, and where its route reads it. */
export interface ToolMember {
  /** `body` is the whole body, and `json` one member of a JSON object. */
  readonly in: "path" | "query" | "header" | "form" | "file" | "json" | "body";
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
  /** Whether the field counts as true wherever it is sent: a checkbox. */
  readonly checked?: true;
  /** Whether it is an object, each member of which is a field of the query. */
  readonly isObject?: true;
}

/** How a tool's call writes the body of its request. */
export type ToolBody =
  | { readonly as: "nothing" | "json" | "form" | "multipart" | "lines" }
  | { readonly as: "text" | "base64"; readonly contentType: string };

/** One route as a tool. */
export interface ToolSchemas {
  readonly members: readonly ToolMember[];
  readonly body: ToolBody;
  readonly input: Schema;
  /** Undefined where the answer has no shape. */
  readonly output: Schema | undefined;
  /** Whether the answer is no object, and so the member `result` of one. */
  readonly isWrapped: boolean;
  /** Why it cannot be a tool; each follows the name of the route. */
  readonly problems: readonly string[];
}

/** The member that an answer is in that is no object. */
export const resultMember = "result";

/** Describes a route as a tool. Credentials and cookies are no members: a call has those of its caller. */
export function describeTool(route: Route): ToolSchemas {
  const problems: string[] = [];
  const components = new Components({}, "#/$defs/");
  const notes = {
    imprecise: () => {},
    problem: (what: string): void => {
      problems.push(what);
    },
  };
  const context: DocumentContext = {
    shape: (shape, direction, at) => components.describe(shape, direction, at, notes),
    problem: notes.problem,
    version: "3.2",
    cors: undefined,
    encodings: [],
    hasDeadlines: false,
  };
  const reads = readsOf(route);
  const given = { texts: textsOf(route, reads, context), body: toolBodyOf(reads, context, problems) };
  const answer = answerSchema(route, context, problems);
  const input = components.resolve(given) as typeof given;
  const { schemas: inputSchemas, problems: ofInput } = components.finish(given);
  const { schemas: outputSchemas } = components.finish(answer ?? {});
  const members = [...input.texts, ...flattened(input.body.members, inputSchemas)];
  const output = answer === undefined ? undefined : outputOf(components.resolve(answer) as Schema, outputSchemas);
  return {
    members,
    body: input.body.body,
    input: inputOf(members, inputSchemas),
    output: output?.schema,
    isWrapped: output?.isWrapped ?? false,
    problems: [...problems, ...ofInput, ...clashes(members)],
  };
}

/** The JSON Schema of what a shape reads, with references within it. */
export function describeShape(shape: AnyStandard, problem: (what: string) => void): Schema {
  const components = new Components({}, "#/$defs/");
  const schema = components.describe(shape, "input", "arguments", { imprecise: () => {}, problem });
  const { schemas, problems } = components.finish(schema);
  problems.forEach(problem);
  return withDefinitions(rootOf(components.resolve(schema) as Schema, schemas), schemas);
}

/** The texts of path, query and header, and the rest of a path. */
function textsOf(route: Route, { values, body }: Reads, context: DocumentContext): readonly ToolMember[] {
  const open = values.filter((value) => value.in !== "cookie");
  const texts = parametersOf(route, { values: open, body }, context).map((parameter): ToolMember => {
    const { name, in: place, required, schema, style, description, deprecated, example } = parameter;
    const notes = {
      ...(description === undefined ? {} : { description }),
      ...(deprecated === undefined ? {} : { deprecated }),
      ...(example === undefined ? {} : { examples: [example] }),
    };
    const isObject = style === "deepObject" ? { isObject: true as const } : {};
    return { in: place as ToolMember["in"], name, required, schema: { ...schema, ...notes }, ...isObject };
  });
  const rests = route.path.segments.flatMap((segment): readonly ToolMember[] =>
    typeof segment === "object" && segment.kind === "rest"
      ? [{ in: "path", name: segment.name, required: true, schema: { type: "string", description: "A path: a/b/c." } }]
      : [],
  );
  return [...texts, ...rests];
}

interface ToolBodyMembers {
  readonly body: ToolBody;
  readonly members: readonly ToolMember[];
}

function toolBodyOf({ body, fields }: Reads, context: DocumentContext, problems: string[]): ToolBodyMembers {
  if (body === undefined) return { body: { as: "nothing" }, members: [] };
  switch (body.as) {
    case "json":
      return { body: { as: "json" }, members: [whole(context.shape(body.shape, "input", "body"))] };
    case "lines": {
      const items = context.shape(body.shape, "input", "line");
      return { body: { as: "lines" }, members: [whole({ type: "array", items })] };
    }
    case "form":
      return formOf(fields, context);
    case "multipart":
      problems.push("reads its body as parts that arrive, which no tool can give");
      return { body: { as: "nothing" }, members: [] };
    default:
      return rawOf(body, problems);
  }
}

function whole(schema: Schema): ToolMember {
  return { in: "body", name: "body", required: true, schema };
}

function formOf(fields: Reads["fields"], context: DocumentContext): ToolBodyMembers {
  const members = new Map<string, ToolMember>();
  for (const field of fields) {
    const before = members.get(field.name);
    const required = field.required || before?.required === true;
    const schema = before?.schema ?? (field.in === "file" ? fileSchema(field) : textSchema(field, context));
    const checked = field.in === "form" && field.checked === true ? { checked: true as const } : {};
    members.set(field.name, { in: field.in as "form" | "file", name: field.name, required, schema, ...checked });
  }
  const hasFile = fields.some(({ in: place }) => place === "file");
  return { body: { as: hasFile ? "multipart" : "form" }, members: [...members.values()] };
}

function textSchema(field: TextNeed, context: DocumentContext): Schema {
  return field.checked === true ? { type: "boolean" } : fieldSchema(field, context);
}

const base64: Schema = { type: "string", contentEncoding: "base64" };

function fileSchema({ repeated, about = {} }: Extract<Reads["fields"][number], { readonly in: "file" }>): Schema {
  const { doc = "The content of a file, in base64." } = about;
  return repeated ? { ...listSchema(base64, {}), description: doc } : { ...base64, description: doc };
}

function rawOf(
  { contentTypes = [] }: Extract<BodyNeed, { as: "bytes" | "stream" }>,
  problems: string[],
): ToolBodyMembers {
  const contentType = contentTypes.find((type) => !type.includes("*")) ?? "application/octet-stream";
  if (contentTypes.length > 0 && !contentTypes.includes(contentType)) {
    problems.push(`reads a body of ${contentTypes.join(" or ")}, of which a tool cannot choose one`);
  }
  const isText = /^text\/|[/+](?:json|xml)$/i.test(contentType);
  const description = `The body, as ${contentType}${isText ? "" : ", in base64"}.`;
  const schema: Schema = isText ? { type: "string", description } : { ...base64, description };
  return { body: { as: isText ? "text" : "base64", contentType }, members: [whole(schema)] };
}

/** What a JSON object has besides its members; more than that would be lost in a flat object. */
const ofObject: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "title",
  "description",
  "examples",
  "default",
  "deprecated",
]);

/** The members of a JSON object in place of the body. Any other body stays the member `body`. */
function flattened(
  members: readonly ToolMember[],
  schemas: { readonly [name: string]: Schema },
): readonly ToolMember[] {
  const [body] = members;
  if (body?.in !== "body") return members;
  const schema = rootOf(body.schema, schemas);
  const { type, properties, required = [], additionalProperties = false } = schema;
  const isClosed = additionalProperties === false;
  if (type !== "object" || typeof properties !== "object" || !isClosed) return members;
  if (!Object.keys(schema).every((keyword) => ofObject.has(keyword))) return members;
  return Object.entries(properties as { readonly [name: string]: Schema }).map(([name, one]) => {
    return { in: "json", name, required: (required as readonly string[]).includes(name), schema: one };
  });
}

function rootOf(schema: Schema, schemas: { readonly [name: string]: Schema }): Schema {
  const { $ref: reference, ...others } = schema;
  if (typeof reference !== "string" || Object.keys(others).length > 0) return schema;
  return schemas[reference.slice("#/$defs/".length)] ?? schema;
}

function inputOf(members: readonly ToolMember[], schemas: { readonly [name: string]: Schema }): Schema {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  return withDefinitions(
    {
      type: "object",
      properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
    schemas,
  );
}

/** A schema with those definitions that it refers to, directly or not. */
function withDefinitions(schema: Schema, schemas: { readonly [name: string]: Schema }): Schema {
  const used = new Map<string, Schema>();
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    for (const [keyword, value] of Object.entries(part)) {
      const name = keyword === "$ref" && typeof value === "string" ? value.slice("#/$defs/".length) : undefined;
      const found = name === undefined || used.has(name) ? undefined : schemas[name];
      if (name !== undefined && found !== undefined) used.set(name, found);
      visit(found ?? value);
    }
  };
  visit(schema);
  return used.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(used) };
}

/** A member that two places have: one flat object has room for one. */
function clashes(members: readonly ToolMember[]): readonly string[] {
  return members.flatMap((member, index) => {
    const first = members.findIndex(({ name }) => name === member.name);
    if (first === index) return [];
    const places = [members[first], member].map((one) => (one?.in === "json" ? "body" : one?.in));
    return [`has the member ${member.name} in its ${places.join(" and in its ")}: give one of them another name`];
  });
}

function answerSchema({ returns: { node } }: Route, context: DocumentContext, problems: string[]): Schema | undefined {
  if (node.kind === "websocket") problems.push("opens a WebSocket, which no tool can use");
  const { shape } = node;
  if (shape === undefined) return undefined;
  if (node.kind === "json") return context.shape(shape, "output", "answer");
  return node.kind === "lines" ? linesSchema(shape, context) : undefined;
}

function linesSchema(shape: AnyStandard, context: DocumentContext): Schema {
  return { type: "array", items: context.shape(shape, "output", "line") };
}

/** An answer that is no object is a member of one: before the version 2026-07-28 structured content is an object. */
function outputOf(
  answer: Schema,
  schemas: { readonly [name: string]: Schema },
): { readonly schema: Schema; readonly isWrapped: boolean } {
  const root = rootOf(answer, schemas);
  const isWrapped = root["type"] !== "object";
  const properties = { [resultMember]: answer };
  const schema = isWrapped ? { type: "object", properties, required: [resultMember] } : root;
  return { schema: withDefinitions(schema, schemas), isWrapped };
}
