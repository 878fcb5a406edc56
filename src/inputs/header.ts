import type { AnyCodec, Codec } from "../codecs/codec.ts";
import { stripped } from "../http/fields.ts";
import { Problem } from "../refusals.ts";
import type { InputRequest } from "./request.ts";
import type { Dep, TextNeed } from "./dep.ts";
import { readText, required as missing } from "./text.ts";

/** A required header; case does not matter in its name. */
export function required<const Name extends string, A>(
  name: Name,
  codec: Codec<A>,
): Dep<A, never, { headers: { [K in Name]: string } }> {
  const absent = missing(`header.${name}`);
  return header(name, codec, { required: true }, () => absent);
}

/** A header's value; undefined where it is absent. */
export function optional<const Name extends string, A>(
  name: Name,
  codec: Codec<A>,
): Dep<A | undefined, never, { headers?: { [K in Name]?: string } }> {
  return header(name, codec, {}, () => undefined);
}

/** A header's value, or the default where it is absent. */
function withDefault<const Name extends string, A>(
  name: Name,
  codec: Codec<A>,
  value: A,
): Dep<A, never, { headers?: { [K in Name]?: string } }> {
  return header(name, codec, { default: codec.print(value) }, () => value);
}
export { withDefault as default };

// RFC 9110 §5.3: only a list may be sent on several lines. For any other codec a second line is an error.
function header(
  name: string,
  codec: AnyCodec,
  what: Partial<TextNeed>,
  absent: () => unknown,
): Dep<never, never, never> {
  const at = `header.${name}`;
  const lower = name.toLowerCase();
  const twice = new Problem(at, "malformed", "This is given more than once.");
  const read = (request: InputRequest): unknown => {
    const lines = request.lines(lower);
    const first = lines[0];
    if (first === undefined) return absent();
    if (lines.length > 1 && codec.list !== true) return twice;
    return readText(codec, stripped(lines.length > 1 ? lines.join(", ") : first), at);
  };
  const need: TextNeed = { in: "header", name, codec, required: false, repeated: false, ...what };
  return { node: { from: [], need, compile: () => read } };
}
