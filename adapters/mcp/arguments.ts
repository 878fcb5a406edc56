/** The arguments of a tool as the request of its route. */
import type { InnerRequest } from "../../src/app/inner-call.ts";
import { isRecord } from "../../src/arguments.ts";
import { encodeSegment } from "../../src/doors/http.ts";
import { joined, headerOf, wirePairs } from "../../src/doors/inputs.ts";
import type { ToolMember, ToolSchemas } from "../../src/openapi/tool-schemas.ts";
import type { Route } from "../../src/doors/routing.ts";
import { itemTexts, memberText, memberTexts } from "./json-text.ts";
import type { McpMessage, MessageParams } from "./protocol.ts";

/** An argument that the request cannot be made of; a route's own problems come from the route. */
export interface ArgumentProblem {
  readonly at: string;
  readonly code: string;
  readonly message: string;
}

// The sentences are those that a route itself has for the same.
const unknownMember = "This is not a member this object has.";
const notBase64 = "This must be bytes in base64, padded to a multiple of four.";

/** The most problems of one kind in one answer: a client may send any number of arguments. */
export const maxListed = 10;

/** The arguments of a call: what they are, and their JSON as the client wrote it. */
export class GivenArguments {
  readonly values: MessageParams;
  /** The message that has them as `params.arguments`; undefined where each is a text. */
  readonly #message: string | undefined;
  #text: string | undefined = undefined;
  #members: ReadonlyMap<string, string> | undefined = undefined;

  constructor(values: MessageParams, message?: string) {
    this.values = values;
    this.#message = message;
  }

  /** One of them, as `JSON.parse` read it. Every object has members that no client gave, such as `constructor`. */
  argument(name: string): unknown {
    return Object.hasOwn(this.values, name) ? this.values[name] : undefined;
  }

  /** All of them. A client may leave them out, or send `null`. */
  get text(): string {
    if (this.#text === undefined) {
      const params = this.#message === undefined ? undefined : memberText(this.#message, "params");
      const text = params === undefined ? undefined : memberText(params, "arguments");
      this.#text = text?.startsWith("{") === true ? text : "{}";
    }
    return this.#text;
  }

  /** One of them; undefined where it is not given. */
  textOf(name: string): string | undefined {
    return (this.#members ??= memberTexts(this.text)).get(name);
  }
}

/** Makes the requests of one tool. */
export class RequestMaker {
  readonly #schemas: ToolSchemas;
  readonly #byName: ReadonlyMap<string, ToolMember>;
  /** The path, where it has no parameter. */
  readonly #path: string | undefined;
  /** The segments of the path: those that are texts are encoded. */
  readonly #segments: Route["path"]["segments"];
  readonly #query: readonly ToolMember[];
  readonly #headers: readonly ToolMember[];

  constructor(route: Route, schemas: ToolSchemas) {
    this.#segments = route.path.segments.map((segment) =>
      typeof segment === "string" ? encodeSegment(segment) : segment,
    );
    const isFixed = this.#segments.every((segment) => typeof segment === "string");
    this.#path = isFixed ? `/${this.#segments.join("/")}` : undefined;
    this.#query = schemas.members.filter((member) => member.in === "query");
    this.#headers = schemas.members.filter((member) => member.in === "header");
    this.#schemas = schemas;
    this.#byName = new Map(schemas.members.map((member) => [member.name, member]));
  }

