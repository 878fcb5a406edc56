import { encodeSegment } from "../http/target.ts";
import type { Code } from "../refusals.ts";
import type { Route } from "../routing/route.ts";
import type { CorsExtension } from "../security/cross-origin.ts";
import { Components } from "./components.ts";
import { parametersOf, readsOf, requestBodyOf, schemeOf, securityOf } from "./inputs.ts";
import type { Credential, Parameter, SecurityRequirement, SecurityScheme } from "./inputs.ts";
import { answersOf, codesOf, eitherOf, refusalSchemas, refusalsOf, sharingOf } from "./responses.ts";
import type { Responses } from "./responses.ts";
import type { OpenapiVersion, Schema, DocumentContext } from "./schema.ts";

/**
 * Puts two routes together that differ only by their parameters' types (contract 4.2): one operation, whose parameter
 * is of either type. Answers why they cannot be one, if so.
 */
function mergeOperations(one: DescribedRoute, other: DescribedRoute): DescribedRoute | string {
  if (one.route.pattern !== other.route.pattern) {
    return "differ only by a parameter's type, so they are one operation: it gives the parameter one name";
  }
  if (!declines(one)) return `are both the operation ${one.id}`;
  if (!same(one.answers, other.answers)) {
    return "differ only by a parameter's type, so they are one operation: it answers one way";
  }
  if (!same(one.requestBody, other.requestBody)) {
    return "differ only by a parameter's type, so they are one operation: it reads one body";
  }
  const codes = [...one.codes, ...other.codes];
  return {
    ...one,
    parameters: eitherParameters(one.parameters, other.parameters),
    codes: codes.filter(({ name }, index) => codes.findIndex((code) => code.name === name) === index),
    credentials: [...one.credentials, ...other.credentials],
    security: eitherSecurity(one.security, other.security),
    alsoReads: [...new Set([...one.alsoReads, ...other.alsoReads])],
    isOpaque: one.isOpaque || other.isOpaque,
  };
}

/** The path without its parameters' names: routes of one such path are at one place. */
function placeOf({ route }: DescribedRoute): string {
  return route.path.segments.map((segment) => `/${typeof segment === "string" ? `=${segment}` : "?"}`).join("");
}

