import { isObject, isRoutes, isTexts, needs, needsOptions, shown } from "../arguments.ts";
import { wrongMembers } from "../routing/wrong-members.ts";
import type { RefusalFormat } from "../answers/refusal-format.ts";
import { isFormat, noFormat } from "../answers/is-format.ts";
import { encodeSegment } from "../http/target.ts";
import type { Challenge } from "../inputs/dep.ts";
import type { BodyDecoding } from "../inputs/encoded-body.ts";
import type { Code } from "../refusals.ts";
import { deprecated, externalDocs, hidden, operationId } from "../routing/meta.ts";
import type { ExternalDocs } from "../routing/meta.ts";
import type { Route } from "../routing/route.ts";
import type { CorsExtension } from "../security/cross-origin.ts";
import { mountedRequest } from "../routing/mounted.ts";
import type { MountedOperation } from "../routing/mount-doc.ts";
import { Components } from "./components.ts";
import { describeApi } from "./info.ts";
import type { ApiInfo, ApiServer, TagText } from "./info.ts";
import { credentialProblem, schemeName, readsOf, requestBodyOf, schemeOf, securityOf } from "./inputs.ts";
import type { Credential, Reads, SecurityRequirement, SecurityScheme } from "./inputs.ts";
import { documentedRoutes } from "./mounted.ts";
import type { DocumentedRoute } from "./mounted.ts";
import {
  answersOf,
  codesOf,
  describeRefusals,
  eitherOf,
  refusalSchemas,
  refusalsOf,
  corsOf,
  withValidators,
  hasVersions,
} from "./responses.ts";
import type { RefusalDocs, Responses } from "./responses.ts";
import type { DocumentContext, OpenapiVersion, Schema } from "./schema-rules.ts";
import { parametersOf } from "./texts.ts";
import type { Parameter } from "./texts.ts";

/**
 * Merges two routes that differ only by their parameters' types (contract 4.2) into one operation, whose parameter is of
 * either type. Returns the reason if they cannot be one.
 */
function mergeOperations(one: DescribedRoute, other: DescribedRoute): DescribedRoute | string {
  if (one.route.pattern !== other.route.pattern) {
    return "differ only by a parameter's type, so they are one operation: give the parameter one name";
  }
  if (!declines(one) && !declines(other)) return `are both the operation ${one.id}`;
  if (!same(one.answers, other.answers)) {
    return "differ only by a parameter's type, so they are one operation: they must have the same answers";
  }
  if (!same(one.requestBody, other.requestBody)) {
    return "differ only by a parameter's type, so they are one operation: they must read the same body";
  }
  const codes = [...one.codes, ...other.codes];
  return {
    ...one,
    parameters: eitherParameters(one.parameters, other.parameters),
    codes: codes.filter(({ name }, index) => codes.findIndex((code) => code.name === name) === index),
    challenges: [...one.challenges, ...other.challenges],
    credentials: [...one.credentials, ...other.credentials],
    security: eitherSecurity(one.security, other.security),
    alsoReads: [...new Set([...one.alsoReads, ...other.alsoReads])],
    isOpaque: one.isOpaque || other.isOpaque,
  };
}

/** The path without its parameters' names. */
function placeOf({ path }: Route): string {
  return path.segments.map((segment) => `/${typeof segment === "string" ? `=${segment}` : "?"}`).join("");
}

