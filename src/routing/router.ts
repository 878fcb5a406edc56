import type { AnyCodec } from "../codecs/codec.ts";
import { keyOf } from "../http/bytes.ts";
import { decodeSegment } from "../http/target.ts";
import { anyMethod, mounted, takesEmpty } from "./mounted.ts";
import type { Path, Segment } from "./path.ts";

/** Values by text, found by a part of a path. */
export class Literals<A> {
  readonly #values = new Map<string, A>();
  // Bits for the lengths, first and last characters of all texts. Slicing, hashing and looking up a part of a path takes 30
  // ns. A part that is not a key mostly differs in one of these, which takes 3 ns to see.
  #lengths = 0;
  #firsts = 0;
  #lasts = 0;

  get(text: string): A | undefined {
    return this.#values.get(keyOf(text));
  }

  /** The value for the part of a path between two positions. */
  find(path: string, at: number, end: number): A | undefined {
    const mayBe =
      has(this.#lengths, end - at) &&
      has(this.#firsts, path.charCodeAt(at)) &&
      has(this.#lasts, path.charCodeAt(end - 1));
    return mayBe ? this.#values.get(keyOf(path.slice(at, end))) : undefined;
  }

  set(text: string, value: A): void {
    this.#values.set(keyOf(text), value);
    this.#lengths |= bit(text.length);
    this.#firsts |= bit(text.charCodeAt(0));
    this.#lasts |= bit(text.charCodeAt(text.length - 1));
  }
}

function has(bits: number, number: number): boolean {
  return (bits & bit(number)) !== 0;
}

// One of 32 bits that many numbers share: only a hint.
function bit(number: number): number {
  return 1 << (number & 31);
}

/** A matching route, with the raw segments of its parameters; those of a rest are joined with `/`. */
export interface Match<R> {
  readonly route: R;
  readonly captured: readonly string[];
}

/** A registered route, which is also the match of a path without parameters. */
interface Listed<R> extends Match<R> {
  readonly segments: readonly Segment[];
  readonly order: number;
}

/** The routes with one path, by method. */
type RoutesByMethod<R> = Map<string, Listed<R>>;

/** A node of the tree: one position of all paths with the same beginning. */
interface RouteNode<R> {
  literals: Literals<RouteNode<R>> | undefined;
  declining: Declining<R>[] | undefined;
  /** The node below any other parameter. */
  plain: RouteNode<R> | undefined;
  /** The routes whose path ends here. */
  end: RoutesByMethod<R> | undefined;
  /** The routes whose path ends here with a rest. */
  rest: RoutesByMethod<R> | undefined;
  /** The mounts at and below this path; a rest is preferred to them. */
  mount: RoutesByMethod<R> | undefined;
}

/** A parameter with `unparsed: "next-route"`, and the node below it. */
interface Declining<R> {
  readonly codec: AnyCodec;
  readonly node: RouteNode<R>;
}

interface Found<R> extends Match<R> {
  readonly captured: string[];
  readonly listed: Listed<R>;
}

const nothingCaptured: readonly string[] = [];

/**
 * The routes of an app, compiled once. The order of the list does not matter. At each segment the router prefers, in this
 * order: literal text, a parameter with `unparsed: "next-route"`, any other parameter. A rest matches only paths that no
 * other route has, under any method; so does a mount, which also matches empty segments.
 */
export class Router<R> {
  readonly #root: RouteNode<R> = emptyNode();
  /** Paths without parameters, which win over all others: found without walking the tree. */
  readonly #literal = new Literals<RoutesByMethod<R>>();
  readonly #methods: string[] = [];
  #order = 0;

  add(method: string, path: Path<unknown>, route: R): void {
    if (method !== anyMethod && !this.#methods.includes(method)) this.#methods.push(method);
    const { segments } = path;
    const routes = routesAt(this.#root, segments);
    if (!routes.has(method)) routes.set(method, { route, captured: nothingCaptured, segments, order: this.#order++ });
    if (segments.every((segment) => typeof segment === "string" && !segment.includes("%"))) {
      this.#literal.set(path.pattern, routes);
    }
  }

  /** Every method that a route declares, in the order of their first use. */
  get methods(): readonly string[] {
    return this.#methods;
  }

  find(method: string, path: string): Match<R> | undefined {
    const literal = this.#literal.find(path, 0, path.length)?.get(method);
    if (literal !== undefined) return literal;
    // Other forms of a target (`*`, `host:port`) are not paths.
    if (!path.startsWith("/")) return undefined;
    const walk = new Walk<R>(method, path);
    return walk.find(this.#root, 1, 0) ?? walk.rest;
  }

  /** The methods that a path has routes for, `HEAD` last if `GET` is there; undefined for a path without routes. */
  allowedMethods(path: string): readonly string[] | undefined {
    if (!path.startsWith("/")) return undefined;
    // No route has this method, so the walk visits every node.
    const walk = new Walk<R>("", path);
    walk.find(this.#root, 1, 0);
    const answering = walk.ends ?? walk.rests;
    if (answering === undefined) return undefined;
    const allow = this.#methods.filter((method) => answering.some((routes) => routes.has(method)));
    return allow.includes("GET") ? [...allow, "HEAD"] : allow;
  }
}

/** One search of the tree for the route of a method. */
class Walk<R> {
  readonly #method: string;
  readonly #path: string;
  readonly #encoded: boolean;
  #rest: Listed<R> | undefined = undefined;
  /** Nodes where the path ends for other methods, which exclude every rest. */
  ends: RoutesByMethod<R>[] | undefined = undefined;
  /** The rests that match the path. */
  rests: RoutesByMethod<R>[] | undefined = undefined;

  constructor(method: string, path: string) {
    this.#method = method;
    this.#path = path === "/" ? "" : path;
    this.#encoded = path.includes("%");
  }

  /** The best rest; valid if `find` found nothing. */
  get rest(): Match<R> | undefined {
    if (this.#rest === undefined || this.ends !== undefined) return undefined;
    return { route: this.#rest.route, captured: takenBy(this.#rest.segments, this.#path) };
  }

  /**
   * The route below a node for the rest of the path.
   *
   * @param at Where its next segment begins; past the path's end, there are no more.
   * @param taken How many segments parameters have matched so far.
   */
  find(node: RouteNode<R>, at: number, taken: number): Found<R> | undefined {
    const path = this.#path;
    if (at > path.length) return this.#atEnd(node, taken) ?? this.#noteRest(node, at);
    const end = segmentEnd(path, at);
    // An empty segment matches neither a literal nor a parameter.
    const found = end === at ? undefined : this.#below(node, at, end, taken);
    return found ?? this.#noteRest(node, at);
  }

  #below(node: RouteNode<R>, at: number, end: number, taken: number): Found<R> | undefined {
    const literal = node.literals === undefined ? undefined : this.#literal(node.literals, at, end);
    if (literal !== undefined) {
      const found = this.find(literal, end + 1, taken);
      if (found !== undefined) return found;
    }
    if (node.declining !== undefined) {
      const found = this.#bestDeclining(node.declining, at, end, taken);
      if (found !== undefined) return found;
    }
    return node.plain === undefined ? undefined : this.#take(node.plain, at, end, taken);
  }

  #literal(literals: Literals<RouteNode<R>>, at: number, end: number): RouteNode<R> | undefined {
    if (!this.#encoded) return literals.find(this.#path, at, end);
    const text = decodeSegment(this.#path.slice(at, end));
    return text === undefined ? undefined : literals.get(text);
  }

  // Segments are sliced on the way back from a match, so a failing branch slices nothing.
  #take(node: RouteNode<R>, at: number, end: number, taken: number): Found<R> | undefined {
    const found = this.find(node, end + 1, taken + 1);
    if (found !== undefined) found.captured[taken] = this.#path.slice(at, end);
    return found;
  }

  // Among several declining parameters that parse, the following segments decide, then the listed order.
  #bestDeclining(declining: readonly Declining<R>[], at: number, end: number, taken: number): Found<R> | undefined {
    const text = decodeSegment(this.#path.slice(at, end));
    if (text === undefined) return undefined;
    let best: Found<R> | undefined;
    for (const { codec, node } of declining) {
      if (!codec.parse(text).ok) continue;
      const found = this.#take(node, at, end, taken);
      if (found !== undefined && (best === undefined || beats(found.listed, best.listed))) best = found;
    }
    return best;
  }

  #atEnd({ end }: RouteNode<R>, taken: number): Found<R> | undefined {
    if (end === undefined) return undefined;
    const listed = end.get(this.#method);
    // Allocated at its final length: V8 makes room for seventeen elements when an empty array gets its first.
    if (listed !== undefined) return { route: listed.route, captured: Array<string>(taken), listed };
    (this.ends ??= []).push(end);
    return undefined;
  }

  // A rest of an application's contains no empty segment.
  #noteRest({ rest, mount }: RouteNode<R>, at: number): undefined {
    if (mount !== undefined) this.#note(mount);
    if (rest === undefined) return;
    const hasEmpty = at <= this.#path.length && `/${this.#path.slice(at)}/`.includes("//");
    const taking = hasEmpty ? withEmpty(rest) : rest;
    if (taking.size > 0) this.#note(taking);
  }

  #note(routes: RoutesByMethod<R>): void {
    (this.rests ??= []).push(routes);
    const listed = ofMethod(routes, this.#method);
    if (listed !== undefined && (this.#rest === undefined || beats(listed, this.#rest))) this.#rest = listed;
  }
}

/** The routes of a rest that take empty segments. */
function withEmpty<R>(rest: RoutesByMethod<R>): RoutesByMethod<R> {
  return new Map([...rest].filter(([, { segments }]) => takesEmpty(segments)));
}

/** The methods that no standard `Request` can have. */
const noRequests: ReadonlySet<string> = new Set(["", "CONNECT", "TRACE", "TRACK"]);
/** Those that it refuses, or would write in upper case (Fetch, "normalize"): methods of HTTP/2 may have any case. */
const changed = /^(?:connect|trace|track|delete|get|head|options|post|put)$/i;

function ofMethod<R>(routes: RoutesByMethod<R>, method: string): Listed<R> | undefined {
  const own = routes.get(method);
  if (own !== undefined || noRequests.has(method)) return own;
  return method !== method.toUpperCase() && changed.test(method) ? undefined : routes.get(anyMethod);
}

/** The end of the segment that begins at a position. */
function segmentEnd(path: string, at: number): number {
  const slash = path.indexOf("/", at);
  return slash === -1 ? path.length : slash;
}

// Only the end of the walk shows which rest matches, so its segments are sliced here.
function takenBy(segments: readonly Segment[], path: string): readonly string[] {
  const taken: string[] = [];
  let at = 1;
  for (const segment of segments) {
    const end = typeof segment === "object" && segment.kind === "rest" ? path.length : segmentEnd(path, at);
    if (typeof segment === "object") taken.push(path.slice(at, end));
    at = end + 1;
  }
  return taken;
}

// Two matching routes are compared segment by segment: the more specific segment wins.
function beats<R>(a: Listed<R>, b: Listed<R>): boolean {
  const left = ranksOf(a.segments);
  const right = ranksOf(b.segments);
  return left === right ? a.order < b.order : left > right;
}

function ranksOf(segments: readonly Segment[]): string {
  return segments.map(rankOf).join("");
}

function rankOf(segment: Segment): string {
  if (typeof segment === "string") return "3";
  if (segment.kind === "rest") return segment === mounted ? "-" : "0";
  return segment.declines ? "2" : "1";
}

function emptyNode<R>(): RouteNode<R> {
  return {
    literals: undefined,
    declining: undefined,
    plain: undefined,
    end: undefined,
    rest: undefined,
    mount: undefined,
  };
}

function routesAt<R>(root: RouteNode<R>, segments: readonly Segment[]): RoutesByMethod<R> {
  let node = root;
  for (const segment of segments) {
    if (segment === mounted) return (node.mount ??= new Map());
    if (typeof segment === "object" && segment.kind === "rest") return (node.rest ??= new Map());
    node = below(node, segment);
  }
  return (node.end ??= new Map());
}

function below<R>(node: RouteNode<R>, segment: Exclude<Segment, { kind: "rest" }>): RouteNode<R> {
  if (typeof segment === "string") return belowLiteral((node.literals ??= new Literals()), segment);
  if (segment.declines) return belowDeclining((node.declining ??= []), segment.codec);
  return (node.plain ??= emptyNode());
}

function belowLiteral<R>(literals: Literals<RouteNode<R>>, text: string): RouteNode<R> {
  const known = literals.get(text);
  if (known !== undefined) return known;
  const added = emptyNode<R>();
  literals.set(text, added);
  return added;
}

function belowDeclining<R>(declining: Declining<R>[], codec: AnyCodec): RouteNode<R> {
  const known = declining.find((other) => other.codec === codec);
  if (known !== undefined) return known.node;
  const added = { codec, node: emptyNode<R>() };
  declining.push(added);
  return added.node;
}
