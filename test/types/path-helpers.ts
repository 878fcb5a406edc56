/** Functions that make routes of a path's text or of a parameter's name that they are given. */
import { Codec, Path, Query, Returns, Route, get, param, post } from "usher-http";
import type { PathSegment } from "usher-http";

const id = Path.int("id");
const text = { returns: Returns.text } as const;
const page = Query.optional("page", Codec.int);

export const list = <const N extends string>(name: N) => get(Path.of(name), text, () => name);
export const listed: "/pens" = list("pens").pattern;

export const below = <const N extends string>(name: N) =>
  get(Path.of("api", name), { ...text, inputs: { page } }, ({ page = 1 }) => page.toFixed());
export const lower: "/api/pens" = below("pens").pattern;

export const one = <const N extends string>(name: N) =>
  get(Path.of("api", name, id), { ...text, inputs: { id: param(id) } }, ({ id }) => id.toFixed());
export const found: "/api/pens/{id}" = one("pens").pattern;
// @ts-expect-error another text
export const lost: "/api/cups/{id}" = one("pens").pattern;

export const placed = <const N extends string>(name: N) => post(Path.of(name, id), text, () => name);
export const grouped = <const N extends string>(name: N) =>
  Route.group({ prefix: Path.of(name) }).get(Path.of("x"), text, () => name);

/** A parameter whose name is given. */
export const named = <const N extends string>(name: N) => {
  const it = Path.str(name);
  return get(Path.of("a", it), { ...text, inputs: { it: param(it) } }, ({ it }) => it);
};
export const ofName: "/a/{pen}" = named("pen").pattern;

export const wrong = <const N extends string>(name: N) =>
  // @ts-expect-error the path lacks the parameter, which texts alone never have
  get(Path.of(name, Path.str("other")), { ...text, inputs: { id: param(id) } }, ({ id }) => id.toFixed());

/** Texts and segments that are not known until the program runs. */
export const dynamic = (name: string) => get(Path.of(name), text, () => name);
export const spread = (names: readonly string[]) => get(Path.of(...names), text, () => "");
export const mixed = (segments: readonly PathSegment[]) => get(Path.of(...segments), text, () => "");