function declines({ route }: DescribedRoute): boolean {
  return route.path.segments.some(
    (segment) => typeof segment === "object" && segment.kind === "param" && segment.declines,
  );
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A parameter that only one of the routes reads is not required. */
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
  // An `anyOf` with other rules is one schema.
  const schemas = Object.keys(one).join() === "anyOf" ? (one["anyOf"] as readonly unknown[]) : [one];
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

/** The parts of a route's operation, before it is merged with another. */
interface DescribedRoute {
  readonly route: Route;
  /** `GET /orders/{order_id}`. */
  readonly name: string;
  /** Compared with that of every other route. */
  readonly place: string;
  readonly id: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: object | undefined;
  readonly answers: Responses;
  readonly codes: readonly Code[];
  readonly challenges: readonly Challenge[];
  readonly credentials: readonly Credential[];
  readonly security: readonly SecurityRequirement[] | undefined;
  /** Other inputs, described by the author. */
  readonly alsoReads: readonly string[];
  /** The value of `x-cors`. */
  readonly cors: object | undefined;
  readonly isOpaque: boolean;
}

function describeRoute({ route, of, operation }: DocumentedRoute, context: DocumentContext): DescribedRoute {
  const reads = operation === undefined ? readsOf(route) : readsOfMount(route, operation);
  const codes = codesOf(route, reads, operation === undefined && context.encodings.length > 0, context.hasDeadlines);
  const { node } = route.returns;
  const plain = (operation?.responses as Responses | undefined) ?? answersOf(node, context);
  const answers = hasVersions(node, reads) ? withValidators(plain, route.method) : plain;
  return {
    route,
    name: `${route.method} ${route.pattern}`,
    place: placeOf(route),
    id: route.meta.find(operationId) ?? idOf(route),
    parameters: parametersOf(route, operation === undefined ? reads : { ...reads, body: undefined }, context),
    answers,
    requestBody: operation === undefined ? requestBodyOf(reads, context) : operation.requestBody,
    codes,
    challenges: reads.challenges,
    credentials: reads.credentials,
    security: securityOf(reads.credentials, codes),
    alsoReads: reads.alsoReads,
    cors: corsOf(context.cors, of),
    isOpaque: reads.isOpaque,
  };
}

/** What an operation of a mount reads: what the mount's inputs do. Of its request only the author knows more. */
function readsOfMount({ inputs, method }: Route, { requestBody }: MountedOperation): Reads {
  const { [mountedRequest]: own, ...others } = inputs;
  const reads = readsOf({ inputs: others, method });
  const hasBody = requestBody !== undefined || (method !== "GET" && method !== "HEAD");
  return { ...reads, body: hasBody ? own?.node.body : undefined };
}

/** `POST /orders/{order_id}/items` becomes `post_orders_order_id_items`. */
function idOf({ method, pattern }: Route): string {
  const words = pattern.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return [method.toLowerCase(), ...(words.length === 0 ? ["root"] : words)].join("_");
}

function operationOf(described: DescribedRoute, refusals: RefusalDocs): object {
  const { route, id, parameters, requestBody, answers, codes, challenges, security, alsoReads, cors } = described;
  const { summary, description, tags, meta } = route;
  const more = meta.find(externalDocs);
  return {
    operationId: id,
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(meta.find(deprecated) === true ? { deprecated: true } : {}),
    ...(more === undefined ? {} : { externalDocs: more }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: eitherOf(answers, refusalsOf(codes, refusals, challenges)),
    ...(security === undefined ? {} : { security }),
    ...(alsoReads.length === 0 ? {} : { "x-reads": alsoReads }),
    ...(cors === undefined ? {} : { "x-cors": cors }),
  };
}

/** The options of the OpenAPI document. */
export interface DocumentOptions extends ApiInfo {
  /**
   * The version of OpenAPI: `3.2` unless given. In `3.1`, for older tools, an event stream is text with `x-item-schema`, and
   * methods that 3.1 does not know are under `x-additionalOperations`.
   */
  readonly openapi?: OpenapiVersion;
  /** The app's option `cors`: adds `x-cors` to each operation that it covers. */
  readonly cors?: CorsExtension;
  /** The app's option `refusalFormat`. The document that `Openapi.docs` serves has the format of its app unless it is set. */
  readonly refusalFormat?: RefusalFormat;
  /**
   * The app's option `decompress`: adds `Content-Encoding` to each operation with a body. The document that `Openapi.docs`
   * serves has that of its app unless it is set.
   */
  readonly decompress?: Pick<BodyDecoding, "encodings">;
  /**
   * The app's option `deadline`: adds the codes `timed_out` and `outcome_unknown` to each operation that it is for. The document
   * that `Openapi.docs` serves has that of its app unless it is set.
   */
  readonly deadline?: { readonly ms: number };
}

/** An OpenAPI document, ready for `JSON.stringify`. */
export interface Document {
  /** The version of OpenAPI: `3.2.0` or `3.1.0`. */
  readonly openapi: string;
  /** The title and version of the API, and what else was given. */
  readonly info: { readonly title: string; readonly version: string; readonly [member: string]: unknown };
  /** The addresses of the API. */
  readonly servers?: readonly ApiServer[];
  /** The texts of tags. */
  readonly tags?: readonly TagText[];
  /** A page that says more. */
  readonly externalDocs?: ExternalDocs;
  /** The operations, by path and method. */
  readonly paths: { readonly [path: string]: { readonly [method: string]: unknown } };
  /** The named schemas and the security schemes. */
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema };
    readonly securitySchemes?: { readonly [name: string]: SecurityScheme };
  };
}

