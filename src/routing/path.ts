import type { Codec, EncodedAs, TextOptions } from "../codecs/codec.ts";
import { int as intCodec, int32 as int32Codec, int64 as int64Codec, string as stringCodec } from "../codecs/index.ts";
import {
  isObject,
  isSegment,
  isTexts,
  kindOf,
  needs,
  needsObject,
  needsOptions,
  needsPath,
  needsText,
  placeOf,
} from "../arguments.ts";
import { encodeSegment } from "../http/target.ts";
import type { AnyParam, ArgumentsOf, Param, Rest } from "../inputs/dep.ts";
import { withReader } from "../inputs/parameter.ts";
import { codecFor } from "../inputs/text-schema.ts";
import type { TextKind } from "../inputs/text-schema.ts";
import { error, ok } from "../result.ts";
import { likeParameter, textAdvice } from "./path-text.ts";
import type { Result } from "../result.ts";

export type { AnyParam, Param, Rest } from "../inputs/dep.ts";

/** One segment of a path: literal text, or a parameter. */
export type Segment = string | AnyParam | Rest;

/** The path of a route. `Params` is the union of its parameters: `never` for none, and by default any. */
export interface Path<out Params = AnyParam | Rest, out Pattern extends string = string> {
  /** As in the API document: `/orders/{order_id}`. */
  readonly pattern: Pattern;
  /** Its segments, in order. */
  readonly segments: readonly Segment[];
  /** Exists only in types. */
  readonly params?: Params;
}

/** What the API document says of a parameter, and how it treats a segment that does not parse. */
export interface ParamOptions<out Example = unknown> extends TextOptions<Example> {
  /** With `"next-route"` the next matching route answers; otherwise it is a 400. */
  readonly unparsed?: "next-route";
}

/** A text that other routers read as a parameter, made by `Path.s`. */
export interface LiteralText<out Text extends string = string> {
  /** What tells it from a parameter. */
  readonly kind: "literal";
  /** As a client writes it, decoded. */
  readonly text: Text;
}

type TextOf<S> = S extends string
  ? S
  : S extends LiteralText<infer T>
    ? T
    : S extends Rest<infer N>
      ? `{${N}*}`
      : S extends AnyParam<infer N>
        ? `{${N}}`
        : never;

/** The patterns of most paths, by their number of segments: to read one costs the compiler half of what recursion does. */
interface Patterns<S extends readonly unknown[]> {
  1: `/${TextOf<S[0]>}`;
  2: `/${TextOf<S[0]>}/${TextOf<S[1]>}`;
  3: `/${TextOf<S[0]>}/${TextOf<S[1]>}/${TextOf<S[2]>}`;
  4: `/${TextOf<S[0]>}/${TextOf<S[1]>}/${TextOf<S[2]>}/${TextOf<S[3]>}`;
}
type PatternOf<S extends readonly unknown[]> = S["length"] extends keyof Patterns<S>
  ? Patterns<S>[S["length"]]
  : LongPatternOf<S>;
type LongPatternOf<S extends readonly unknown[], Before extends string = ""> = S extends readonly [
  infer Head,
  ...infer Tail,
]
  ? LongPatternOf<Tail, `${Before}/${TextOf<Head>}`>
  : Before;

/** The path `/`. */
export const root: Path<never, "/"> = { pattern: "/", segments: [] };

/** What other routers read as a parameter. */
type LikeParameter = `:${string}` | `*${string}` | `{${string}}` | `[${string}]` | `<${string}>`;

/**
 * A path of segments. A string is a literal, compared with the decoded segment. One that other routers read as a parameter, such as
 * `:id`, `*`, `{id}`, `[id]` or `<id>`, is refused: a parameter is `Path.str("id")`, and such a text `Path.s(":id")`.
 *
 * @throws TypeError for such a text.
 *
 * @example
 * ```ts
 * const orderId = Path.int("order_id");
 * const order = Path.of("orders", orderId); // /orders/{order_id}
 * ```
 */
