/** Reads an OpenAPI 3.1 or 3.2 document. Nothing of it is trusted: what has another type is as good as absent. */
import { memberField } from "../src/inputs/wire-write.ts";

export interface Fields {
  readonly [name: string]: unknown;
}

/** A JSON Schema; `true` and `false` are read as `{}` and `{ not: {} }`. */
export type Schema = Fields;

export interface Parameter {
  readonly name: string;
  readonly place: "path" | "query" | "header" | "cookie";
  readonly isRequired: boolean;
  readonly isDeprecated: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly examples: readonly Example[];
}

export interface Example {
  readonly name: string;
  readonly value: unknown;
}

/** A body by its content type. */
export interface Content {
  readonly type: string;
  readonly schema: Schema;
  /** Of each item of a stream. */
  readonly itemSchema: Schema | undefined;
  readonly examples: readonly Example[];
}

export interface ApiResponse {
  readonly status: string;
  readonly description: string;
  readonly headers: readonly ApiHeader[];
  readonly contents: readonly Content[];
  /** What each side of a WebSocket sends. */
  readonly socket: Socket | undefined;
}

export type ApiHeader = Omit<Parameter, "place" | "examples">;

export interface Socket {
  readonly subprotocols: readonly string[];
  readonly client: Schema | undefined;
  readonly server: Schema | undefined;
}

/** The schemes that are needed together. An empty one needs none. */
export type Requirement = readonly { readonly scheme: string; readonly scopes: readonly string[] }[];

export interface Operation {
  /** What follows `#` in the page's address. */
  readonly anchor: string;
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
  readonly docs: ExternalDocs | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly isRequired: boolean; readonly contents: readonly Content[] } | undefined;
  readonly responses: readonly ApiResponse[];
  readonly security: readonly Requirement[];
  /** What else it reads, in words of its own. */
  readonly reads: readonly string[];
}

export interface ExternalDocs {
  readonly url: string;
  readonly description: string;
}

