import type { AnyCodec } from "../codecs/codec.ts";
import type { AnyDep, BodyNeed, DepNode, FileNeed, Inputs, TextNeed } from "../inputs/dep.ts";
import type { Need } from "../inputs/request.ts";
import type { Code } from "../refusals.ts";
import type { Route } from "../routing/route.ts";
import { compileReader } from "../schema/read.ts";
import { kindOf } from "../schema/valibot.ts";
import type { Schema, DocumentContext } from "./schema.ts";

/** How who asks is proved, as OpenAPI has it. */
export type SecurityScheme = { readonly description?: string } & (
  | { readonly type: "http"; readonly scheme: string }
  | { readonly type: "apiKey"; readonly in: string; readonly name: string }
);

/** What one of is enough; an empty one is enough without proof. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] };

/** The scheme a credential is of: by HTTP's own header, or a key where it is first read. */
export function schemeOf({ scheme, doc, reads }: Credential): SecurityScheme {
  const description = doc === undefined ? {} : { description: doc };
  if (reads.some((read) => read.in === "header" && read.name.toLowerCase() === "authorization")) {
    return { type: "http", scheme, ...description };
  }
  const { in: place, name } = reads[0] ?? { in: "cookie", name: scheme };
  return { type: "apiKey", in: place, name, ...description };
}

/** What a route asks for: any one of its credentials, or none at all where nothing refuses for the want of one. */
export function securityOf(
  credentials: readonly Credential[],
  codes: readonly Code[],
): readonly SecurityRequirement[] | undefined {
  if (credentials.length === 0) return undefined;
  const schemes = [...new Set(credentials.map(({ scheme }) => scheme))];
  const needed = codes.some(({ status }) => status === 401) || credentials.some(isRequired);
  return [...schemes.map((scheme) => ({ [scheme]: [] })), ...(needed ? [] : [{}])];
}

function isRequired({ reads }: Credential): boolean {
  return reads.some(({ required }) => required === true);
}

/** A value read from the query, a header or a cookie. */
export type ReadNeed = TextNeed | Extract<Need, { readonly in: string }>;

/** A credential, with what its inputs read. */
export interface Credential {
  readonly scheme: string;
  readonly doc: string | undefined;
  readonly reads: readonly ReadNeed[];
}

/** What a route's inputs read, in the order it is read. */
export interface Reads {
  /** From the query, headers and cookies, what proves who asks left out. */
  readonly values: readonly ReadNeed[];
  readonly fields: readonly (TextNeed | FileNeed)[];
  readonly body: BodyNeed | undefined;
  readonly credentials: readonly Credential[];
  readonly codes: readonly Code[];
  /** What is read beside, in its author's words. */
  readonly alsoReads: readonly string[];
  /** Something is read that a description cannot name. */
  readonly isOpaque: boolean;
  /** Anything at all is read of the request, beside its path. */
  readonly isAny: boolean;
}

/** Walks a route's inputs, what each is made from before it. */
export function readsOf(inputs: Inputs): Reads {
  const deps = Object.values(inputs);
  const all = nodesOf(deps, false);
  const open = nodesOf(deps, true);
  const needs = all.flatMap(needsOf);
  const isOpaque = all.some(({ opaque }) => opaque === true);
  const body = all.find((node) => node.body !== undefined)?.body;
  return {
    values: open.flatMap(valuesOf),
    fields: needs.filter((need) => isField(need)),
    body,
    credentials: all.flatMap(credentialOf),
    codes: all.flatMap(({ codes = [] }) => codes),
    alsoReads: needs.flatMap((need) => ("custom" in need ? [need.custom] : [])),
    isOpaque,
    isAny: needs.length > 0 || body !== undefined || isOpaque,
  };
}

/** Every node once, by identity; `open` leaves out what only a credential reads. */
function nodesOf(deps: readonly AnyDep[], open: boolean): readonly DepNode[] {
  const nodes = new Set<DepNode>();
  const visit = ({ node }: AnyDep): void => {
    if (nodes.has(node) || (open && node.credential !== undefined)) return;
    node.from.forEach(visit);
    nodes.add(node);
  };
  deps.forEach(visit);
  return [...nodes];
}

type AnyNeed = TextNeed | FileNeed | Need;

function needsOf({ need, needs = [] }: DepNode): readonly AnyNeed[] {
  return need === undefined ? needs : [need, ...needs];
}

function valuesOf(node: DepNode): readonly ReadNeed[] {
  return needsOf(node).filter((need) => isValue(need));
}

function isValue(need: AnyNeed): need is ReadNeed {
  return "in" in need && (need.in === "query" || need.in === "header" || need.in === "cookie");
}

function isField(need: AnyNeed): need is TextNeed | FileNeed {
  return "in" in need && (need.in === "form" || need.in === "file");
}

function credentialOf(node: DepNode): readonly Credential[] {
  if (node.credential === undefined) return [];
  const { scheme, doc } = node.credential;
  return [{ scheme, doc, reads: nodesOf(node.from, false).flatMap(valuesOf) }];
}

/** A value of a path, a query, a header or a cookie, as the document lists it. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** A route's parameters: those of its path, then the others in the order they are read. */
export function parametersOf(route: Route, values: readonly ReadNeed[]): readonly Parameter[] {
  const parameters: Parameter[] = [];
  for (const segment of route.path.segments) {
    if (typeof segment === "string" || segment.kind === "rest") continue;
    parameters.push({ name: segment.name, in: "path", required: true, schema: codecSchema(segment.codec) });
  }
  for (const value of values) addParameter(parameterOf(value), parameters);
  return parameters;
}

