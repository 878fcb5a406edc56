/** Routes that are resources: what a client may read by a URI, and put into the context of a model. */
import type { WireResponse } from "../../src/app/exchange.ts";
import { isObject, needs, needsOptions, needsText } from "../../src/arguments.ts";
import { decodeSegment } from "../../src/doors/http.ts";
import { describeTool } from "../../src/openapi/tool-schemas.ts";
import type { ToolMember } from "../../src/openapi/tool-schemas.ts";
import type { Route } from "../../src/doors/routing.ts";
import { RequestMaker } from "./arguments.ts";
import type { MessageParams } from "./protocol.ts";
import { blobOf, isTextType, mediaTypeOf, readBody, textOf, answerTypeOf } from "./result.ts";
import type { BodyReadOptions } from "./result.ts";

/** How a resource is described. */
export interface ResourceOptions {
  /** A name for programs: the route's `operationId` or path unless given. */
  readonly name?: string;
  /** A name for people: the route's summary unless given. */
  readonly title?: string;
  /** What it holds, for the model: the route's description unless given. */
  readonly description?: string;
  /** The media type of its answer, where that is always the same. */
  readonly mimeType?: string;
  /**
   * The URI, with each parameter of the path in braces, as `shop://orders/{order_id}`, and those of the query as `{?page,size}`:
   * `app://` and the path of the route unless given.
   */
  readonly uri?: string;
}

/** A route that is a resource, made by `Mcp.resource`. */
export interface McpResource {
  /** The route that answers with it. */
  readonly route: Route;
  /** How it is described. */
  readonly options: ResourceOptions;
}

const members: ReadonlySet<string> = new Set(["name", "title", "description", "mimeType", "uri"]);

/** Looks at what only JavaScript gets wrong. */
export function madeResource(route: Route, options: ResourceOptions): McpResource {
  needs(isObject(route) && isObject(route.path) && isObject(route.meta), "Mcp.resource: its route", route, "a route");
  needsOptions("Mcp.resource", options, "name title description mimeType uri");
  for (const [member, value] of Object.entries(options) as [string, unknown][]) {
    if (!members.has(member)) throw new TypeError(`Mcp.resource: ${member} is not one of its options`);
    if (value !== undefined) needsText(`Mcp.resource: ${member}`, value);
  }
  return { route, options };
}

/** From JavaScript it may be anything. */
export function isResource(resource: unknown): boolean {
  return isObject(resource) && isObject(resource["route"]) && isObject(resource["options"]);
}

/** A resource, compiled once. */
export interface CompiledResource {
  readonly route: Route;
  readonly maker: RequestMaker;
  /** What a list says of it, as JSON. */
  readonly listed: string;
  /** Whether its URI has parameters, so that it is a template of many. */
  readonly isTemplate: boolean;
  /** The arguments that a URI has; undefined for a URI of another resource. */
  readonly read: (uri: string) => MessageParams | undefined;
}

/**
 * Compiles a resource. Each problem follows the name of the route that serves the messages.
 *
 * @param taken The URIs of those before it, and their routes.
 */
export function compileResource(
  { route, options }: McpResource,
  taken: Map<string, string>,
  problems: string[],
): CompiledResource {
  const at = `${route.method} ${route.pattern}`;
  const schemas = describeTool(route);
  const places = schemas.members.filter((member) => member.in === "path" || member.in === "query");
  if (route.method !== "GET") problems.push(`has the resource of ${at}, which is not a GET`);
  for (const problem of schemas.problems) problems.push(`has the resource of ${at}, which ${problem}`);
  const uri = options.uri ?? templateOf(route, places);
  const other = taken.get(uri);
  if (other !== undefined) problems.push(`has two resources of the URI ${uri}: ${other} and ${at}`);
  taken.set(uri, at);
  const [named, read] = readerOf(uri, restsOf(route));
  for (const { name, required } of places) {
    if (required && !named.has(name)) problems.push(`has the resource of ${at}, whose URI lacks its parameter ${name}`);
  }
  for (const name of named) {
    if (places.every((place) => place.name !== name)) {
      problems.push(
        `has the resource of ${at}, whose URI names ${name}, which it does not read from its path or query`,
      );
    }
  }
  if (!/^[a-z][a-z\d+.-]*:/i.test(uri)) problems.push(`has the resource of ${at}, whose URI has no scheme`);
  const isTemplate = named.size > 0;
  const listed = JSON.stringify({ ...(isTemplate ? { uriTemplate: uri } : { uri }), ...textsOf(route, options) });
  return { route, maker: new RequestMaker(route, schemas), listed, isTemplate, read };
}

