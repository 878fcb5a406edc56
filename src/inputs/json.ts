import type { Code } from "../refusals/code.ts";
import { unsupportedMediaType } from "../refusals/framework-codes.ts";
import { inOneLine } from "../refusals/problem.ts";
import { Refusal, invalidRefusal } from "../refusals/refusal.ts";
import { compileReader } from "../shapes/reader.ts";
import type { JsonOf, Shape, ValueOf } from "../shapes/shape.ts";
import type { Asked } from "./asked.ts";
import type { Dep, DepNode } from "./dep.ts";
import { mediaTypeOf, unsupported } from "./content-type.ts";

const at = "body";

/**
 * The whole body as JSON, read by a shape. What does not fit is a 400 with its problems, up to the app's `maxProblems`; a `Content-Type` that is
 * no JSON is a 415 before the body is read. No body reads as `{}`.
 *
 * @param options `refusal` is answered for a body that does not fit, in place of the problems, of which the first 100 go to the log.
 * `examples` are bodies for the API document, as they are sent.
 */
export function json<S extends Shape>(
  shape: S,
  options?: { readonly examples?: readonly NoInfer<JsonOf<S>>[] },
): Dep<ValueOf<S>, never, { json: JsonOf<S> }>;
export function json<S extends Shape, const Name extends string>(
  shape: S,
  options: { readonly refusal: readonly [Code<Name>, string]; readonly examples?: readonly NoInfer<JsonOf<S>>[] },
): Dep<ValueOf<S>, Name, { json: JsonOf<S> }>;
export function json(
  shape: Shape,
  options: { readonly refusal?: readonly [Code, string]; readonly examples?: readonly unknown[] } = {},
): Dep<never, never, never> {
  const { refusal, examples = [] } = options;
  const node: DepNode = {
    from: [],
    codes: refusal === undefined ? [unsupportedMediaType] : [unsupportedMediaType, refusal[0]],
    body: { as: "json", shape, examples },
    before: () => checkContentType,
    compile: () => {
      const reader = compileReader(shape);
      return (asked) => {
        const { text } = asked;
        const most = asked.maxProblems;
        const read = text === undefined ? reader.read(asked.bytes, at, most) : reader.readText(text, at, most);
        if (read.ok) return read.value;
        const { error, more } = read;
        if (refusal === undefined) return invalidRefusal(error, undefined, more);
        const [code, sentence] = refusal;
        return new Refusal(code, sentence, { detail: inOneLine(error, more) });
      };
    },
  };
  return { node };
}

// An absent Content-Type passes: a client that sends none has said nothing against JSON.
function checkContentType(asked: Asked): Refusal | undefined {
  const lines = asked.lines("content-type");
  if (lines.length === 0) return undefined;
  const [line = ""] = lines;
  if (lines.length === 1 && (line === "application/json" || isJson(line))) return undefined;
  return unsupported();
}

function isJson(line: string): boolean {
  const type = mediaTypeOf(line);
  return type !== undefined && (type === "application/json" || /^application\/.+\+json$/.test(type));
}
