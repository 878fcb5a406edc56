import { isRoutes, needs, needsObject, needsText } from "../arguments.ts";
import type { Level } from "../logging/entry.ts";
import { checkedTool, toolKey } from "./tool.ts";
import type { Tool } from "./tool.ts";

/** The key of one kind of metadata, made once with `Meta.key`. */
export interface MetaKey<in out A> {
  /** A name for people; two keys of one description are two keys. */
  readonly description: string;
  /** Exists only in types. */
  readonly type?: (value: A) => A;
}

/** Immutable metadata of a route: `add` returns a new value. */
export interface Meta {
  /** Adds a value, or replaces the key's value. */
  add<A>(key: MetaKey<A>, value: NoInfer<A>): Meta;
  /** The key's value; undefined if none was added. */
  find<A>(key: MetaKey<A>): A | undefined;
}

/** Makes a key of the application's own. */
/* @__NO_SIDE_EFFECTS__ */
export function key<A>(description: string): MetaKey<A> {
  needsText("Meta.key: its description", description);
  return { description };
}

/** The level of a route's access line; `info` by default. */
export const access: MetaKey<Level> = key("access");

/** A time limit, made by `Deadline.make`: the app's option `deadline`, and `Meta.deadline` of a route. */
export interface TimeLimit {
  /** Milliseconds from the arrival of the request's head. */
  readonly ms: number;
  /** Internal to the framework: answers a request within it. */
  readonly answer: (request: never, answerInTime: never) => unknown;
}

/**
 * How long the route may take to answer, made by `Deadline.make`, in place of the app's `deadline`; `"none"` for as long as it takes.
 * Past it the answer is 503 `timed_out`. An event stream and a WebSocket have a deadline only by this: it ends the stream, and closes
 * the socket with 1001.
 *
 * @example
 * ```ts
 * const meta = Meta.empty.add(Meta.deadline, Deadline.make(60_000));
 * const report = get(path, { returns: Returns.text, meta }, makeReport);
 * ```
 */
export const deadline: MetaKey<TimeLimit | "none"> = key("deadline");

/**
 * `"exempt"` for a route that answers although the app is overloaded: its requests are not refused by the bounds of
 * `Overload.make`, and take no place of `maxInFlight`. The routes of `Health` and `Metrics` are exempt. Others may be a page for
 * operators, and a route whose requests wait for long.
 *
 * @example
 * ```ts
 * const status = get(path, { returns: Returns.text, meta: Meta.empty.add(Meta.overload, "exempt") }, tellStatus);
 * ```
 */
export const overload: MetaKey<"exempt"> = key("overload");

/**
 * `"absent"` for a route that a form with `method="get"` calls. A browser sends every empty control: `?name=&age=`. A query field that
 * is sent empty is then absent where its type has no empty text, such as a number, as a field of a `POST` is. Without it, it is a
 * problem.
 *
 * @example
 * ```ts
 * const search = get(path, { inputs, returns: Returns.html, meta: Meta.empty.add(Meta.emptyQuery, "absent") }, find);
 * ```
 */
export const emptyQuery: MetaKey<"absent"> = key("emptyQuery");

/**
 * The origins whose pages may send requests to the route, besides the app's `trustedOrigins`: a list, or `"any"`. It is for what another
 * site's form posts with the user's browser: a SAML response, a 3-D Secure result, OpenID Connect's `form_post`. `"null"` in the list is
 * a page that hides its origin. Such a request proves itself by what it carries, such as a signature or a `state`: a cookie of the user
 * proves nothing in it. `usher routes` and a log line at start name the route.
 *
 * @example
 * ```ts
 * const acs = post(path, { inputs, returns: Returns.html, meta: Meta.empty.add(Meta.crossOrigin, ["https://idp.example"]) }, signIn);
 * ```
 */
export const crossOrigin: MetaKey<"any" | readonly string[]> = key("crossOrigin");

/** Whether the API document leaves the route out: a page, a style, a probe. */
export const hidden: MetaKey<boolean> = key("hidden");

/** The route's `operationId` in the API document, which generated clients name their function by: unique in a document. */
export const operationId: MetaKey<string> = key("operationId");

/** Whether callers should leave the route. */
export const deprecated: MetaKey<boolean> = key("deprecated");

/** A page that says more (OpenAPI's External Documentation Object). */
export interface ExternalDocs {
  /** Its address. */
  readonly url: string;
  /** What it is, in a few words. */
  readonly description?: string;
}

/** A page that says more of the route, for the API document. */
export const externalDocs: MetaKey<ExternalDocs> = key("externalDocs");

/**
 * Metadata that makes a route a tool of an agent, where `Mcp.routes` of `usher-http/mcp` serves it. A route without it is not one.
 *
 * @throws TypeError for an option that a tool does not have.
 * @example
 * ```ts
 * const place = post(path, { meta: Meta.tool({ name: "place_order" }), inputs: { order: json(NewOrder) }, returns: Returns.json(Order) }, handler);
 * ```
 */
export function tool(options: Tool = {}): Meta {
  return empty.add(toolKey, checkedTool(options));
}

/**
 * Makes the same routes, each with the value added to its metadata.
 *
 * @example
 * ```ts
 * const routes = [...api, ...Meta.onAll([page, style, ...Health.routes()], Meta.hidden, true)];
 * ```
 */
export function onAll<R extends { readonly meta: Meta }, A>(
  routes: readonly R[],
  key: MetaKey<A>,
  value: NoInfer<A>,
): readonly R[] {
  needs(isRoutes(routes), "Meta.onAll: routes", routes, "a list of routes");
  needsObject("Meta.onAll: its key", key);
  return routes.map((route) => ({ ...route, meta: route.meta.add(key, value) }));
}

function metaOf(values: ReadonlyMap<object, unknown>): Meta {
  return {
    add(name, value) {
      needsObject("Meta.add: its key", name);
      return metaOf(new Map(values).set(name, value));
    },
    // Only `add` sets a key's value, and it checks the key's type.
    find: <A>(name: MetaKey<A>) => values.get(name) as A | undefined,
  };
}

export type { Tool } from "./tool.ts";

/** No metadata. */
export const empty: Meta = /* @__PURE__ */ metaOf(new Map());