// Of a text that a generic function takes, `<const N extends string>(name: N) => get(Path.of(name), …)`, the compiler does not decide
// whether it is a parameter. So texts alone, and texts before one parameter, have signatures in which no text can be one. What the first
// one returns is no path: the compiler's error has its text.
export function of<const Texts extends readonly (Segment | LiteralText)[]>(
  ...segments: Texts & ([Extract<Texts[number], LikeParameter>] extends [never] ? never : unknown)
): `${Extract<Texts[number], LikeParameter>} is a text: write Path.str(name) for a parameter, or Path.s of the text`;
export function of<const Texts extends readonly string[]>(...segments: Texts): Path<never, PatternOf<Texts>>;
export function of<const Texts extends readonly string[], const Last extends AnyParam | Rest>(
  ...segments: readonly [...Texts, Last]
): Path<Last, PatternOf<readonly [...Texts, Last]>>;
export function of<const Segments extends readonly (Segment | LiteralText)[]>(
  ...segments: Segments
): Path<Exclude<Segments[number], string | LiteralText>, PatternOf<Segments>>;
export function of(...given: readonly (Segment | LiteralText)[]): Path | string {
  const segments = given.map((segment): Segment => {
    if (isLiteral(segment)) return segment.text;
    needs(isSegment(segment), "Path.of: a segment", segment, "a text or a parameter of Path");
    if (typeof segment === "string" && likeParameter.test(segment))
      throw new TypeError(`Path.of: ${textAdvice(segment)}`);
    return segment;
  });
  return { pattern: patternOf(segments), segments };
}

/**
 * A text in a path, also one that other routers read as a parameter.
 *
 * @example
 * ```ts
 * Path.of("orders", Path.s(":batch")); // /orders/:batch
 * ```
 */
export function s<const Text extends string>(text: Text): LiteralText<Text> {
  needsText("Path.s: its text", text);
  return { kind: "literal", text };
}

function isLiteral(segment: unknown): segment is LiteralText {
  return isObject(segment) && segment["kind"] === "literal";
}

/** The pattern of one path after another. */
export type Joined<P extends string, Q extends string> = P extends "/" ? Q : Q extends "/" ? P : `${P}${Q}`;

/**
 * One path after another, as a group makes the paths of its routes: for the URL of one of them.
 *
 * @example
 * ```ts
 * const account = Path.of("accounts", accountId);
 * const order = Path.of("orders", orderId);
 * Path.url(Path.join(account, order), { account_id: 7, order_id: 3 }); // { ok: true, value: "/accounts/7/orders/3" }
 * ```
 */
export function join<Before extends AnyParam | Rest, P extends string, After extends AnyParam | Rest, Q extends string>(
  prefix: Path<Before, P>,
  path: Path<After, Q>,
): Path<Before | After, Joined<P, Q>> {
  needsPath("Path.join: prefix", prefix);
  needsPath("Path.join: path", path);
  const segments = [...prefix.segments, ...path.segments];
  return { pattern: patternOf(segments) as Joined<P, Q>, segments };
}

/** Any segment, as text. */
export function str<const Name extends string>(
  name: Name,
  options?: ParamOptions<string>,
): Param<Name, string, string> {
  return codecParam("Path.str", name, stringCodec, options);
}

/** A whole number, −(2^53−1) to 2^53−1. */
export function int<const Name extends string>(
  name: Name,
  options?: ParamOptions<number>,
): Param<Name, number, number> {
  return codecParam("Path.int", name, intCodec, options);
}

/** A 32-bit whole number, −2^31 to 2^31−1, as PostgreSQL's `int` holds. A longer one does not parse. */
export function int32<const Name extends string>(
  name: Name,
  options?: ParamOptions<number>,
): Param<Name, number, number> {
  return codecParam("Path.int32", name, int32Codec, options);
}

/** A 64-bit whole number, exact. */
export function int64<const Name extends string>(
  name: Name,
  options?: ParamOptions<bigint>,
): Param<Name, bigint, bigint> {
  return codecParam("Path.int64", name, int64Codec, options);
}

/**
 * A segment that a codec or a schema reads. What the schema refuses does not parse, a broken bound too.
 *
 * @example
 * ```ts
 * const year = Path.param("year", v.pipe(v.number(), v.integer(), v.minValue(1970), v.maxValue(9999)));
 * ```
 */
export function param<const Name extends string, A, Sent = unknown>(
  name: Name,
  kind: TextKind<A, Sent>,
  options: ParamOptions<NoInfer<EncodedAs<Sent>>> = {},
): Param<Name, A, Sent> {
  return codecParam("Path.param", name, codecFor(kind, placeOf("path", name)) as Codec<A, Sent>, options);
}

function codecParam<const Name extends string, A, Sent>(
  maker: string,
  name: Name,
  codec: Codec<A, Sent>,
  options: ParamOptions = {},
): Param<Name, A, Sent> {
  needsText(`${maker}: its name`, name);
  needsOptions(maker, options, "unparsed doc example examples deprecated");
  const { unparsed, ...about } = options;
  return withReader<Param<Name, A, Sent>>({ kind: "param", name, codec, declines: unparsed === "next-route", about });
}

/** All remaining segments, as a list of texts. It must be last, and the API document leaves its routes out. */
export function rest<const Name extends string>(name: Name): Rest<Name> {
  needsText("Path.rest: its name", name);
  return withReader<Rest<Name>>({ kind: "rest", name });
}

