import type { AnyCodec } from "../codecs/codec.ts";
import type { Path, Segment } from "./path.ts";
import { decodeSegment } from "./segment.ts";

/** A path's route for one method, with the segments its parameters took as sent; a rest's are joined with `/`. */
export interface Match<R> {
  readonly route: R;
  readonly captured: readonly string[];
}

/** What is at a path for a method that has no route there. */
export type Elsewhere = "nothing" | { readonly allow: readonly string[] };

/** A route in its place; by itself, its match with a path that has no parameter. */
interface Listed<R> extends Match<R> {
  /** A digit for each segment, by how specific it is. */
  readonly ranks: string;
  readonly order: number;
}

/** The routes that end at one place, by method. */
type Endings<R> = Map<string, Listed<R>>;

/** One position of every path that begins alike. */
interface Place<R> {
  readonly literals: Map<string, Place<R>>;
  readonly declining: { readonly codec: AnyCodec; readonly place: Place<R> }[];
  plain?: Place<R>;
  end?: Endings<R>;
  rest?: Endings<R>;
}

interface Found<R> {
  readonly listed: Listed<R>;
  readonly captured: readonly string[];
}

const nothingCaptured: readonly string[] = [];

/**
 * The routes of an app, compiled once. A literal beats a parameter whatever the order of the list; a parameter that
 * declines beats one that does not; a rest takes only what no other route names, under any method.
 */
export class Table<R> {
  readonly #root: Place<R> = emptyPlace();
  /** Paths without a parameter, which nothing can beat, by their text: found without a walk. */
  readonly #literal = new Map<string, Endings<R>>();
  readonly #methods: string[] = [];
  #order = 0;