export interface Scheme {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  /** The other members. */
  readonly fields: Fields;
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export interface Api {
  /** Of the document: the URLs of servers are relative to it. */
  readonly url: string;
  readonly title: string;
  readonly version: string;
  readonly info: Fields;
  readonly docs: ExternalDocs | undefined;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly groups: readonly Group[];
  readonly operations: readonly Operation[];
  readonly schemes: readonly Scheme[];
  /** The schema that a `$ref` leads to, with the keywords next to it. */
  readonly resolve: (schema: Schema) => Schema;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
export const schemaOf = (value: unknown): Schema => (value === false ? { not: {} } : fieldsOf(value));
/** A member of the document's own, so `constructor` and `__proto__` are names as any other. */
export const memberOf = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

export function readDocument(json: unknown, url: string): Api {
  const root = fieldsOf(json);
  const info = fieldsOf(root["info"]);
  const reading = { resolve: (value: unknown) => resolved(root, fieldsOf(value)) };
  const operations = Object.entries(fieldsOf(root["paths"])).flatMap(([path, item]) =>
    operationsOf(path, reading.resolve(item), root, reading),
  );
  const components = fieldsOf(root["components"]);
  return {
    url,
    title: textOf(info["title"]) || "API",
    version: textOf(info["version"]),
    info,
    docs: docsOf(root["externalDocs"]),
    servers: listOf(root["servers"])
      .map(fieldsOf)
      .map(({ url, description }) => ({ url: textOf(url), description: textOf(description) })),
    groups: groupsOf(listOf(root["tags"]).map(fieldsOf), operations),
    operations,
    schemes: Object.entries(fieldsOf(components["securitySchemes"])).map(([name, value]) => {
      const fields = reading.resolve(value);
      return { name, type: textOf(fields["type"]), description: textOf(fields["description"]), fields };
    }),
    resolve: reading.resolve,
  };
}

interface Reading {
  readonly resolve: (value: unknown) => Fields;
}

/** Follows a `$ref` within the document; one that leads nowhere, or round and round, is an empty schema. */
function resolved(root: Fields, from: Fields): Fields {
  let at = from;
  for (let steps = 0; steps < 32; steps++) {
    const ref = memberOf(at, "$ref");
    if (typeof ref !== "string") return at;
    const { $ref: _, ...others } = at;
    at = { ...pointed(root, ref), ...others };
  }
  return {};
}

function pointed(root: Fields, ref: string): Fields {
  if (!ref.startsWith("#/")) return {};
  let at: unknown = root;
  // RFC 6901 §6: the percent-encoding is undone first.
  for (const part of decoded(ref.slice(2)).split("/")) {
    at = memberOf(fieldsOf(at), part.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return schemaOf(at);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function operationsOf(path: string, item: Fields, root: Fields, reading: Reading): Operation[] {
  const shared = listOf(item["parameters"]);
  // OpenAPI 3.2 has a place for every other method; Usher writes it into a document of 3.1 too.
  const others = { ...fieldsOf(item["x-additionalOperations"]), ...fieldsOf(item["additionalOperations"]) };
  const found = [
    ...methods.map((method) => [method, memberOf(item, method)] as const),
    ...Object.entries(others).map(([method, value]) => [method, value] as const),
  ];
  return found.flatMap(([method, value]) =>
    value === undefined ? [] : [operationOf(method, path, fieldsOf(value), { shared, root, reading })],
  );
}

interface Around {
  readonly shared: readonly unknown[];
  readonly root: Fields;
  readonly reading: Reading;
}

function operationOf(method: string, path: string, fields: Fields, { shared, root, reading }: Around): Operation {
  const body = fields["requestBody"] === undefined ? undefined : reading.resolve(fields["requestBody"]);
  const parameters = [...shared, ...listOf(fields["parameters"])].flatMap((value) =>
    parameterOf(reading.resolve(value), reading.resolve),
  );
  return {
    // A lone surrogate has no encoding.
    anchor: encodeURI(`${method}${path}`.toWellFormed()),
    method: methods.includes(method) ? method.toUpperCase() : method,
    path,
    id: textOf(fields["operationId"]),
    summary: textOf(fields["summary"]),
    description: textOf(fields["description"]),
    tags: listOf(fields["tags"]).map(textOf).filter(Boolean),
    isDeprecated: fields["deprecated"] === true,
    docs: docsOf(fields["externalDocs"]),
    // One of the operation replaces one of its path.
    parameters: [...new Map(parameters.map((one) => [`${one.place} ${one.name}`, one])).values()],
    body: body && { isRequired: body["required"] === true, contents: contentsOf(body["content"], reading) },
    responses: Object.entries(fieldsOf(fields["responses"])).map(([status, value]) =>
      responseOf(status, reading.resolve(value), reading),
    ),
    security: listOf(fields["security"] ?? root["security"]).map((value) =>
      Object.entries(fieldsOf(value)).map(([scheme, scopes]) => ({ scheme, scopes: listOf(scopes).map(textOf) })),
    ),
    reads: listOf(fields["x-reads"]).map(textOf).filter(Boolean),
  };
}

function parameterOf(fields: Fields, resolve: Reading["resolve"]): Parameter[] {
  const [name, place] = [textOf(fields["name"]), fields["in"]];
  if (place !== "path" && place !== "query" && place !== "header" && place !== "cookie") return [];
  const members = fields["style"] === "deepObject" ? membersOf(name, fields, resolve) : [];
  if (members.length > 0) return members;
  return [
    {
      name,
      place,
      isRequired: fields["required"] === true || place === "path",
      isDeprecated: fields["deprecated"] === true,
      description: textOf(fields["description"]),
      schema: valueSchema(fields),
      examples: examplesOf(fields),
    },
  ];
}

/** Of a parameter or a header. What is sent as JSON has a content type in place of a schema. */
function valueSchema({ schema, content }: Fields): Schema {
  const [first] = Object.values(fieldsOf(content));
  return schemaOf(schema ?? fieldsOf(first)["schema"]);
}

/** An object of the style `deepObject`: each of its members is a parameter, as it is sent. */
function membersOf(name: string, fields: Fields, resolve: Reading["resolve"]): Parameter[] {
  const schema = resolve(fields["schema"]);
  const required = listOf(schema["required"]);
  const examples = examplesOf(fields);
  return Object.entries(fieldsOf(schema["properties"])).map(([member, one]) => ({
    name: memberField(name, member),
    place: "query",
    isRequired: fields["required"] === true && required.includes(member),
    isDeprecated: fields["deprecated"] === true,
    description: textOf(fieldsOf(one)["description"]) || textOf(fields["description"]),
    schema: schemaOf(one),
    examples: examples.flatMap(({ name, value }) =>
      Object.hasOwn(fieldsOf(value), member) ? [{ name, value: fieldsOf(value)[member] }] : [],
    ),
  }));
}

function contentsOf(value: unknown, reading: Reading): Content[] {
  return Object.entries(fieldsOf(value)).map(([type, content]) => {
    const fields = reading.resolve(content);
    const itemSchema = fields["itemSchema"] ?? fieldsOf(fields["schema"])["x-item-schema"] ?? fields["x-item-schema"];
    return {
      type,
      schema: schemaOf(fields["schema"]),
      itemSchema: itemSchema === undefined ? undefined : schemaOf(itemSchema),
      examples: examplesOf(fields),
    };
  });
}

function examplesOf(fields: Fields): Example[] {
  const many = Object.entries(fieldsOf(fields["examples"])).map(([key, value]) => {
    const { summary, value: given, dataValue = given } = fieldsOf(value);
    // The keys of the document's own examples are numbers.
    return { name: textOf(summary) || (/^\d+$/.test(key) ? `Example ${Number(key) + 1}` : key), value: dataValue };
  });
  return "example" in fields ? [{ name: "Example", value: fields["example"] }, ...many] : many;
}

function responseOf(status: string, fields: Fields, reading: Reading): ApiResponse {
  const socket = fields["x-websocket"] === undefined ? undefined : fieldsOf(fields["x-websocket"]);
  const side = (value: unknown) => (value === undefined ? undefined : schemaOf(value));
  return {
    status,
    description: textOf(fields["description"]),
    headers: Object.entries(fieldsOf(fields["headers"])).map(([name, value]) => {
      const header = reading.resolve(value);
      return {
        name,
        description: textOf(header["description"]),
        isRequired: header["required"] === true,
        isDeprecated: header["deprecated"] === true,
        schema: valueSchema(header),
      };
    }),
    contents: contentsOf(fields["content"], reading),
    socket: socket && {
      subprotocols: [socket["subprotocol"]].flat().flatMap((name) => textOf(name) || []),
      client: side(socket["client"]),
      server: side(socket["server"]),
    },
  };
}

function docsOf(value: unknown): ExternalDocs | undefined {
  const { url, description } = fieldsOf(value);
  return typeof url === "string" ? { url, description: textOf(description) } : undefined;
}

/** The groups in the order of the document's tags, then those that only operations name, then the rest. */
function groupsOf(tags: readonly Fields[], operations: readonly Operation[]): Group[] {
  const groups = new Map<string, { description: string; operations: Operation[] }>();
  const groupOf = (name: string, description = "") => {
    const group = groups.get(name) ?? { description, operations: [] };
    groups.set(name, group);
    return group;
  };
  for (const { name, description } of tags) groupOf(textOf(name), textOf(description));
  const untagged: Operation[] = [];
  for (const operation of operations) {
    for (const tag of new Set(operation.tags)) groupOf(tag).operations.push(operation);
    if (operation.tags.length === 0) untagged.push(operation);
  }
  const named = [...groups]
    .map(([name, group]) => ({ name, ...group }))
    .filter(({ operations: all }) => all.length > 0);
  if (untagged.length === 0) return named;
  return [...named, { name: named.length === 0 ? "Operations" : "Others", description: "", operations: untagged }];
}

/** What a search finds an operation by. */
export function searchText({ method, path, id, summary, description, tags }: Operation): string {
  return [method, path, summary, id, ...tags, description].join("\n").toLowerCase();
}
