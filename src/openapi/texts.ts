import type { AnyCodec, TextOptions } from "../codecs/codec.ts";
import type { BodyNeed, FileNeed, TextNeed } from "../inputs/dep.ts";
import type { Need } from "../inputs/request.ts";
import { listSchema } from "../inputs/wire-list.ts";
import { describing } from "../inputs/wire.ts";
import type { Route } from "../routing/route.ts";
import type { AnyStandard } from "../schema/standard.ts";
import type { DocumentContext, Schema } from "./schema-rules.ts";

/** A value read from the query, a header or a cookie. */
export type ReadNeed = TextNeed | Extract<Need, { readonly in: string }>;

/** A parameter object of OpenAPI. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required: boolean;
  readonly deprecated?: true;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: object;
}

/** A route's parameters: those of the path, then the others in order. */
export function parametersOf(
  route: Route,
  { values, body }: { readonly values: readonly ReadNeed[]; readonly body: BodyNeed | undefined },
  context: DocumentContext,
): readonly Parameter[] {
  const parameters: Parameter[] = [];
  for (const segment of route.path.segments) {
    if (typeof segment === "string" || segment.kind === "rest") continue;
    const { name, codec, about = {} } = segment;
    const need: TextNeed = { in: "path", name, required: true, style: "text", codec, about };
    parameters.push(parameterOf(need, context));
  }
  for (const value of values) {
    addParameter("codec" in value ? parameterOf(value, context) : withoutCodec(value), parameters);
  }
  const { encodings } = context;
  const isCoding = ({ in: place, name }: Parameter): boolean =>
    place === "header" && name.toLowerCase() === "content-encoding";
  if (body !== undefined && encodings.length > 0 && !parameters.some(isCoding)) parameters.push(codingOf(encodings));
  return parameters;
}

/** The coding of a body (RFC 9110 §8.4), which the route does not read: its app does. */
function codingOf(encodings: readonly string[]): Parameter {
  const description = "How the body is compressed, where it is.";
  return {
    name: "Content-Encoding",
    in: "header",
    description,
    required: false,
    schema: { type: "string", enum: encodings },
  };
}

/** An input that is read twice is one parameter, which must fit both schemas. */
function addParameter(parameter: Parameter, parameters: Parameter[]): void {
  const at = parameters.findIndex((other) => key(other) === key(parameter));
  const other = parameters[at];
  if (other === undefined) {
    parameters.push(parameter);
    return;
  }
  const isSame = JSON.stringify(other.schema) === JSON.stringify(parameter.schema);
  const schema = isSame ? other.schema : { allOf: [other.schema, parameter.schema] };
  parameters[at] = { ...parameter, ...other, required: other.required || parameter.required, schema };
}

/** Header names are case-insensitive. */
function key({ in: place, name }: Parameter): string {
  return `${place} ${place === "header" ? name.toLowerCase() : name}`;
}

function withoutCodec({ name, in: place, required = false }: Extract<Need, { readonly in: string }>): Parameter {
  return { name, in: place, required, schema: { type: "string" } };
}

function parameterOf(need: TextNeed, context: DocumentContext): Parameter {
  const { name, in: place, required, style, about = {} } = need;
  const one = codecSchema(need, context);
  const [example, ...more] = examplesOf(need, one, context);
  return {
    name,
    in: place,
    ...describedBy(about),
    required,
    ...(about.deprecated === true ? { deprecated: true } : {}),
    ...describing[style].parameter,
    schema: textSchema(need, one),
    ...(example === undefined ? {} : more.length === 0 ? { example } : { examples: keyed([example, ...more]) }),
  };
}

function describedBy({ doc }: TextOptions): { readonly description?: string } {
  return doc === undefined ? {} : { description: doc };
}

/** Examples by their index. */
export function keyed(examples: readonly unknown[]): { readonly [key: string]: { readonly value: unknown } } {
  return Object.fromEntries(examples.map((value, index) => [index, { value }]));
}

