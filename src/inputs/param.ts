import type { SentAs } from "../codecs/codec.ts";
import { internal, sentences } from "../refusals/framework-codes.ts";
import { Refusal } from "../refusals/refusal.ts";
import type { AnyParam, Param, Rest } from "../routes/path.ts";
import { decodeSegment } from "../routes/segment.ts";
import type { Asked } from "./asked.ts";
import type { Dep, Place } from "./dep.ts";
import { notText, readText } from "./read-text.ts";
import { string } from "../codecs/index.ts";

/** The value of a path parameter; a 400 at `path.<name>` where the segment does not parse. */
export function param<Name extends string, A, S = unknown>(
  parameter: Param<Name, A, S>,
): Dep<A, never, { path: { [K in Name]: SentAs<S> } }>;
export function param<Name extends string>(
  parameter: Rest<Name>,
): Dep<readonly string[], never, { path: { [K in Name]: readonly string[] } }>;
export function param(parameter: AnyParam | Rest): Dep<never, never, never> {
  const { name } = parameter;
  const at = `path.${name}`;
  const codec = parameter.kind === "param" ? parameter.codec : string;
  const compile = (place: Place): ((asked: Asked) => unknown) => {
    const index = place.captured(name);
    if (index === undefined) {
      const detail = `a dependency read the path parameter ${name}, which the path of ${place.route} does not have`;
      throw new Refusal(internal, sentences.get("internal") as string, { detail });
    }
    if (parameter.kind === "rest") return (asked) => readRest(asked.captured[index] as string, at);
    return (asked) => {
      const text = decodeSegment(asked.captured[index] as string);
      return text === undefined ? notText(codec, at) : readText(codec, text, at);
    };
  };
  return { node: { from: [], need: { in: "path", name, required: true, repeated: false, codec }, compile } };
}

function readRest(captured: string, at: string): unknown {
  if (captured === "") return [];
  const texts = captured.split("/").map(decodeSegment);
  return texts.includes(undefined) ? notText(string, at) : texts;
}