/** Thrown for routes that cannot be in one document. Each problem names them. */
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

/** A document, the problems that prevent it, and the places that it describes imprecisely. */
interface RouteDescription {
  readonly document: Document;
  readonly problems: readonly string[];
  readonly imprecise: readonly string[];
}

/**
 * Makes the OpenAPI document of the routes. The same routes give the same document, in their order. Routes with a
 * `Path.rest` are left out, and of a mount it has the operations of its `doc`.
 *
 * @throws Error naming routes that OpenAPI cannot tell apart, different shapes with the same name, and examples that do not
 * fit their shape.
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
 * Lists the places that the document describes imprecisely, sorted: routes with undeclared inputs (`Dep.bind`, `request`,
 * `Dep.ofRequest` without `needs`), values that may be any JSON, recursive shapes without a name, and rules of a shape that
 * JSON Schema cannot express. It does not list custom checks.
 */
export function report(routes: readonly Route[]): readonly string[] {
  return describe(routes, {}).imprecise;
}

// Those of `Openapi.docs` too, which hands its own on.
const documentOptions =
  "openapi cors refusalFormat decompress deadline title version description termsOfService contact license externalDocs servers tags document at script";

// From JavaScript they may be anything.
function checkArguments(routes: unknown, options: unknown): void {
  needs(isRoutes(routes), "Openapi: routes", routes, "a list of routes");
  needsOptions("Openapi", options, documentOptions);
  const { openapi } = options as { readonly openapi?: unknown };
  const isVersion = openapi === undefined || openapi === "3.1" || openapi === "3.2";
  if (!isVersion) throw new TypeError(`Openapi: openapi is "3.1" or "3.2", and not ${shown(openapi)}`);
  const wrong = (routes as readonly unknown[]).flatMap(wrongMembers);
  if (wrong.length > 0) throw new DescriptionError(wrong);
}

function describe(routes: readonly Route[], options: DocumentOptions): RouteDescription {
  checkArguments(routes, options);
  const { openapi = "3.2" } = options;
  const encodings = encodingsIn(options.decompress);
  const components = new Components(options.refusalFormat === undefined ? refusalSchemas : {});
  const problems: string[] = [];
  const imprecise = new Set<string>();
  const described: DescribedRoute[] = [];
  const api = describeApi(options, (what) => problems.push(what));
  for (const documented of documentedRoutes(routes)) {
    const { route } = documented;
    if (route.meta.find(hidden) === true) continue;
    const name = `${route.method} ${route.pattern}`;
    const context: DocumentContext = {
      shape: (shape, direction, at) =>
        components.describe(shape, direction, at, {
          imprecise: (at, what) => imprecise.add(`${name}: ${at} ${what}`),
          problem: (what) => problems.push(`${name} ${what}`),
        }),
      problem: (what) => problems.push(`${name} ${what}`),
      version: openapi,
      cors: options.cors,
      encodings,
      hasDeadlines: options.deadline !== undefined,
    };
    const one = describeRoute(documented, context);
    if (one.isOpaque) imprecise.add(`${name}: reads more than it says (a bind, or a dependency with no needs)`);
    place(one, described, problems);
  }
  const format = isFormat(options.refusalFormat) ? options.refusalFormat : undefined;
  if (format !== options.refusalFormat) problems.push(noFormat);
  // A component, because every operation refers to it.
  const refusals = describeRefusals(format, (shape, direction, at) => {
    const schema = components.describe(shape, direction, at, {
      imprecise: (at, what) => imprecise.add(`${at} ${what}`),
      problem: (what) => problems.push(`the refusals' format ${what}`),
    });
    return components.asComponent(schema, "Refusal");
  });
  const marked = pathsOf(described, openapi, refusals);
  const finished = components.finish(marked);
  for (const [at, what] of finished.imprecise) imprecise.add(`${at} ${what}`);
  const securitySchemes = schemesOf(described, problems);
  const document: Document = {
    openapi: openapi === "3.2" ? "3.2.0" : "3.1.0",
    info: api.info,
    ...api.servers,
    paths: components.resolve(marked) as Document["paths"],
    components: {
      schemas: finished.schemas,
      ...(Object.keys(securitySchemes).length === 0 ? {} : { securitySchemes }),
    },
    ...api.tags,
    ...api.externalDocs,
  };
  return { document, problems: [...problems, ...finished.problems], imprecise: [...imprecise].toSorted() };
}

