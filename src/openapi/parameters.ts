import type { AnyCodec } from "../codecs/codec.ts";
import type { TextNeed } from "../inputs/dep.ts";
import type { Route } from "../routes/route.ts";
import type { ReadNeed } from "./inputs.ts";
import type { Schema } from "./schemas/schema.ts";

/** A value of a path, a query, a header or a cookie, as the document lists it. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** A route's parameters: those of its path, then the others in the order they are read. */
export function parametersOf(route: Route, values: readonly ReadNeed[]): readonly Parameter[] {
  const parameters: Parameter[] = [];
  for (const segment of route.path.segments) {
    if (typeof segment === "string" || segment.kind === "rest") continue;
    parameters.push({ name: segment.name, in: "path", required: true, schema: codecSchema(segment.codec) });
  }
  for (const value of values) addParameter(parameterOf(value), parameters);
  return parameters;
}

/** What is read twice is one parameter, which is sent to the liking of both. */
function addParameter(parameter: Parameter, parameters: Parameter[]): void {
  const at = parameters.findIndex((other) => key(other) === key(parameter));
  const other = parameters[at];
  if (other === undefined) {
    parameters.push(parameter);
    return;
  }
  const alike = JSON.stringify(other.schema) === JSON.stringify(parameter.schema);
  const schema = alike ? other.schema : { allOf: [other.schema, parameter.schema] };
  parameters[at] = { ...other, required: other.required || parameter.required, schema };
}

/** A header's name is compared without case. */
function key({ in: place, name }: Parameter): string {
  return `${place} ${place === "header" ? name.toLowerCase() : name}`;
}

function parameterOf(need: ReadNeed): Parameter {
  const { name, required = false } = need;
  return { name, in: need.in, required, schema: "codec" in need ? textSchema(need) : { type: "string" } };
}

/** The schema of a text input: its codec's, in a list where it is repeated, with its default. */
export function textSchema({ codec, repeated, default: printed }: TextNeed): Schema {
  const schema = codecSchema(codec);
  if (repeated) return { type: "array", items: schema };
  const value = printed === undefined ? undefined : jsonOf(printed, schema);
  return value === undefined ? schema : { ...schema, default: value };
}

/** What a codec says of its text. A kind the author named is a title; a set of words says enough itself. */
function codecSchema({ text }: AnyCodec): Schema {
  if (text === undefined) return { type: "string" };
  const { type, format, enum: words, kind } = text;
  return {
    type,
    ...(format === undefined ? {} : { format }),
    ...(words === undefined ? {} : { enum: words }),
    ...(kind === undefined || words !== undefined ? {} : { title: kind }),
  };
}

/** A printed value as JSON; a whole number that JSON's readers would round is left out. */
function jsonOf(printed: string, { type }: Schema): unknown {
  if (type === "boolean") return printed === "true";
  if (type === "number") return Number(printed);
  if (type === "integer") return Number.isSafeInteger(Number(printed)) ? Number(printed) : undefined;
  return printed;
}