/** The schema of a form's field. It has the description and the examples too, because a field is not a parameter. */
export function fieldSchema(field: TextNeed | FileNeed, context: DocumentContext): Schema {
  const { about = {} } = field;
  return {
    ...(field.in === "file" ? fileSchema(field) : fieldText(field, context)),
    ...describedBy(about),
    ...(about.deprecated === true ? { deprecated: true } : {}),
  };
}

/** Bytes, as generators of clients know them: a `Blob` and no text. */
export const binary: Schema = { type: "string", contentMediaType: "application/octet-stream" };

// Not a boolean: a checkbox sent as "false" would be checked.
const box: Schema = { type: "string", description: "Checked where it is sent, whatever it says." };

function fieldText(field: TextNeed, context: DocumentContext): Schema {
  if (field.checked === true) return box;
  const one = codecSchema(field, context);
  const examples = examplesOf(field, one, context);
  return { ...textSchema(field, one), ...(examples.length === 0 ? {} : { examples }) };
}

function fileSchema({ repeated, about = {} }: FileNeed): Schema {
  const file = { ...binary, description: "A file." };
  return repeated ? listSchema(file, about) : file;
}

/** The schema of a text input: that of its style, with its default. */
function textSchema({ codec, style, default: given, about = {} }: TextNeed, one: Schema): Schema {
  const { schema, hasDefault } = describing[style];
  const value = given === undefined || !hasDefault ? undefined : defaultOf(codec, given.value, one);
  const described = schema(one, about) as Schema;
  return value === undefined ? described : { ...described, default: value };
}

/** The schema of one text. A custom kind of a codec becomes the title, unless it is an enum. */
function codecSchema({ in: place, name, codec, style }: TextNeed, context: DocumentContext): Schema {
  const { text, schema } = codec;
  if (schema !== undefined) {
    const describe = (part: AnyStandard): Schema => withoutText(context.shape(part, "input", `${place}.${name}`));
    return describing[style].declared(schema.shape as AnyStandard, describe) as Schema;
  }
  if (text === undefined) return { type: "string" };
  const { type, format, enum: words, kind } = text;
  return {
    type,
    ...(format === undefined ? {} : { format }),
    ...(words === undefined ? {} : { enum: words }),
    ...(kind === undefined || words !== undefined ? {} : { title: kind }),
  };
}

/** In a body a 64-bit number may be sent as text too; here every value is a text. */
function withoutText({ pattern, ...schema }: Schema): Schema {
  if (schema["format"] === "int64" && Array.isArray(schema["type"])) return { ...schema, type: "integer" };
  return pattern === undefined ? schema : { ...schema, pattern };
}

/** A default as JSON; undefined where the client cannot send it, as the result of a transformation. */
function defaultOf(codec: AnyCodec, value: never, schema: Schema): unknown {
  const printed = codec.print(value);
  const read = codec.parse(printed);
  return read.ok && codec.print(read.value as never) === printed ? jsonOf(codec, printed, schema) : undefined;
}

/** A text as JSON; undefined for a whole number that JSON parsers would round. */
function jsonOf(codec: AnyCodec, printed: string, { type }: Schema): unknown {
  const json = codec.schema === undefined ? printed : codec.schema.jsonOf(printed);
  if (typeof json !== "string") return json;
  if (type === "boolean") return printed === "true";
  if (type === "number") return Number(printed);
  if (type === "integer") return Number.isSafeInteger(Number(printed)) ? Number(printed) : undefined;
  return printed;
}

/** The examples as JSON, each of which the input must read. */
function examplesOf(need: TextNeed, schema: Schema, context: DocumentContext): readonly unknown[] {
  const { in: place, name, about = {}, style, codec } = need;
  const { example, examples = [] } = about;
  const given = example === undefined ? examples : [example, ...examples];
  const one = (value: unknown): unknown => {
    const text = sentText(value);
    const read = codec.parse(text);
    if (read.ok) return codec.schema === undefined ? (jsonOf(codec, text, schema) ?? text) : value;
    context.problem(`has an example of ${place}.${name} that is refused: ${read.error}`);
    return undefined;
  };
  return given.map((value) => describing[style].replaced(value, one));
}

/** A value as a typed client sends it. */
function sentText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}