  add(method: string, path: Path<unknown>, route: R): void {
    if (!this.#methods.includes(method)) this.#methods.push(method);
    const endings = endingsOf(this.#root, path.segments);
    if (!endings.has(method)) endings.set(method, listed(route, path, this.#order++));
    if (path.segments.every((segment) => typeof segment === "string" && !segment.includes("%"))) {
      this.#literal.set(path.pattern, endings);
    }
  }

  /** Every method some route declares, in the order they first appear. */
  get methods(): readonly string[] {
    return this.#methods;
  }

  find(method: string, path: string): Match<R> | undefined {
    const literal = this.#literal.get(path)?.get(method);
    if (literal !== undefined) return literal;
    // What else a target may be (`*`, `host:port`) is no path.
    if (!path.startsWith("/")) return undefined;
    const walk = new Walk<R>(method, path);
    const found = walk.find(this.#root, 1, 0) ?? walk.rest;
    return found === undefined ? undefined : { route: found.listed.route, captured: found.captured };
  }

  /** What a path that no route of this method answers has for others; `HEAD` is listed last, where `GET` is. */
  elsewhere(path: string): Elsewhere {
    const named = new Set<string>();
    for (const method of this.#methods) if (this.find(method, path) !== undefined) named.add(method);
    if (named.size === 0) return "nothing";
    const allow = this.#methods.filter((method) => named.has(method));
    return { allow: named.has("GET") ? [...allow, "HEAD"] : allow };
  }
}

/** One search for the route of a method. */
class Walk<R> {
  readonly #method: string;
  readonly #path: string;
  /** The segments taken by parameters so far, in the first places of the array. */
  readonly #taken: string[] = [];
  #rest: Found<R> | undefined = undefined;
  /** Another method's route names the path, so that no rest may take it. */
  #named = false;

  constructor(method: string, path: string) {
    this.#method = method;
    this.#path = path === "/" ? "" : path;
  }

  /** The best rest; meaningful when `find` found nothing. */
  get rest(): Found<R> | undefined {
    return this.#named ? undefined : this.#rest;
  }

  /**
   * The route below a place for what is left of the path.
   *
   * @param at Where its next segment begins; past the path's end, none is left.
   * @param taken How many segments parameters took so far.
   */
  find(place: Place<R>, at: number, taken: number): Found<R> | undefined {
    const path = this.#path;
    if (at > path.length) return this.#ending(place, taken) ?? this.#noteRest(place, at, taken);
    const slash = path.indexOf("/", at);
    const end = slash === -1 ? path.length : slash;
    const found = end === at ? undefined : this.#below(place, path.slice(at, end), end + 1, taken);
    return found ?? this.#noteRest(place, at, taken);
  }

  #below(place: Place<R>, segment: string, next: number, taken: number): Found<R> | undefined {
    const text = decodeSegment(segment);
    const literal = text === undefined ? undefined : place.literals.get(text);
    if (literal !== undefined) {
      const found = this.find(literal, next, taken);
      if (found !== undefined) return found;
    }
    if (place.declining.length > 0 && text !== undefined) {
      const found = this.#bestDeclining(place, segment, text, next, taken);
      if (found !== undefined) return found;
    }
    if (place.plain === undefined) return undefined;
    this.#taken[taken] = segment;
    return this.find(place.plain, next, taken + 1);
  }

  // Of several declining parameters that parse, what follows decides, and then the listed order.
  #bestDeclining(place: Place<R>, segment: string, text: string, next: number, taken: number): Found<R> | undefined {
    let best: Found<R> | undefined;
    for (const { codec, place: below } of place.declining) {
      if (!codec.parse(text).ok) continue;
      this.#taken[taken] = segment;
      const found = this.find(below, next, taken + 1);
      if (found !== undefined && (best === undefined || beats(found.listed, best.listed))) best = found;
    }
    return best;
  }

  #ending(place: Place<R>, taken: number): Found<R> | undefined {
    if (place.end === undefined) return undefined;
    const listed = place.end.get(this.#method);
    if (listed !== undefined) return { listed, captured: this.#taken.slice(0, taken) };
    this.#named = true;
    return undefined;
  }

  // No empty segment is part of a rest.
  #noteRest(place: Place<R>, at: number, taken: number): undefined {
    const listed = place.rest?.get(this.#method);
    if (listed === undefined || (this.#rest !== undefined && !beats(listed, this.#rest.listed))) return;
    const left = this.#path.slice(at);
    if (at <= this.#path.length && `/${left}/`.includes("//")) return;
    this.#rest = { listed, captured: [...this.#taken.slice(0, taken), left] };
  }
}

// Two routes that answer one path are compared position by position: the more specific segment wins.
function beats<R>(a: Listed<R>, b: Listed<R>): boolean {
  return a.ranks === b.ranks ? a.order < b.order : a.ranks > b.ranks;
}

function ranksOf(segments: readonly Segment[]): string {
  return segments.map(rankOf).join("");
}

function rankOf(segment: Segment): string {
  if (typeof segment === "string") return "3";
  if (segment.kind === "rest") return "0";
  return segment.declines ? "2" : "1";
}

function listed<R>(route: R, path: Path<unknown>, order: number): Listed<R> {
  return { route, captured: nothingCaptured, ranks: ranksOf(path.segments), order };
}

function emptyPlace<R>(): Place<R> {
  return { literals: new Map(), declining: [] };
}

function endingsOf<R>(root: Place<R>, segments: readonly Segment[]): Endings<R> {
  let place = root;
  for (const segment of segments) {
    if (typeof segment === "object" && segment.kind === "rest") return (place.rest ??= new Map());
    place = below(place, segment);
  }
  return (place.end ??= new Map());
}

function below<R>(place: Place<R>, segment: Exclude<Segment, { kind: "rest" }>): Place<R> {
  if (typeof segment === "string") {
    const known = place.literals.get(segment) ?? emptyPlace<R>();
    place.literals.set(segment, known);
    return known;
  }
  if (!segment.declines) return (place.plain ??= emptyPlace());
  const known = place.declining.find(({ codec }) => codec === segment.codec);
  if (known !== undefined) return known.place;
  const added = { codec: segment.codec, place: emptyPlace<R>() };
  place.declining.push(added);
  return added.place;
}