function declines({ route }: DescribedRoute): boolean {
  return route.path.segments.some(
    (segment) => typeof segment === "object" && segment.kind === "param" && segment.declines,
  );
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What only one of them reads is no requirement of both. */
function eitherParameters(ones: readonly Parameter[], others: readonly Parameter[]): readonly Parameter[] {
  const find = (list: readonly Parameter[], like: Parameter) =>
    list.find((parameter) => parameter.in === like.in && parameter.name === like.name);
  const both = ones.map((one): Parameter => {
    const other = find(others, one);
    if (other === undefined) return { ...one, required: false };
    return { ...one, required: one.required && other.required, schema: eitherSchema(one.schema, other.schema) };
  });
  const more = others.filter((other) => find(ones, other) === undefined);
  return [...both, ...more.map((other) => ({ ...other, required: false }))];
}

function eitherSchema(one: Parameter["schema"], other: Parameter["schema"]): Parameter["schema"] {
  const schemas = (one["anyOf"] as readonly unknown[] | undefined) ?? [one];
  return schemas.some((schema) => same(schema, other)) ? one : { anyOf: [...schemas, other] };
}

function eitherSecurity(
  one: readonly SecurityRequirement[] | undefined,
  other: readonly SecurityRequirement[] | undefined,
): readonly SecurityRequirement[] | undefined {
  if (one === undefined && other === undefined) return undefined;
  const all = [...(one ?? [{}]), ...(other ?? [{}])];
  return all.filter((requirement, index) => all.findIndex((earlier) => same(earlier, requirement)) === index);
}

/** A route as the document has it, in parts that can still be put together with those of another. */
interface DescribedRoute {
  readonly route: Route;
  /** `GET /orders/{order_id}`. */
  readonly name: string;
  readonly id: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: object | undefined;
  readonly answers: Responses;
  readonly codes: readonly Code[];
  readonly credentials: readonly Credential[];
  readonly security: readonly SecurityRequirement[] | undefined;
  /** What it reads beside, in its author's words. */
  readonly alsoReads: readonly string[];
  /** Whose pages may read its answers, where others may. */
  readonly sharing: object | undefined;
  readonly isOpaque: boolean;
}

function describeRoute(route: Route, telling: DocumentContext): DescribedRoute {
  const reads = readsOf(route.inputs);
  const codes = codesOf(route, reads);
  const answers = answersOf(route.returns.node, telling);
  return {
    route,
    name: `${route.method} ${route.pattern}`,
    id: operationId(route),
    parameters: parametersOf(route, reads.values),
    answers,
    requestBody: requestBodyOf(reads, telling),
    codes,
    credentials: reads.credentials,
    security: securityOf(reads.credentials, codes),
    alsoReads: reads.alsoReads,
    sharing: sharingOf(telling.sharing, route),
    isOpaque: reads.isOpaque,
  };
}

/** `POST /orders/{order_id}/items` is `post_orders_order_id_items`. */
function operationId({ method, pattern }: Route): string {
  const words = pattern.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return [method.toLowerCase(), ...(words.length === 0 ? ["root"] : words)].join("_");
}

/** The operation object of a route. */
function operationOf(described: DescribedRoute): object {
  const { route, id, parameters, requestBody, answers, codes, security, alsoReads, sharing } = described;
  const { summary, description, tags } = route;
  return {
    operationId: id,
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: eitherOf(answers, refusalsOf(codes)),
    ...(security === undefined ? {} : { security }),
    ...(alsoReads.length === 0 ? {} : { "x-reads": alsoReads }),
    ...(sharing === undefined ? {} : { "x-cors": sharing }),
  };
}

/** What a document says of the API as a whole. */
export interface DocumentOptions {
  /** The API's name: `API` unless given. */
  readonly title?: string;
  /** The API's own version: `0` unless given. */
  readonly version?: string;
  /**
   * The version of OpenAPI: `3.2` unless given. In `3.1`, for tools that know no other, an event stream is text, its
   * events are described by `x-item-schema`, and methods that 3.1 has no word for stand under `x-additionalOperations`.
   */
  readonly openapi?: OpenapiVersion;
  /** The app's option `cors`: each operation that it covers says by `x-cors` whose pages may read its answers. */
  readonly cors?: CorsExtension;
}

/** An OpenAPI document, ready for `JSON.stringify`. */
export interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: { readonly [path: string]: { readonly [method: string]: unknown } };
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema };
    readonly securitySchemes?: { readonly [name: string]: SecurityScheme };
  };
}

/** Routes that cannot be told in one document; each sentence names them. */
export class DescriptionError extends Error {
  override readonly name: string = "DescriptionError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1 ? `Openapi: ${problems[0]}` : `Openapi:\n${problems.map((one) => `- ${one}`).join("\n")}`,
    );
    this.problems = problems;
  }
}

/** A document, or what keeps the routes from having one, and what it tells loosely. */
interface RouteDescription {
  readonly document: Document;
  readonly problems: readonly string[];
  readonly loose: readonly string[];
}

/**
 * The OpenAPI document of an API, made from its routes alone: the same routes give the same document, in their order.
 * Routes with a `Path.rest` are left out.
 *
 * @throws Error naming every two routes that are one operation to OpenAPI and differ, shapes of one name that differ,
 * and examples that do not fit their shape.
 *
 * @example
 * ```ts
 * await writeFile("openapi.json", JSON.stringify(Openapi.document(routes, { title: "Orders", version: "1" }), null, 2));
 * ```
 */
export function document(routes: readonly Route[], options: DocumentOptions = {}): Document {
  const { document, problems } = describe(routes, options);
  if (problems.length > 0) throw new DescriptionError(problems);
  return document;
}

/**
 * The places that the document describes loosely, sorted: routes that read more than they say (`Dep.bind`, `request`,
 * `Dep.ofRequest` without `needs`), values that may be any JSON, recursive shapes without a name, and rules of a shape
 * that JSON Schema has no words for. A check of the application's own is none.
 */
export function report(routes: readonly Route[]): readonly string[] {
  return describe(routes, {}).loose;
}

