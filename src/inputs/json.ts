import type { Code } from "../refusals/code.ts";
import { unsupportedMediaType } from "../refusals/framework-codes.ts";
import type { Problem } from "../refusals/problem.ts";
import { Refusal, invalidRefusal } from "../refusals/refusal.ts";
import { compileReader } from "../shapes/reader.ts";
import type { JsonOf, Shape, ValueOf } from "../shapes/shape.ts";
import type { Asked } from "./asked.ts";
import type { Dep, DepNode } from "./dep.ts";
import { mediaTypeOf, unsupported } from "./content-type.ts";

/**
 * The whole body as JSON, read by a shape. What does not fit is a 400 with every problem; a `Content-Type` that is
 * no JSON is a 415 before the body is read. No body reads as `{}`.
 *
 * @param options `refusal` is answered for a body that does not fit, in place of the problems, which then go to the log.
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
        const read = text === undefined ? reader.read(asked.bytes) : reader.readText(text);
        if (read.ok) return read.value;
        return refusal === undefined ? invalidRefusal(read.error) : ownRefusal(refusal, read.error);
      };
    },
  };
  return { node };
}

function ownRefusal([code, sentence]: readonly [Code, string], problems: readonly Problem[]): Refusal {
  const detail = problems.map(({ at, code, message }) => `${at}: ${message} (${code})`).join("; ");
  return new Refusal(code, sentence, { detail });
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