/** What is read twice is one parameter, which is sent to the liking of both. */
function addParameter(parameter: Parameter, parameters: Parameter[]): void {
  const at = parameters.findIndex((other) => key(other) === key(parameter));
  const other = parameters[at];
  if (other === undefined) {
    parameters.push(parameter);
    return;
  }
  const alike = JSON.stringify(other.schema) === JSON.stringify(parameter.schema);
  const schema = alike ? other.schema : { allOf: [other.schema, parameter.schema] };
  parameters[at] = { ...other, required: other.required || parameter.required, schema };
}

/** A header's name is compared without case. */
function key({ in: place, name }: Parameter): string {
  return `${place} ${place === "header" ? name.toLowerCase() : name}`;
}

function parameterOf(need: ReadNeed): Parameter {
  const { name, required = false } = need;
  return { name, in: need.in, required, schema: "codec" in need ? textSchema(need) : { type: "string" } };
}

/** The schema of a text input: its codec's, in a list where it is repeated, with its default. */
function textSchema({ codec, repeated, default: printed }: TextNeed): Schema {
  const schema = codecSchema(codec);
  if (repeated) return { type: "array", items: schema };
  const value = printed === undefined ? undefined : jsonOf(printed, schema);
  return value === undefined ? schema : { ...schema, default: value };
}

/** What a codec says of its text. A kind the author named is a title; a set of words says enough itself. */
function codecSchema({ text }: AnyCodec): Schema {
  if (text === undefined) return { type: "string" };
  const { type, format, enum: words, kind } = text;
  return {
    type,
    ...(format === undefined ? {} : { format }),
    ...(words === undefined ? {} : { enum: words }),
    ...(kind === undefined || words !== undefined ? {} : { title: kind }),
  };
}

/** A printed value as JSON; a whole number that JSON's readers would round is left out. */
function jsonOf(printed: string, { type }: Schema): unknown {
  if (type === "boolean") return printed === "true";
  if (type === "number") return Number(printed);
  if (type === "integer") return Number.isSafeInteger(Number(printed)) ? Number(printed) : undefined;
  return printed;
}

type Content = { readonly [mediaType: string]: object };

/** What a route reads of its body; undefined where it reads none. */
export function requestBodyOf(reads: Reads, telling: DocumentContext): { readonly content: Content } | undefined {
  return reads.body === undefined ? undefined : { content: contentOf(reads.body, reads.fields, telling) };
}

function contentOf(body: BodyNeed, fields: Reads["fields"], telling: DocumentContext): Content {
  switch (body.as) {
    case "json":
      return jsonContent(body, telling);
    case "form":
      return formContent(fields);
    case "multipart":
      return { "multipart/form-data": { schema: { type: "object" } } };
    default: {
      const types = body.contentTypes ?? ["application/octet-stream"];
      return Object.fromEntries(types.map((type) => [type, { schema: { type: "string" } }]));
    }
  }
}

function jsonContent(body: Extract<BodyNeed, { as: "json" }>, telling: DocumentContext): Content {
  const { shape, examples } = body;
  const schema = telling.shape(kindOf(shape), "input", "body");
  if (examples.length === 0) return { "application/json": { schema } };
  const { readText } = compileReader(shape);
  for (const example of examples) {
    const read = readText(JSON.stringify(example));
    if (read.ok) continue;
    const wrong = read.error.map(({ at, message }) => `${at}: ${message}`).join(" ");
    telling.problem(`has an example of its body that it would not read: ${wrong}`);
  }
  return { "application/json": { schema, examples: keyed(examples) } };
}

/** Examples by their place in the list. */
export function keyed(examples: readonly unknown[]): { readonly [key: string]: { readonly value: unknown } } {
  return Object.fromEntries(examples.map((value, index) => [index, { value }]));
}

function formContent(fields: Reads["fields"]): Content {
  const described = new Map<string, Schema>();
  const required = new Set<string>();
  const files = new Set<string>();
  for (const field of fields) {
    if (!described.has(field.name)) described.set(field.name, fieldSchema(field));
    if (field.required) required.add(field.name);
    if (field.in === "file") files.add(field.name);
  }
  const properties = Object.fromEntries(described);
  const schema: Schema = { type: "object", properties, ...(required.size > 0 ? { required: [...required] } : {}) };
  if (files.size > 0) {
    const encoding = Object.fromEntries([...files].map((name) => [name, { contentType: "application/octet-stream" }]));
    return { "multipart/form-data": { schema, encoding } };
  }
  const both = {
    schema: { description: "A form: each field its value, a repeated one a list of them.", ...schema },
  };
  return { "application/x-www-form-urlencoded": both, "multipart/form-data": both };
}

// No boolean: one that is sent as false would be checked.
const box: Schema = { type: "string", description: "Checked where it is sent, whatever it says." };

function fieldSchema(field: TextNeed | FileNeed): Schema {
  if (field.in !== "file") return field.checked === true ? box : textSchema(field);
  const file = { type: "string", description: "A file." };
  return field.repeated ? { type: "array", items: file } : file;
}