function describe(routes: readonly Route[], options: DocumentOptions): RouteDescription {
  const { title = "API", version = "0", openapi = "3.2" } = options;
  const components = new Components(refusalSchemas);
  const problems: string[] = [];
  const loose = new Set<string>();
  const described: DescribedRoute[] = [];
  for (const route of routes) {
    if (route.path.segments.some((segment) => typeof segment === "object" && segment.kind === "rest")) continue;
    const name = `${route.method} ${route.pattern}`;
    const telling: DocumentContext = {
      shape: (shape, direction, at) =>
        components.describe(shape, direction, at, (at, what) => loose.add(`${name}: ${at} ${what}`)),
      problem: (what) => problems.push(`${name} ${what}`),
      version: openapi,
      sharing: options.cors,
    };
    const one = describeRoute(route, telling);
    if (one.isOpaque) loose.add(`${name}: reads more than it says (a bind, or a dependency with no needs)`);
    place(one, described, problems);
  }
  const marked = pathsOf(described, openapi);
  const finished = components.finish(marked);
  for (const [at, what] of finished.loose) loose.add(`${at} ${what}`);
  const securitySchemes = schemesOf(described, problems);
  const document: Document = {
    openapi: openapi === "3.2" ? "3.2.0" : "3.1.0",
    info: { title, version },
    paths: components.resolve(marked) as Document["paths"],
    components: {
      schemas: finished.schemas,
      ...(Object.keys(securitySchemes).length === 0 ? {} : { securitySchemes }),
    },
  };
  return { document, problems: [...problems, ...finished.problems], loose: [...loose].toSorted() };
}

/** Puts a route among those described before, as an operation of its own or together with one that is alike. */
function place(one: DescribedRoute, described: DescribedRoute[], problems: string[]): void {
  const at = placeOf(one);
  for (const [index, other] of described.entries()) {
    if (placeOf(other) === at) {
      if (other.route.method === one.route.method) {
        const both = mergeOperations(other, one);
        if (typeof both === "string") problems.push(`${other.name} and ${one.name} ${both}`);
        else described[index] = both;
        return;
      }
      if (other.route.pattern !== one.route.pattern) {
        problems.push(`${other.name} and ${one.name} are at one path, which gives its parameter one name`);
        return;
      }
    } else if (other.id === one.id) {
      problems.push(`${other.name} and ${one.name} are both the operation ${one.id}`);
      return;
    }
  }
  described.push(one);
}

/** The methods that a path item has a word for, from OpenAPI 3.0 on. */
const fixedMethods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"];

function pathsOf(described: readonly DescribedRoute[], openapi: OpenapiVersion): Document["paths"] {
  const paths: { [path: string]: { [method: string]: unknown } } = {};
  const fixed = openapi === "3.2" ? [...fixedMethods, "QUERY"] : fixedMethods;
  const additional = openapi === "3.2" ? "additionalOperations" : "x-additionalOperations";
  for (const one of described) {
    const item = (paths[pathOf(one)] ??= {});
    const { method } = one.route;
    if (fixed.includes(method)) item[method.toLowerCase()] = operationOf(one);
    else item[additional] = { ...(item[additional] as object | undefined), [method]: operationOf(one) };
  }
  return paths;
}

/** The pattern, its literals written as a URL has them. */
function pathOf({ route }: DescribedRoute): string {
  const segments = route.path.segments.map((segment) =>
    typeof segment === "string" ? encodeSegment(segment) : `{${segment.name}}`,
  );
  return `/${segments.join("/")}`;
}

function schemesOf(described: readonly DescribedRoute[], problems: string[]): { [name: string]: SecurityScheme } {
  const schemes = new Map<string, SecurityScheme>();
  for (const { name, credentials } of described) {
    for (const credential of credentials) {
      const { scheme } = credential;
      const its = schemeOf(credential);
      const before = schemes.get(scheme) ?? its;
      schemes.set(scheme, before);
      if (!/^[A-Za-z0-9._-]+$/.test(scheme)) {
        problems.push(`${name} has the credential ${JSON.stringify(scheme)}, which OpenAPI cannot name`);
      } else if (JSON.stringify(before) !== JSON.stringify(its)) {
        problems.push(`the credential ${scheme} of ${name} is another one elsewhere: give each a scheme of its own`);
      }
    }
  }
  return Object.fromEntries(schemes);
}
