import type {
  AnyDep,
  BodyNeed,
  Challenge,
  CredentialOptions,
  DepNode,
  FileNeed,
  Inputs,
  OAuthFlow,
  OAuthFlows,
  TextNeed,
} from "../inputs/dep.ts";
import type { Need } from "../inputs/request.ts";
import { inBackground } from "../logging/raised.ts";
import type { Code } from "../refusals.ts";
import { compileReader } from "../schema/read.ts";
import { isCompiled } from "../schema/standard.ts";
import type { AnyStandard } from "../schema/standard.ts";
import type { DocumentContext, Schema } from "./schema-rules.ts";
import { binary, fieldSchema, keyed } from "./texts.ts";
import type { ReadNeed } from "./texts.ts";

/** A security scheme object of OpenAPI. */
export type SecurityScheme = { readonly description?: string } & (
  | { readonly type: "http"; readonly scheme: string; readonly bearerFormat?: string }
  | { readonly type: "oauth2"; readonly flows: OAuthFlows }
  | { readonly type: "openIdConnect"; readonly openIdConnectUrl: string }
  | { readonly type: "apiKey"; readonly in: string; readonly name: string }
);

/** A security requirement object: the needed scopes of each scheme. An empty one means that authentication is optional. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] };

/** The name of its scheme in the document. */
export function schemeName({ scheme, options }: Credential): string {
  return options.name ?? scheme;
}

/** The scheme of a credential: `http` if it reads `Authorization`, otherwise an API key at its first input. */
export function schemeOf({ scheme, options, reads }: Credential): SecurityScheme {
  const { doc, bearerFormat, openIdConnect, oauth2 } = options;
  const description = doc === undefined ? {} : { description: doc };
  if (oauth2 !== undefined) return { type: "oauth2", flows: oauth2, ...description };
  if (openIdConnect !== undefined) {
    return { type: "openIdConnect", openIdConnectUrl: openIdConnect, ...description };
  }
  if (reads.some((read) => read.in === "header" && read.name.toLowerCase() === "authorization")) {
    return { type: "http", scheme, ...(bearerFormat === undefined ? {} : { bearerFormat }), ...description };
  }
  const { in: place, name } = reads[0] ?? { in: "cookie", name: scheme };
  return { type: "apiKey", in: place, name, ...description };
}

/** Any one of the route's credentials; and none, if a request may come without each of them. */
export function securityOf(
  credentials: readonly Credential[],
  codes: readonly Code[],
): readonly SecurityRequirement[] | undefined {
  if (credentials.length === 0) return undefined;
  const scopes = new Map<string, readonly string[]>();
  for (const credential of credentials) {
    const name = schemeName(credential);
    scopes.set(name, [...new Set([...(scopes.get(name) ?? []), ...(credential.options.scopes ?? [])])]);
  }
  const refusesStrangers = codes.some(({ status }) => status === 401);
  const isNeeded = (one: Credential): boolean => !(one.options.optional ?? !(refusesStrangers || isRequired(one)));
  return [...[...scopes].map(([name, needed]) => ({ [name]: needed })), ...(credentials.some(isNeeded) ? [] : [{}])];
}

/** What OpenAPI does not allow of a credential. */
export function credentialProblem(credential: Credential): string | undefined {
  const { scheme, options } = credential;
  const { optional, bearerFormat, openIdConnect, oauth2, scopes = [] } = options;
  if (optional === true && isRequired(credential)) {
    return `has the optional credential ${scheme}, which reads what must be sent`;
  }
  if (bearerFormat !== undefined && scheme.toLowerCase() !== "bearer") {
    return `has the credential ${scheme} with a bearerFormat, which only the scheme bearer has`;
  }
  if (oauth2 === undefined) return undefined;
  if (openIdConnect !== undefined) return `has the credential ${scheme} by OAuth 2 and by OpenID Connect: it is one`;
  const flows: readonly OAuthFlow[] = Object.values(oauth2);
  const unknown = scopes.find((scope) => !flows.some((flow) => Object.hasOwn(flow.scopes, scope)));
  return unknown === undefined
    ? undefined
    : `has the credential ${scheme} with the scope ${unknown}, which no flow lists`;
}

function isRequired({ reads }: Credential): boolean {
  return reads.some(({ required }) => required === true);
}

export interface Credential {
  readonly scheme: string;
  readonly options: CredentialOptions;
  readonly reads: readonly ReadNeed[];
}

/** The inputs of a route, in order. */
export interface Reads {
  /** From the query, headers and cookies, without credentials. */
  readonly values: readonly ReadNeed[];
  readonly fields: readonly (TextNeed | FileNeed)[];
  readonly body: BodyNeed | undefined;
  readonly credentials: readonly Credential[];
  readonly codes: readonly Code[];
  readonly challenges: readonly Challenge[];
  /** The code of the refusal that an input may make of an answer to GET, where it may make a 304 of it too. */
  readonly validates: Code | undefined;
  /** Other inputs, described by the author. */
  readonly alsoReads: readonly string[];
  /** Whether it has an input that the document cannot describe. */
  readonly isOpaque: boolean;
  /** Whether it has any input except the path. */
  readonly isAny: boolean;
}

