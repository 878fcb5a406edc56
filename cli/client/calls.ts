import type { TextNeed } from "../../src/inputs/dep.ts";
import type { TextShape } from "../../src/codecs/codec.ts";
import { readsOf } from "../../src/openapi/inputs.ts";
import type { ReadNeed, Reads } from "../../src/openapi/inputs.ts";
import { codesOf } from "../../src/openapi/refusals.ts";
import type { Direction } from "../../src/openapi/schemas/schema.ts";
import type { Route } from "../../src/routes/route.ts";
import type { Shape } from "../../src/shapes/shape.ts";
import { comment, memberName, unionOf } from "./typescript.ts";

/** The type of a shape as a caller sends it, or gets it. */
export type TypeOf = (shape: Shape, direction: Direction) => string;

/** The codes that every call has, and so none lists. */
const ofEveryCall = new Set([
  "invalid",
  "unreadable",
  "too_large",
  "busy",
  "internal",
  "cross_origin",
  "unsupported_media_type",
]);

/** A route as a member of the interface of all calls. */
export function callOf(route: Route, typeOf: TypeOf): string {
  const reads = readsOf(route.inputs);
  const codes = codesOf(route, reads).filter(({ name }) => !ofEveryCall.has(name));
  const given = [...sentBy(route, reads, typeOf), "CallOptions"].join(" & ");
  const optional = isAllOptional(route, reads) ? "?" : "";
  const refused = unionOf([...codes.map(({ name }) => JSON.stringify(name)), "ClientCode"]);
  const outcome = unionOf([...answersOf(route, typeOf), `RefusedAs<${refused}>`]);
  const said = [
    ...[route.summary, route.description].filter((text) => text !== undefined),
    ...codes.map(({ name, status, doc }) => `\`${name}\` (${status}): ${doc}`),
  ];
  const doc = said.length === 0 ? "" : `${comment(said.join("\n\n"))}\n`;
  const key = JSON.stringify(`${route.method} ${route.pattern}`);
  return `${doc}readonly ${key}: (\n  given${optional}: ${given},\n) => Promise<\n  ${outcome}\n>;`;
}

function sentBy(route: Route, reads: Reads, typeOf: TypeOf): readonly string[] {
  const values = [...reads.values, ...reads.credentials.flatMap(({ reads }) => reads)];
  const headers = values.filter((need) => need.in === "header").map((need) => ({ ...memberOf(need), type: "string" }));
  if (reads.body !== undefined && takesType(reads.body.as))
    headers.push({ name: "content-type", required: false, type: "string" });
  return [
    group("path", pathOf(route)),
    group("query", values.filter((need) => need.in === "query").map(memberOf)),
    group("headers", headers),
    group("form", reads.body?.as === "form" ? reads.fields.map(fieldOf) : []),
    bodyOf(reads, typeOf),
  ].filter((text) => text !== "");
}

interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
}

/** What is read twice is one member. */
function group(name: string, members: readonly Member[]): string {
  if (members.length === 0) return "";
  const byName = new Map<string, Member>();
  for (const member of members) {
    const required = member.required || byName.get(member.name)?.required === true;
    byName.set(member.name, { ...member, required });
  }
  const all = [...byName.values()].map(
    ({ name, required, type }) => `${memberName(name)}${required ? "" : "?"}: ${type}`,
  );
  const isRequired = [...byName.values()].some(({ required }) => required);
  return `{ ${name}${isRequired ? "" : "?"}: { ${all.join("; ")} } }`;
}

function pathOf({ path }: Route): readonly Member[] {
  return path.segments.flatMap((segment) => {
    if (typeof segment === "string") return [];
    const type = segment.kind === "rest" ? "readonly string[]" : textTypeOf(segment.codec.text);
    return [{ name: segment.name, required: true, type }];
  });
}

function memberOf(need: ReadNeed): Member {
  const { name, required = false } = need;
  return { name, required, type: "codec" in need ? valueTypeOf(need) : "string" };
}

function fieldOf(need: Reads["fields"][number]): Member {
  const { name, required } = need;
  if (need.in !== "file") return { name, required, type: need.checked === true ? "true" : valueTypeOf(need) };
  return { name, required, type: need.repeated ? "readonly Blob[]" : "Blob" };
}

function valueTypeOf({ codec, repeated }: TextNeed): string {
  const type = textTypeOf(codec.text);
  return repeated ? `readonly (${type})[]` : type;
}

/** What a caller gives for a codec's value: the value where the platform's own text of it is the codec's. */
function textTypeOf(text: TextShape | undefined): string {
  if (text?.enum !== undefined) return unionOf(text.enum.map((word) => JSON.stringify(word)));
  if (text?.type === "integer") return text.format === "int64" ? "number | bigint" : "number";
  if (text?.type === "number" || text?.type === "boolean") return text.type;
  return text?.format === "date-time" ? "Date | string" : "string";
}

function takesType(as: NonNullable<Reads["body"]>["as"]): boolean {
  return as === "bytes" || as === "stream";
}

function bodyOf({ body }: Reads, typeOf: TypeOf): string {
  if (body === undefined || body.as === "form") return "";
  if (body.as === "json") return `{ json: ${typeOf(body.shape, "input")} }`;
  return `{ body: ${body.as === "multipart" ? "FormData" : "BodyToSend"} }`;
}

function isAllOptional(route: Route, reads: Reads): boolean {
  const values = [...reads.values, ...reads.credentials.flatMap(({ reads }) => reads), ...reads.fields];
  const needsBody = reads.body !== undefined && reads.body.as !== "form";
  const isSent = ({ in: place }: { readonly in: string }) => place !== "cookie";
  return pathOf(route).length === 0 && !needsBody && !values.some((need) => isSent(need) && need.required === true);
}

function answersOf({ returns: { node } }: Route, typeOf: TypeOf): readonly string[] {
  switch (node.kind) {
    case "html":
    case "text":
      return ["Succeeded<200, string>"];
    case "empty":
      return node.statuses.map(([status]) => `Succeeded<${status}, undefined>`);
    case "json": {
      const type = node.shape === undefined ? "unknown" : typeOf(node.shape, "output");
      return node.statuses.map(([status]) => `Succeeded<${status}, ${type}>`);
    }
    case "events": {
      const events = (node.events ?? []).map(({ name, payload: { shape } }) => {
        const type = shape === undefined ? "string" : typeOf(shape, "output");
        return `{ name: ${JSON.stringify(name)}; id: string | undefined; value: ${type} }`;
      });
      return [`Succeeded<200, AsyncIterable<\n${unionOf(events).replaceAll("} | {", "} |\n{")}>>`];
    }
    case "response":
      return ["Succeeded<number, unknown>"];
    default:
      // A WebSocket's address, which is not called.
      return [];
  }
}
