import { noted } from "./copies.ts";
import { placeOf } from "../arguments.ts";
import type { EncodedAs, ListOptions, TextOptions } from "../codecs/codec.ts";
import { utf8Of } from "../http/bytes.ts";
import { stripped } from "../http/fields.ts";
import { Problem } from "../refusals.ts";
import type { InputRequest } from "./request.ts";
import type { Dep, TextNeed } from "./dep.ts";
import { isNeeded, listReader } from "./wire-list.ts";
import { codecFor } from "./text-schema.ts";
import type { AnyTextKind, TextKind } from "./text-schema.ts";
import { readText, missing } from "./text.ts";
import { wrongText } from "./wrong-text.ts";

/** A required header, read by a codec or a schema; case does not matter in its name. */
export function required<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A, never, { headers: { [K in Name]: EncodedAs<S> } }> {
  const absent = missing(placeOf("header", name));
  return header(name, kind, { about, required: true }, () => absent);
}

/** A header's value; undefined where it is absent. */
export function optional<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A | undefined, never, { headers?: { [K in Name]?: EncodedAs<S> | undefined } }> {
  return header(name, kind, { about }, () => undefined);
}

/** A header's value, or the default where it is absent. */
function withDefault<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  value: NoInfer<A>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A, never, { headers?: { [K in Name]?: EncodedAs<S> | undefined } }> {
  return header(name, kind, { about, default: { value: value as never } }, () => value);
}
export { withDefault as default };

/**
 * Every item of a list, in order: `x-tag: a, b` on one line or several (RFC 9110 §5.6.1); an empty list without any. The codec
 * or the schema is that of one item, which has no comma; a codec that reads a whole list is for `Header.optional`. A codec's
 * first unreadable item is one problem; a schema's items each have their own, at `header.<name>[<index>]`.
 *
 * @param about What the API document says of it, and `minItems` and `maxItems`.
 */
export function list<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: ListOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<readonly A[], never, { headers?: { [K in Name]?: readonly EncodedAs<S>[] | undefined } }> {
  const at = placeOf("header", name);
  const codec = codecFor(kind, at);
  const items = listReader(codec, at, about);
  const lower = at.slice("header.".length).toLowerCase();
  const read = (request: InputRequest): unknown => items(itemsOf(request.lines(lower)), request.maxProblems);
  const need: TextNeed = { in: "header", name, codec, required: isNeeded(about), style: "list", about };
  return noted({ node: { from: [], need, check: () => wrongText(need), compile: () => read } });
}

/** A recipient must skip empty items (RFC 9110 §5.6.1.2). */
function itemsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(",").flatMap((item) => stripped(item) || []));
}

// RFC 9110 §5.3: only a list may be sent on several lines. For any other codec a second line is an error.
function header(
  name: string,
  kind: AnyTextKind,
  what: Partial<TextNeed>,
  absent: () => unknown,
): Dep<never, never, never> {
  const at = placeOf("header", name);
  const codec = codecFor(kind, at);
  const lower = at.slice("header.".length).toLowerCase();
  const twice = new Problem(at, "malformed", "This is given more than once.");
  const read = (request: InputRequest): unknown => {
    const lines = request.lines(lower);
    const first = lines[0];
    if (first === undefined) return absent();
    if (lines.length > 1 && codec.list !== true) return twice;
    const text = stripped(lines.length > 1 ? lines.join(",") : first);
    // HTML, "Server-sent events": a client sends the id of an event in UTF-8.
    return readText(codec, lower === "last-event-id" ? utf8Of(text) : text, at);
  };
  const need: TextNeed = { in: "header", name, codec, required: false, style: "text", ...what };
  return noted({ node: { from: [], need, check: () => wrongText(need), compile: () => read } });
}