// From JavaScript it may be anything.
function encodingsIn(decompress: DocumentOptions["decompress"]): readonly string[] {
  if (decompress === undefined) return [];
  const isOne = isObject(decompress) && isTexts(decompress["encodings"]);
  needs(isOne, "Openapi: decompress", decompress, "made by Decompress.make");
  return decompress.encodings;
}

/** Adds a route to the described ones, or merges it with one. */
function place(one: DescribedRoute, described: DescribedRoute[], problems: string[]): void {
  for (const [index, other] of described.entries()) {
    if (other.place === one.place) {
      if (other.route.method === one.route.method) {
        const both = mergeOperations(other, one);
        if (typeof both === "string") problems.push(`${other.name} and ${one.name} ${both}`);
        else described[index] = both;
        return;
      }
      if (other.route.pattern !== one.route.pattern) {
        problems.push(`${other.name} and ${one.name} have the same path: give its parameter one name`);
        return;
      }
    }
    if (other.id === one.id) {
      problems.push(`${other.name} and ${one.name} are both the operation ${one.id}`);
      return;
    }
  }
  described.push(one);
}

/** The methods that a path item has a field for, since OpenAPI 3.0. */
const fixedMethods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"];

function pathsOf(
  described: readonly DescribedRoute[],
  openapi: OpenapiVersion,
  refusals: RefusalDocs,
): Document["paths"] {
  const paths: { [path: string]: { [method: string]: unknown } } = {};
  const fixed = openapi === "3.2" ? [...fixedMethods, "QUERY"] : fixedMethods;
  const additional = openapi === "3.2" ? "additionalOperations" : "x-additionalOperations";
  for (const one of described) {
    const item = (paths[documentPath(one)] ??= {});
    const { method } = one.route;
    if (fixed.includes(method)) item[method.toLowerCase()] = operationOf(one, refusals);
    else item[additional] = { ...(item[additional] as object | undefined), [method]: operationOf(one, refusals) };
  }
  return paths;
}

/** The pattern, with its literals percent-encoded. */
function documentPath({ route }: DescribedRoute): string {
  const segments = route.path.segments.map((segment) =>
    typeof segment === "string" ? encodeSegment(segment) : `{${segment.name}}`,
  );
  return `/${segments.join("/")}`;
}

function schemesOf(described: readonly DescribedRoute[], problems: string[]): { [name: string]: SecurityScheme } {
  const schemes = new Map<string, SecurityScheme>();
  for (const { name, credentials } of described) {
    for (const credential of credentials) {
      const scheme = schemeName(credential);
      const described = schemeOf(credential);
      const before = schemes.get(scheme) ?? described;
      schemes.set(scheme, before);
      const problem = credentialProblem(credential);
      if (problem !== undefined) problems.push(`${name} ${problem}`);
      if (!/^[A-Za-z0-9._-]+$/.test(scheme)) {
        problems.push(`${name} has the credential ${JSON.stringify(scheme)}, which is not a valid name in OpenAPI`);
      } else if (JSON.stringify(before) !== JSON.stringify(described)) {
        problems.push(`the credential ${scheme} of ${name} differs from an earlier one: give each a name of its own`);
      }
    }
  }
  return Object.fromEntries(schemes);
}
