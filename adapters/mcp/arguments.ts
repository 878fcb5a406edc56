/** The arguments of a tool as the request of its route. */
import { encodeSegment } from "../../src/http/target.ts";
import type { ToolMember, ToolSchemas } from "../../src/openapi/tool-schemas.ts";
import type { Route } from "../../src/routing/route.ts";
import type { ToolRequest } from "./inner.ts";
import { isRecord } from "./protocol.ts";
import type { MessageParams } from "./protocol.ts";

/** An argument that the request cannot be made of; a route's own problems come from the route. */
export interface ArgumentProblem {
  readonly at: string;
  readonly code: string;
  readonly message: string;
}

/** What a body of JSON may have too. Arguments nested deeper are refused: to write them as JSON again could exhaust the stack. */
const maxDepth = 512;
// The sentences are those that a route itself has for the same.
const tooDeep = "This is nested more than 512 deep.";
const notBase64 = "This must be bytes in base64, padded to a multiple of four.";

/** Makes the requests of one tool. */
export class RequestMaker {
  readonly #schemas: ToolSchemas;
  readonly #byName: ReadonlyMap<string, ToolMember>;
  /** The segments of the path: those that are texts are encoded. */
  readonly #segments: Route["path"]["segments"];
  readonly #hasQuery: boolean;

  constructor(route: Route, schemas: ToolSchemas) {
    this.#segments = route.path.segments.map((segment) =>
      typeof segment === "string" ? encodeSegment(segment) : segment,
    );
    this.#hasQuery = schemas.members.some((member) => member.in === "query");
    this.#schemas = schemas;
    this.#byName = new Map(schemas.members.map((member) => [member.name, member]));
  }

  /** The request of some arguments, or every problem of them. */
  make(given: MessageParams): ToolRequest | readonly ArgumentProblem[] {
    const problems: ArgumentProblem[] = [];
    for (const [name, value] of Object.entries(given)) {
      const member = this.#byName.get(name);
      if (member === undefined) problems.push(unknown);
      else if (!isShallow(value, maxDepth)) problems.push(problem(member, "malformed", tooDeep));
    }
    if (problems.length > 0) return problems;
    const target = this.#target(given, problems);
    const headers = this.#headers(given, problems);
    const body = bodyOf(this.#schemas, given, problems);
    return problems.length > 0 ? problems : { target, headers, body };
  }

  /** Where a problem of the route is in the arguments: `body.item` is `item`. */
  placeOf(at: string): string {
    const [, place = "", name = "", rest = ""] = /^(path|query|header|form|body)\.([^.[]+)(.*)$/.exec(at) ?? [];
    const member = this.#byName.get(name);
    const within = place === "body" ? "json" : place;
    return member !== undefined && (member.in === within || (member.in === "file" && place === "form"))
      ? `${name}${rest}`
      : at;
  }

  #target(given: MessageParams, problems: ArgumentProblem[]): string {
    let path = "";
    for (const segment of this.#segments) {
      if (typeof segment === "string") path += `/${segment}`;
      else {
        const member = this.#byName.get(segment.name) as ToolMember;
        const text = textOf(member, given[segment.name], problems) ?? "";
        if (text === "") problems.push(problem(member, "required", "This is required."));
        const parts = segment.kind === "rest" ? text.split("/") : [text];
        path += parts.map((part) => `/${encodeSegment(part.toWellFormed())}`).join("");
      }
    }
    if (path === "") path = "/";
    if (!this.#hasQuery) return path;
    const query = new URLSearchParams();
    for (const [member, text] of this.#texts("query", given, problems)) query.append(member.name, text);
    return query.size === 0 ? path : `${path}?${query.toString()}`;
  }

  #headers(given: MessageParams, problems: ArgumentProblem[]): Map<string, string> {
    const headers = new Map<string, string>();
    for (const [member, text] of this.#texts("header", given, problems)) {
      const name = member.name.toLowerCase();
      // A control character would end the line.
      if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) problems.push(problem(member, "malformed", "No header can hold this."));
      headers.set(name, headers.has(name) ? `${headers.get(name)}, ${text}` : text);
    }
    return headers;
  }

  *#texts(place: ToolMember["in"], given: MessageParams, problems: ArgumentProblem[]): Iterable<[ToolMember, string]> {
    for (const member of this.#schemas.members) {
      const value = member.in === place ? given[member.name] : undefined;
      if (value === undefined || value === null) continue;
      for (const one of Array.isArray(value) ? value : [value]) {
        const text = textOf(member, one, problems);
        if (text !== undefined) yield [member, text];
      }
    }
  }
}