/** Values of a query. A `Date` is an instant; a list repeats its name; undefined is left out. */
export interface QueryValues {
  readonly [name: string]: QueryValue | readonly QueryValue[] | undefined;
}

type QueryValue = string | number | bigint | boolean | Date;

/**
 * The URL of a path, and of its query if one is given. Every byte of a segment, a name or a value but `A-Z a-z 0-9 - . _ ~` is
 * percent-encoded. So are the segments `.` and `..`, but a browser removes `%2E` and `%2E%2E` as it does those.
 *
 * @returns The URL, or which argument is missing, unknown or cannot be printed.
 * @example
 * ```ts
 * Path.url(order, { order_id: 7 }); // { ok: true, value: "/orders/7" }
 * Path.url(orders, {}, { after: 7, tag: ["a", "b"] }); // { ok: true, value: "/orders?after=7&tag=a&tag=b" }
 * ```
 */
export function url<Params extends AnyParam | Rest>(
  path: Path<Params>,
  args: ArgumentsOf<Params>,
  query: QueryValues = {},
): Result<string, string> {
  needsPath("Path.url: path", path);
  needsObject("Path.url: the arguments", args);
  needsObject("Path.url: the query", query);
  // Of `URLSearchParams` or a `Map` nothing would be in the URL.
  if (Symbol.iterator in query)
    throw new TypeError("Path.url: the query has entries, and no members: pass Object.fromEntries(query)");
  const given = args as { readonly [name: string]: unknown };
  const names = new Set(path.segments.flatMap((segment) => (typeof segment === "string" ? [] : [segment.name])));
  for (const name of Object.keys(given)) {
    if (!names.has(name)) return error(`${path.pattern} has no parameter ${name}`);
  }
  let text = "";
  for (const segment of path.segments) {
    if (typeof segment === "string") {
      text += `/${encodeSegment(segment)}`;
      continue;
    }
    const value = Object.hasOwn(given, segment.name) ? given[segment.name] : undefined;
    if (value === undefined) return error(`${path.pattern}: no argument for ${segment.name}`);
    const printed = segment.kind === "param" ? [segment.codec.print(value as never)] : value;
    if (!isTexts(printed))
      return error(`${path.pattern}: ${segment.name} is ${kindOf(value)}, and ${unprinted(segment)}`);
    for (const part of printed) {
      if (part === "") return error(`${path.pattern}: ${segment.name} ${emptySegment(segment)}, which no URL can hold`);
      if (!part.isWellFormed())
        return error(`${path.pattern}: ${segment.name} is not Unicode text, which no URL can hold`);
      text += `/${encodeSegment(part)}`;
    }
  }
  const queried = queryText(path.pattern, query);
  return queried.ok ? ok((text === "" ? "/" : text) + queried.value) : queried;
}

function queryText(pattern: string, query: QueryValues): Result<string, string> {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one === undefined) continue;
      const text = queryValue(one);
      if (text === undefined) return error(`${pattern}: the query ${name} is no text, number, boolean or date`);
      if (!`${name}${text}`.isWellFormed())
        return error(`${pattern}: the query ${name} is not Unicode text, which no URL can hold`);
      pairs.push(`${encodeSegment(name)}=${encodeSegment(text)}`);
    }
  }
  return ok(pairs.length === 0 ? "" : `?${pairs.join("&")}`);
}

/** Undefined for what has no text of its own, such as NaN, an object, or a `Date` that no instant is read from. */
function queryValue(value: QueryValue): string | undefined {
  if (value instanceof Date) return dateText(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : undefined;
  return ["string", "bigint", "boolean"].includes(typeof value) ? String(value) : undefined;
}

/**
 * What `Codec.instant` prints, which would add 500 bytes to the bundle of each app. Of a year before 0 or after 9999 the ISO text is
 * longer, as it has a sign and six digits.
 */
function dateText(date: Date): string | undefined {
  const text = Number.isNaN(date.getTime()) ? "" : date.toISOString();
  return text.length === "2026-09-30T12:00:00.000Z".length ? text : undefined;
}

function unprinted({ kind }: AnyParam | Rest): string {
  return kind === "param" ? "cannot be printed" : "not a list of texts";
}

function emptySegment(segment: AnyParam | Rest): string {
  return segment.kind === "param" ? "printed as nothing" : "has an empty segment";
}

function patternOf(segments: readonly Segment[]): string {
  return segments.map((segment) => `/${segmentPattern(segment)}`).join("") || "/";
}

function segmentPattern(segment: Segment): string {
  if (typeof segment === "string") return segment;
  return segment.kind === "rest" ? `{${segment.name}*}` : `{${segment.name}}`;
}
