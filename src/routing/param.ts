import { string } from "../codecs/index.ts";
import { isSegment, needs, placeOf } from "../arguments.ts";
import { decodeSegment } from "../http/target.ts";
import type { AnyDep, AnyParam, Dep, DepNode, Param, PathWire, RouteContext, Rest } from "../inputs/dep.ts";
import type { InputRequest } from "../inputs/request.ts";
import { notText, readText } from "../inputs/text.ts";
import { internalRefusal } from "../refusals.ts";
import { mounted } from "./mounted.ts";
import type { Segment } from "./path.ts";

/**
 * The value of a path parameter. A segment that does not parse is a 400 at `path.<name>`, even if no input reads it. It must
 * be the very parameter that the path was made with: `App.make` refuses another one of the same name.
 */
export function param<Name extends string, A, S = unknown>(
  parameter: Param<Name, A, S>,
): Dep<A, never, PathWire<Param<Name, A, S>>>;
export function param<Name extends string>(parameter: Rest<Name>): Dep<readonly string[], never, PathWire<Rest<Name>>>;
export function param(parameter: AnyParam | Rest): Dep<never, never, never> {
  needs(typeof parameter !== "string" && isSegment(parameter), "param: it", parameter, "a parameter of Path");
  const { name } = parameter;
  const at = placeOf("path", name);
  const codec = parameter.kind === "param" ? parameter.codec : string;
  const compile = (context: RouteContext): ((request: InputRequest) => unknown) => {
    const index = context.captured(parameter);
    if (typeof index !== "number") {
      const problem = index === "another" ? "does not have: it has another of that name" : "does not have";
      const detail = `a dependency read the path parameter ${name}, which the path of ${context.route} ${problem}`;
      throw internalRefusal(detail);
    }
    if (parameter.kind === "rest") return (request) => readRest(request.captured[index] as string, at);
    return (request) => {
      const text = decodeSegment(request.captured[index] as string);
      return text === undefined ? notText(codec, at) : readText(codec, text, at);
    };
  };
  return { node: { from: [], need: { in: "path", name, required: true, style: "text", codec, parameter }, compile } };
}

/** Checks for the path parameters that a route does not read. A parameter that declines was parsed when its route was found. */
export function checksOf(segments: readonly Segment[], read: readonly DepNode[]): readonly AnyDep[] {
  return segments.flatMap((segment) => {
    if (typeof segment === "string" || segment === mounted || (segment.kind === "param" && segment.declines)) return [];
    const isRead = read.some(({ need }) => need?.in === "path" && need.parameter === segment);
    return isRead ? [] : [param(segment as Rest)];
  });
}

function readRest(captured: string, at: string): unknown {
  if (captured === "") return [];
  const texts: string[] = [];
  for (const segment of captured.split("/")) {
    const text = decodeSegment(segment);
    if (text === undefined) return notText(string, at);
    texts.push(text);
  }
  return texts;
}