function textsOf(route: Route, { name = route.pattern, title = route.summary, ...more }: ResourceOptions): object {
  const { description = route.description, mimeType } = more;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { mimeType }),
  };
}

function templateOf({ pattern }: Route, places: readonly ToolMember[]): string {
  const query = places.filter((member) => member.in === "query").map(({ name }) => name);
  return `app://${pattern.replaceAll("*}", "}")}${query.length === 0 ? "" : `{?${query.join(",")}}`}`;
}

function restsOf({ path }: Route): ReadonlySet<string> {
  return new Set(path.segments.flatMap((one) => (typeof one === "object" && one.kind === "rest" ? [one.name] : [])));
}

/**
 * The names in a template (RFC 6570, `{name}` and `{?a,b}`), and what reads their values from a URI. A value has a slash only as
 * `%2F`, except for one of several segments: `/orders/{id}` is not the template of `/orders/7/lines`.
 */
function readerOf(
  template: string,
  rests: ReadonlySet<string>,
): readonly [ReadonlySet<string>, CompiledResource["read"]] {
  const [path = "", query] = template.split("{?");
  const parts = path.split(/\{([^}]*)\}/);
  const names = parts.filter((_part, index) => index % 2 === 1);
  const queried = query === undefined ? [] : query.replace("}", "").split(",");
  const literals = parts.filter((_part, index) => index % 2 === 0);
  const read = (uri: string): MessageParams | undefined => {
    const question = queried.length === 0 ? -1 : uri.indexOf("?");
    const found = between(question === -1 ? uri : uri.slice(0, question), literals);
    if (found === undefined) return undefined;
    if (names.some((name, index) => found[index]?.includes("/") && !rests.has(name))) return undefined;
    const values = names.map((name, index) => [name, decodeSegment(found[index] as string)] as const);
    if (values.some(([, value]) => value === undefined)) return undefined;
    const given = new URLSearchParams(question === -1 ? "" : uri.slice(question + 1));
    const ofQuery = queried.filter((name) => given.has(name)).map((name) => [name, given.getAll(name)] as const);
    return Object.fromEntries<unknown>([...values, ...ofQuery]);
  };
  return [new Set([...names, ...queried]), read];
}

/**
 * The texts between some literals, each up to the first place of the next literal; undefined for a text of another form. A regular
 * expression would try every place: a client's URI of 32,000 slashes took it two seconds.
 */
function between(text: string, [first = "", ...others]: readonly string[]): readonly string[] | undefined {
  if (!text.startsWith(first)) return undefined;
  const found: string[] = [];
  let from = first.length;
  for (const [index, literal] of others.entries()) {
    const isLast = index === others.length - 1;
    const to = isLast ? text.length - literal.length : text.indexOf(literal, from + 1);
    if (to <= from || !text.startsWith(literal, to)) return undefined;
    found.push(text.slice(from, to));
    from = to + literal.length;
  }
  return from === text.length && !found.some((value) => /[?#]/.test(value)) ? found : undefined;
}

/** The contents of a resource, as JSON; undefined where its answer is too long, or the request is cancelled. */
export async function resourceContents(
  uri: string,
  sent: WireResponse,
  options: BodyReadOptions,
): Promise<string | undefined> {
  const type = answerTypeOf(sent);
  const read = await readBody(sent.body, options);
  if (read === undefined) return undefined;
  const mimeType = mediaTypeOf(type);
  const isText = typeof read === "string" || isTextType(type);
  const own = isText ? { ...(mimeType === "" ? {} : { mimeType }), text: textOf(read) } : blobOf(read, mimeType);
  return JSON.stringify([{ uri, ...own }]);
}
