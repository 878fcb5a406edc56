import { placeOf } from "../arguments.ts";
import { string } from "../codecs/index.ts";
import { decodeSegment } from "../http/target.ts";
import { internalRefusal } from "../refusals.ts";
import type { AnyParam, CheckedRoute, DepNode, Rest, RouteContext, TextNeed } from "./dep.ts";
import type { InputRequest } from "./request.ts";
import { notText, readText } from "./text.ts";
import { wrongText } from "./wrong-text.ts";

/** A parameter of a path with its reader, which knows the parameter by identity. */
export function withReader<P extends AnyParam | Rest>(made: Omit<P, "reader">): P {
  return Object.assign(made, { reader: segmentReader(made as P) }) as P;
}

function segmentReader(parameter: AnyParam | Rest): DepNode {
  const { name } = parameter;
  const at = placeOf("path", name);
  const { codec, about } = parameter.kind === "param" ? parameter : { codec: string };
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
  const need: TextNeed = { in: "path", name, required: true, style: "text", codec, parameter };
  const check: DepNode["check"] = (_format, { segments }) => {
    const wrong = wrongParameter(parameter, segments);
    return wrong === undefined ? wrongText(about === undefined ? need : { ...need, about }) : [wrong];
  };
  return { from: [], need, check, compile };
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

/** What is wrong with a parameter of a route whose path has not this one. */
function wrongParameter(parameter: AnyParam | Rest, segments: CheckedRoute["segments"]): string | undefined {
  if (segments.includes(parameter)) return undefined;
  const { name } = parameter;
  const own = segments.find((segment) => typeof segment === "object" && segment.name === name);
  if (typeof own !== "object")
    return `reads the path parameter ${name}, which its path does not have: give Path.of the same parameter`;
  const both = `${name} (${typeText(parameter)}), and its path has another of that name (${typeText(own)})`;
  return `reads the path parameter ${both}: make it once, and use that one in both`;
}

/** The type of a parameter, for a message. */
function typeText(parameter: AnyParam | Rest): string {
  if (parameter.kind === "rest") return "rest";
  const { kind, format, type } = parameter.codec.text ?? { type: "string" };
  return `${kind ?? format ?? type}${parameter.declines ? ", next-route" : ""}`;
}