const unknown: ArgumentProblem = { at: "arguments", code: "unknown", message: "This is not a member this object has." };

function problem({ name }: ToolMember, code: string, message: string): ArgumentProblem {
  return { at: name, code, message };
}

/** A value as the text of a path, a query, a header or a field. */
function textOf(member: ToolMember, value: unknown, problems: ArgumentProblem[]): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  problems.push(problem(member, "malformed", "This is not text or a number or true or false."));
  return undefined;
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isShallow(part, depth - 1));
}

const encoder = new TextEncoder();

function bodyOf(
  { members, body }: ToolSchemas,
  given: MessageParams,
  problems: ArgumentProblem[],
): ToolRequest["body"] {
  const whole = members.find((member) => member.in === "body");
  switch (body.as) {
    case "nothing":
      return undefined;
    case "json":
      return jsonBody(whole === undefined ? membersOf(members, given) : given[whole.name]);
    case "lines": {
      const lines = given["body"];
      if (!Array.isArray(lines)) problems.push({ at: "body", code: "malformed", message: "This is not a list." });
      const text = (lines as readonly unknown[] | undefined)?.map((line) => `${JSON.stringify(line)}\n`).join("");
      return { bytes: encoder.encode(text), contentType: "application/x-ndjson" };
    }
    case "form":
    case "multipart":
      return formBody(members, given, body.as, problems);
    default: {
      const bytes = rawBytes(whole as ToolMember, given["body"], body.as === "base64", problems);
      return { bytes, contentType: body.contentType };
    }
  }
}

function membersOf(members: readonly ToolMember[], given: MessageParams): object {
  // A member may have any name, `__proto__` too, which has no setter here.
  const found = Object.create(null) as { [name: string]: unknown };
  for (const { in: place, name } of members) {
    if (place === "json" && given[name] !== undefined) found[name] = given[name];
  }
  return found;
}

/** Without a body a route reads `{}`: of no argument at all the body is missing, and is refused as such. */
function jsonBody(value: unknown): ToolRequest["body"] {
  return { bytes: encoder.encode(value === undefined ? "" : JSON.stringify(value)), contentType: "application/json" };
}

function formBody(
  members: readonly ToolMember[],
  given: MessageParams,
  as: "form" | "multipart",
  problems: ArgumentProblem[],
): ToolRequest["body"] {
  const fields: (readonly [ToolMember, string | Uint8Array])[] = [];
  for (const member of members) {
    const value = member.in === "form" || member.in === "file" ? given[member.name] : undefined;
    if (value === undefined || value === null || (value === false && member.schema["type"] === "boolean")) continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      if (member.in === "file") fields.push([member, rawBytes(member, one, true, problems)]);
      else fields.push([member, textOf(member, one, problems) ?? ""]);
    }
  }
  if (as === "multipart") return multipart(fields);
  const form = new URLSearchParams(fields.map(([{ name }, text]) => [name, text as string]));
  return { bytes: encoder.encode(form.toString()), contentType: "application/x-www-form-urlencoded" };
}

/** A form with files (RFC 7578). The platform's `FormData` could only be written asynchronously. */
function multipart(fields: readonly (readonly [ToolMember, string | Uint8Array])[]): ToolRequest["body"] {
  const boundary = `----usher${crypto.randomUUID()}`;
  const parts: Uint8Array[] = [];
  for (const [{ name }, value] of fields) {
    const quoted = name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
    const file = typeof value === "string" ? "" : `; filename="${quoted}"\r\ncontent-type: application/octet-stream`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted}"${file}\r\n\r\n`;
    parts.push(encoder.encode(head), typeof value === "string" ? encoder.encode(value) : value, encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  return { bytes: joined(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

function rawBytes(member: ToolMember, value: unknown, isBase64: boolean, problems: ArgumentProblem[]): Uint8Array {
  if (typeof value !== "string") {
    problems.push(problem(member, "malformed", isBase64 ? notBase64 : "This is not text."));
    return new Uint8Array();
  }
  if (!isBase64) return encoder.encode(value);
  try {
    return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  } catch {
    problems.push(problem(member, "malformed", notBase64));
    return new Uint8Array();
  }
}

/** The arguments of a call; undefined where they are not an object. */
export function argumentsOf(params: MessageParams): MessageParams | undefined {
  const given = params["arguments"] ?? {};
  return isRecord(given) ? given : undefined;
}