  /** The request of some arguments, or every problem of them. */
  make(given: GivenArguments): InnerRequest | readonly ArgumentProblem[] {
    const problems = new ArgumentProblems();
    const unknown = Object.keys(given.values).filter((name) => !this.#byName.has(name));
    for (const name of unknown.slice(0, maxListed)) problems.add(name, "unknown_member", unknownMember);
    if (problems.all !== undefined) return problems.all;
    const target = this.#target(given, problems);
    const headers = this.#headers.length === 0 ? noHeaders : this.#headersOf(given, problems);
    const body = requestBodyOf(this.#schemas, given, problems);
    return problems.all ?? { target, headers, body };
  }

  /** Where a problem of the route is in the arguments: `body.item` is `item`. */
  placeOf(at: string): string {
    const [, place = "", named = ""] = /^(path|query|header|form|body)\.(.+)$/.exec(at) ?? [];
    // A name may have a dot or a bracket itself.
    const name = this.#byName.has(named) ? named : (/^[^.[]*/.exec(named)?.[0] ?? "");
    const member = this.#byName.get(name);
    const within = place === "body" ? "json" : place;
    return member !== undefined && (member.in === within || (member.in === "file" && place === "form")) ? named : at;
  }

  #target(given: GivenArguments, problems: ArgumentProblems): string {
    const path = this.#path ?? this.#pathOf(given, problems);
    if (this.#query.length === 0) return path;
    const query = new URLSearchParams();
    for (const [name, text] of texts(this.#query, given, problems)) query.append(name, text);
    return query.size === 0 ? path : `${path}?${query.toString()}`;
  }

  #pathOf(given: GivenArguments, problems: ArgumentProblems): string {
    let path = "";
    for (const segment of this.#segments) {
      if (typeof segment === "string") path += `/${segment}`;
      else {
        const member = this.#byName.get(segment.name) as ToolMember;
        const text = argumentText(member, exactly(given, segment.name), problems) ?? "";
        if (text === "") problems.add(member.name, "required", "This is required.");
        const parts = segment.kind === "rest" ? text.split("/") : [text];
        path += parts.map((part) => `/${encodeSegment(part.toWellFormed())}`).join("");
      }
    }
    return path;
  }

  #headersOf(given: GivenArguments, problems: ArgumentProblems): ReadonlyMap<string, string> {
    const headers = new Map<string, string[]>();
    for (const [named, text, member] of texts(this.#headers, given, problems)) {
      const name = named.toLowerCase();
      // A control character would end the line.
      if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) problems.add(member.name, "malformed", "No header can hold this.");
      const before = headers.get(name);
      if (before === undefined) headers.set(name, [text]);
      else before.push(text);
    }
    return new Map([...headers].map(([name, all]) => [name, headerOf(all)]));
  }
}

const noHeaders: ReadonlyMap<string, string> = new Map();

/** The values of some members as texts. */
function* texts(
  members: readonly ToolMember[],
  given: GivenArguments,
  problems: ArgumentProblems,
): Iterable<readonly [name: string, text: string, member: ToolMember]> {
  for (const member of members) {
    const value = exactly(given, member.name);
    const one = isRecord(value) && member.isObject !== true ? argumentText(member, value, problems) : value;
    const pairs = wirePairs(member.name, one, (text) => argumentText(member, text, problems));
    for (const [name, text] of pairs) yield [name, text, member];
  }
}

/** A value, whose whole numbers past 2^53 are the digits that the client sent: `JSON.parse` has rounded them. */
function exactly(given: GivenArguments, name: string): unknown {
  return exactlyIn(given.argument(name), () => given.textOf(name));
}

function exactlyIn(value: unknown, textOf: () => string | undefined): unknown {
  if (isRounded(value)) return digitsOr(value, textOf());
  if (Array.isArray(value)) {
    if (!value.some(isRounded)) return value;
    const items = itemTexts(textOf() ?? "");
    return value.map((one: unknown, index) => (isRounded(one) ? digitsOr(one, items[index]) : one));
  }
  if (!isRecord(value)) return value;
  const members = Object.entries(value);
  if (!members.some(([, one]) => isRounded(one) || Array.isArray(one))) return value;
  const texts = memberTexts(textOf() ?? "");
  return Object.fromEntries(members.map(([name, one]) => [name, exactlyIn(one, () => texts.get(name))]));
}

function isRounded(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

function digitsOr(value: unknown, text: string | undefined): unknown {
  return text !== undefined && /^-?\d+$/.test(text) ? text : value;
}

/** The problems of some arguments. Each is listed once: a client can send a hundred thousand names, and items of a list. */
class ArgumentProblems {
  #found: ArgumentProblem[] | undefined = undefined;

  get all(): readonly ArgumentProblem[] | undefined {
    return this.#found;
  }

  add(at: string, code: string, message: string): void {
    this.#found ??= [];
    if (this.#found.every((other) => other.at !== at || other.code !== code)) this.#found.push({ at, code, message });
  }
}

/** A value as the text of a path, a query, a header or a field. */
function argumentText(member: ToolMember, value: unknown, problems: ArgumentProblems): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  problems.add(member.name, "malformed", "This is not text or a number or true or false.");
  return undefined;
}

const encoder = new TextEncoder();

function requestBodyOf(
  { members, body }: ToolSchemas,
  given: GivenArguments,
  problems: ArgumentProblems,
): InnerRequest["body"] {
  switch (body.as) {
    case "nothing":
      return undefined;
    case "json":
      return { content: jsonOf(members, given), contentType: "application/json" };
    case "lines": {
      const isList = Array.isArray(given.argument("body"));
      if (!isList) problems.add("body", "malformed", "This is not a list.");
      const lines = isList ? itemTexts(given.textOf("body") ?? "") : [];
      // No string of JSON has an end of a line in it: there are some between the members alone.
      const content = lines.map((line) => `${line.replaceAll(/[\r\n]/g, " ")}\n`).join("");
      return { content, contentType: "application/x-ndjson" };
    }
    case "form":
    case "multipart":
      return formBody(members, given, body.as, problems);
    default: {
      const whole = members.find((member) => member.in === "body") as ToolMember;
      const content = rawBytes(whole, given.argument("body"), body.as === "base64", problems);
      return { content, contentType: body.contentType };
    }
  }
}

/** Without a body a route reads `{}`: of no argument at all the body is missing, and is refused as such. */
function jsonOf(members: readonly ToolMember[], given: GivenArguments): string {
  if (members.every((member) => member.in === "json")) return given.text;
  const whole = members.find((member) => member.in === "body");
  if (whole !== undefined) return given.textOf(whole.name) ?? "";
  const texts: string[] = [];
  for (const { in: place, name } of members) {
    const text = place === "json" ? given.textOf(name) : undefined;
    if (text !== undefined) texts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${texts.join(",")}}`;
}

function formBody(
  members: readonly ToolMember[],
  given: GivenArguments,
  as: "form" | "multipart",
  problems: ArgumentProblems,
): InnerRequest["body"] {
  const fields: (readonly [ToolMember, string | Uint8Array])[] = [];
  for (const member of members) {
    const value = member.in === "form" || member.in === "file" ? exactly(given, member.name) : undefined;
    if (value === undefined || value === null || (value === false && member.checked === true)) continue;
    if (member.in === "file") {
      for (const one of Array.isArray(value) ? value : [value])
        fields.push([member, rawBytes(member, one, true, problems)]);
    } else {
      const pairs = wirePairs(member.name, value, (one) => argumentText(member, one, problems) ?? "");
      for (const [, text] of pairs) fields.push([member, text]);
    }
  }
  if (as === "multipart") return multipart(fields);
  const form = new URLSearchParams(fields.map(([{ name }, text]) => [name, text as string]));
  return { content: form.toString(), contentType: "application/x-www-form-urlencoded" };
}

/** A form with files (RFC 7578). The platform's `FormData` could only be written asynchronously. */
function multipart(fields: readonly (readonly [ToolMember, string | Uint8Array])[]): InnerRequest["body"] {
  const boundary = boundaryOf(fields);
  const parts: Uint8Array[] = [];
  for (const [{ name }, value] of fields) {
    const quoted = name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
    const file = typeof value === "string" ? "" : `; filename="${quoted}"\r\ncontent-type: application/octet-stream`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted}"${file}\r\n\r\n`;
    parts.push(encoder.encode(head), typeof value === "string" ? encoder.encode(value) : value, encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  const length = parts.reduce((length, part) => length + part.byteLength, 0);
  return { content: joined(parts, length), contentType: `multipart/form-data; boundary=${boundary}` };
}

const usualBoundary = "----usher-form";
const decoder = new TextDecoder();

/** The same for the same arguments, so that a call with an idempotency key can be repeated. What has that in it gets another one. */
function boundaryOf(fields: readonly (readonly [ToolMember, string | Uint8Array])[]): string {
  const textIn = (value: string | Uint8Array): string => (typeof value === "string" ? value : decoder.decode(value));
  const hasIt = fields.some(([, value]) => textIn(value).includes(usualBoundary));
  return hasIt ? `----usher${crypto.randomUUID()}` : usualBoundary;
}

function rawBytes(member: ToolMember, value: unknown, isBase64: boolean, problems: ArgumentProblems): Uint8Array {
  if (typeof value !== "string") {
    problems.add(member.name, "malformed", isBase64 ? notBase64 : "This is not text.");
    return new Uint8Array();
  }
  if (!isBase64) return encoder.encode(value);
  try {
    return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  } catch {
    problems.add(member.name, "malformed", notBase64);
    return new Uint8Array();
  }
}

/** The arguments of a call; undefined where they are not an object. */
export function argumentsOf({ params, text }: McpMessage): GivenArguments | undefined {
  const given = params["arguments"] ?? {};
  return isRecord(given) ? new GivenArguments(given, text) : undefined;
}