/** Collects a route's inputs, dependencies first. */
export function readsOf({ inputs, method }: { readonly inputs: Inputs; readonly method: string }): Reads {
  const deps = Object.values(inputs);
  const all = nodesOf(deps, false);
  const open = nodesOf(deps, true).filter((node) => isReadBy(method, node));
  const needs = all.filter((node) => isReadBy(method, node)).flatMap(needsOf);
  const isOpaque = all.some(({ opaque }) => opaque === true);
  const body = all.find((node) => node.body !== undefined)?.body;
  return {
    values: open.flatMap(valuesOf),
    fields: needs.filter((need) => isField(need)),
    body,
    credentials: all.flatMap(credentialOf),
    codes: all.flatMap(({ codes = [] }) => codes),
    challenges: all.flatMap(({ challenges = [] }) => challenges),
    validates: all.find(({ validates }) => validates !== undefined)?.validates,
    alsoReads: needs.flatMap((need) => ("custom" in need ? [need.custom] : [])),
    isOpaque,
    isAny: needs.length > 0 || body !== undefined || isOpaque,
  };
}

/** Validators evaluate conditions for a 200 to GET or HEAD alone: any other answer is sent as it is. */
function isReadBy(method: string, { validates }: DepNode): boolean {
  return validates === undefined || method === "GET" || method === "HEAD";
}

/** Every node once, by identity; `open` leaves out inputs that only a credential reads. */
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
  const { scheme, ...options } = node.credential;
  return [{ scheme, options, reads: nodesOf(node.from, false).flatMap(valuesOf) }];
}

type Content = { readonly [mediaType: string]: object };

interface DescribedBody {
  readonly content: Content;
  readonly required?: true;
}

/** The request body of a route; undefined if it reads none. */
export function requestBodyOf({ body, fields }: Reads, context: DocumentContext): DescribedBody | undefined {
  if (body === undefined) return undefined;
  const content = contentOf(body, fields, context);
  return isNeeded(body, fields) ? { content, required: true } : { content };
}

/** Whether a request without a body is refused: `{}` does not fit, no part of a form, of no type that is read. */
function isNeeded(body: BodyNeed, fields: Reads["fields"]): boolean {
  if (body.as === "form") return fields.some(({ required }) => required);
  if (body.as === "json") return !readsNothing(body.shape);
  return body.as === "multipart" || body.contentTypes !== undefined;
}

/** Whether a shape reads an empty body, which is `{}`. A schema of another library may ask a database: it is not called for this. */
function readsNothing(shape: AnyStandard): boolean {
  try {
    return isCompiled(shape) && compileReader(shape).readText("").ok;
  } catch {
    // A check of the application's own may throw, and `App.make` says which shape has no JSON.
    return false;
  }
}

function contentOf(body: BodyNeed, fields: Reads["fields"], context: DocumentContext): Content {
  switch (body.as) {
    case "json":
      return jsonContent(body, context);
    case "lines": {
      const content = streamOf(context.shape(body.shape, "input", "line"), context);
      return Object.fromEntries(body.contentTypes.map((type) => [type, content]));
    }
    case "form":
      return fields.some((field) => field.in === "file") ? partsOf(fields, context) : formContent(fields, context);
    case "multipart":
      return partsOf(fields, context);
    default: {
      const types = body.contentTypes ?? ["application/octet-stream"];
      return Object.fromEntries(types.map((type) => [type, { schema: isText(type) ? { type: "string" } : binary }]));
    }
  }
}

function isText(type: string): boolean {
  return /^text\/|^application\/(?:json|xml)\b|\+(?:json|xml)\b/i.test(type);
}

function jsonContent(body: Extract<BodyNeed, { as: "json" }>, context: DocumentContext): Content {
  const { shape, examples } = body;
  const schema = context.shape(shape, "input", "body");
  if (examples.length === 0) return { "application/json": { schema } };
  const { readBody } = compileReader(shape);
  for (const example of examples) {
    const read = readBody(JSON.stringify(example));
    // A schema of another library may validate by a promise, for which a document does not wait.
    if (read instanceof Promise) inBackground(read);
    if (read instanceof Promise || read.ok) continue;
    const wrong = read.error.map(({ at, message }) => `${at}: ${message}`).join(" ");
    context.problem(`has an example body that its shape refuses: ${wrong}`);
  }
  return { "application/json": { schema, examples: keyed(examples) } };
}

/** The content of a stream. OpenAPI 3.1 has a schema only for a whole body, and a whole stream is text. */
export function streamOf(item: Schema, { version }: DocumentContext): object {
  return version === "3.2" ? { itemSchema: item } : { schema: { type: "string" }, "x-item-schema": item };
}

/** A form without files: a client may send it in either encoding. */
function formContent(fields: Reads["fields"], context: DocumentContext): Content {
  const described = "A form: each field its value, a repeated one a list of them.";
  const content = { schema: { description: described, ...formSchema(fields, context) } };
  return { "application/x-www-form-urlencoded": content, "multipart/form-data": content };
}

/** A form that is sent in parts. */
function partsOf(fields: Reads["fields"], context: DocumentContext): Content {
  const schema = fields.length === 0 ? { type: "object" } : formSchema(fields, context);
  const files = fields.filter((field) => field.in === "file");
  if (files.length === 0) return { "multipart/form-data": { schema } };
  const encoding = Object.fromEntries(files.map(({ name }) => [name, { contentType: "application/octet-stream" }]));
  return { "multipart/form-data": { schema, encoding } };
}

function formSchema(fields: Reads["fields"], context: DocumentContext): Schema {
  const described = new Map<string, Schema>();
  const required = new Set<string>();
  for (const field of fields) {
    if (!described.has(field.name)) described.set(field.name, fieldSchema(field, context));
    if (field.required) required.add(field.name);
  }
  const properties = Object.fromEntries(described);
  return { type: "object", properties, ...(required.size > 0 ? { required: [...required] } : {}) };
}
