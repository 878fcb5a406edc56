import { readFileSync } from "node:fs";
import type { AnyCodec } from "../src/codecs/codec.ts";
import type { TextNeed } from "../src/inputs/dep.ts";
import { describing } from "../src/inputs/wire.ts";
import { Components } from "../src/openapi/components.ts";
import { readsOf } from "../src/openapi/inputs.ts";
import type { Reads } from "../src/openapi/inputs.ts";
import { codesOf } from "../src/openapi/responses.ts";
import type { Direction, Schema } from "../src/openapi/schema-rules.ts";
import type { ReadNeed } from "../src/openapi/texts.ts";
import type { Code } from "../src/refusals.ts";
import type { Route } from "../src/routing/route.ts";
import type { ReturnsNode } from "../src/answers/returns-type.ts";
import type { AnyStandard } from "../src/schema/standard.ts";
import type { AnyMessage, AnyProtocol } from "../src/sockets/socket.ts";
import { CommandFailure, moduleAnd } from "./command.ts";
import type { Command } from "./command.ts";
import { comment, docOf, memberName, typeOf, unionOf } from "./json-types.ts";
import { loadRoutes, packageFile } from "./load-routes.ts";
import { writeOrCheck, textDiff } from "./write-or-check.ts";

/** Indents lines by their open braces. */
function indented(text: string): string {
  let depth = 0;
  const lines = text.split("\n").map((line) => {
    const code = line.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").replace(/^ ?\*.*|\/\*.*/s, "");
    const closes = /^[}\]]/.test(code) ? 1 : 0;
    const indent = "  ".repeat(depth - closes);
    depth += (code.match(/\{/g) ?? []).length - (code.match(/\}/g) ?? []).length;
    return `${indent}${line}`.trimEnd();
  });
  return lines.join("\n");
}

/** The type of a shape as a caller sends it or gets it. */
type TypeOf = (shape: AnyStandard, direction: Direction) => string;

/** The codes of every call, which the types do not list. */
const ofEveryCall = new Set([
  "invalid",
  "unreadable",
  "too_large",
  "busy",
  "internal",
  "cross_origin",
  "unsupported_media_type",
  "timed_out",
  "outcome_unknown",
]);

/** A call as it is written: what it is given, and what it resolves with. */
interface CallParts {
  readonly given: string;
  readonly isOptional: boolean;
  readonly answers: readonly string[];
  readonly codes: readonly Code[];
  readonly texts: readonly string[];
}

/** A member of the interface `Client`. Routes that differ only by the types of their parameters are one call (contract 4.2). */
function memberFor(name: string, routes: readonly Route[], typeOf: TypeOf): string {
  const [first] = routes;
  const { protocol } = first?.returns.node ?? {};
  if (first !== undefined && protocol !== undefined) return socketFor(name, first, protocol, typeOf);
  const calls = routes.map((route) => callOf(route, typeOf));
  const byName = new Map(calls.flatMap(({ codes }) => codes.map((code) => [code.name, code])));
  const codes = [...byName.values()];
  const optional = calls.some(({ isOptional }) => isOptional) ? "?" : "";
  const given = calls.length === 1 ? calls[0]?.given : unionOf(calls.map(({ given }) => `(${given})`));
  const refused = unionOf([...codes.map(({ name }) => JSON.stringify(name)), "ClientCode"]);
  const answers = unionOf(calls.flatMap(({ answers }) => answers));
  const texts = [
    ...new Set(calls.flatMap(({ texts }) => texts)),
    ...codes.map(({ name, status, doc }) => `\`${name}\` (${status}): ${doc}`),
  ];
  const doc = texts.length === 0 ? "" : `${comment(texts.join("\n\n"))}\n`;
  return `${doc}readonly ${JSON.stringify(name)}: RouteCall<\n  [given${optional}: ${given}],\n  ${answers},\n  RefusedAs<${refused}>\n>;`;
}

/** A member for a WebSocket's route. */
function socketFor(name: string, route: Route, { client, server, ...protocol }: AnyProtocol, typeOf: TypeOf): string {
  const { given, isOptional, texts } = callOf(route, typeOf);
  const isText = ({ frame, shape }: AnyMessage): boolean => frame === "text" && shape === undefined;
  const text = isText(client) ? (isText(server) ? "both" : "sent") : isText(server) ? "received" : undefined;
  const names = protocol.subprotocols.map((one) => JSON.stringify(one));
  const offered = unionOf(protocol.needsSubprotocol ? names : [...names, "undefined"]);
  const options = [
    text === undefined ? "{ text?: undefined }" : `{ text: "${text}" }`,
    protocol.needsSubprotocol
      ? `{ subprotocol: ${unionOf([...names, `readonly [${offered}, ...string[]]`])} }`
      : `{ subprotocol?: ${unionOf([...names, "readonly string[]", "undefined"])} }`,
  ];
  const messages = [typeOfMessage(client, "input", typeOf), typeOfMessage(server, "output", typeOf), offered];
  const optional = isOptional && text === undefined && !protocol.needsSubprotocol ? "?" : "";
  const doc = texts.length === 0 ? "" : `${comment(texts.join("\n\n"))}\n`;
  const outcome = `SocketOutcome<ClientSocket<${messages.join(", ")}>>`;
  const open = `readonly open: (\n  given${optional}: ${[given, ...options].join(" & ")},\n) => Promise<${outcome}>;`;
  return `${doc}readonly ${JSON.stringify(name)}: {\n${open}\n};`;
}

function typeOfMessage({ frame, shape }: AnyMessage, direction: Direction, typeOf: TypeOf): string {
  if (frame === "binary") return "Uint8Array";
  return shape === undefined ? "string" : typeOf(shape, direction);
}

function callOf(route: Route, typeOf: TypeOf): CallParts {
  const reads = readsOf(route);
  // As in the typed client: a GET that sends no condition of its own gets no 412, though the document lists it.
  const declared = new Set([...route.refuses, ...reads.codes]);
  return {
    given: [...sentBy(route, reads, typeOf), "CallOptions"].join(" & "),
    isOptional: isAllOptional(route, reads),
    answers: answersOf(route, typeOf),
    codes: codesOf(route, reads).filter((code) => declared.has(code) && !ofEveryCall.has(code.name)),
    texts: [route.summary, route.description].filter((text) => text !== undefined),
  };
}

/** The routes of each call, by its name. */
function callsIn(routes: readonly Route[]): readonly (readonly [name: string, routes: readonly Route[]])[] {
  const calls = new Map<string, Route[]>();
  for (const route of routes) {
    const name = `${route.method} ${route.pattern}`;
    calls.set(name, [...(calls.get(name) ?? []), route]);
  }
  return [...calls];
}

function sentBy(route: Route, reads: Reads, typeOf: TypeOf): readonly string[] {
  const values = [...reads.values, ...reads.credentials.flatMap(({ reads }) => reads)];
  const headers = values.filter((need) => need.in === "header").map((need) => memberOf(need, typeOf));
  if (reads.body !== undefined && takesType(reads.body.as))
    headers.push({ name: "content-type", required: false, type: "string" });
  return [
    group("path", pathMembers(route, typeOf)),
    group(
      "query",
      values.filter((need) => need.in === "query").map((need) => memberOf(need, typeOf)),
    ),
    group("headers", headers),
    group("form", reads.body?.as === "form" ? reads.fields.map((field) => fieldOf(field, typeOf)) : []),
    bodyType(reads, typeOf),
  ].filter((text) => text !== "");
}

interface TypeMember {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
}

/** An input that is read twice is one member. */
function group(name: string, members: readonly TypeMember[]): string {
  if (members.length === 0) return "";
  const byName = new Map<string, TypeMember>();
  for (const member of members) {
    const required = member.required || byName.get(member.name)?.required === true;
    byName.set(member.name, { ...member, required });
  }
  const all = [...byName.values()].map(
    ({ name, required, type }) => `${memberName(name)}${required ? "" : "?"}: ${type}${required ? "" : " | undefined"}`,
  );
  const isRequired = [...byName.values()].some(({ required }) => required);
  return `{ ${name}${isRequired ? "" : "?"}: { ${all.join("; ")} } }`;
}

function pathMembers({ path }: Route, typeOf: TypeOf): readonly TypeMember[] {
  return path.segments.flatMap((segment) => {
    if (typeof segment === "string") return [];
    const type = segment.kind === "rest" ? "readonly string[]" : itemTypeOf(segment.codec, typeOf);
    return [{ name: segment.name, required: true, type }];
  });
}

function memberOf(need: ReadNeed, typeOf: TypeOf): TypeMember {
  const { name, required = false } = need;
  return { name, required, type: "codec" in need ? valueTypeOf(need, typeOf) : "string" };
}

function fieldOf(need: Reads["fields"][number], typeOf: TypeOf): TypeMember {
  const { name, required } = need;
  if (need.in !== "file") return { name, required, type: need.checked === true ? "true" : valueTypeOf(need, typeOf) };
  return { name, required, type: need.repeated ? "readonly Blob[]" : "Blob" };
}

function valueTypeOf({ codec, style }: TextNeed, typeOf: TypeOf): string {
  return describing[style].type(itemTypeOf(codec, typeOf));
}

function itemTypeOf(codec: AnyCodec, typeOf: TypeOf): string {
  return codec.schema === undefined ? textTypeOf(codec) : typeOf(codec.schema.shape as AnyStandard, "input");
}

/** The type that a caller gives for a codec: the value's type if `String(value)` is the codec's text. */
function textTypeOf({ text, parse }: AnyCodec): string {
  if (text?.enum !== undefined) return unionOf(text.enum.map((word) => JSON.stringify(word)));
  if (text?.type === "integer") {
    const zero = parse("0");
    return zero.ok && typeof zero.value === "bigint" ? "number | bigint" : "number";
  }
  if (text?.type === "number" || text?.type === "boolean") return text.type;
  return text?.format === "date-time" ? "Date | string" : "string";
}

function takesType(as: NonNullable<Reads["body"]>["as"]): boolean {
  return as === "bytes" || as === "stream";
}

function bodyType({ body }: Reads, typeOf: TypeOf): string {
  if (body === undefined || body.as === "form") return "";
  if (body.as === "json") return `{ json: ${typeOf(body.shape, "input")} }`;
  if (body.as === "lines") {
    const type = typeOf(body.shape, "input");
    return `{ lines: Iterable<${type}> | AsyncIterable<${type}> }`;
  }
  return `{ body: ${body.as === "multipart" ? "FormData" : "BodyToSend"} }`;
}

function isAllOptional(route: Route, reads: Reads): boolean {
  const values = [...reads.values, ...reads.credentials.flatMap(({ reads }) => reads), ...reads.fields];
  const needsBody = reads.body !== undefined && reads.body.as !== "form";
  const isSent = ({ in: place }: { readonly in: string }) => place !== "cookie";
  return (
    route.path.segments.every((segment) => typeof segment === "string") &&
    !needsBody &&
    !values.some((need) => isSent(need) && need.required === true)
  );
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
      return [`Succeeded<200, AsyncIterable<\n${unionOf(events, " |\n")}>>`];
    }
    case "lines": {
      const type = node.shape === undefined ? "unknown" : typeOf(node.shape, "output");
      return [`Succeeded<200, AsyncIterable<${type}>>`];
    }
    case "response":
      return listedAnswers(node);
    default:
      // A WebSocket is opened, and not called.
      return [];
  }
}

/** The answers of `Returns.response` and `Returns.responses`, as the types of the routes have them. */
function listedAnswers({ statuses, contentTypes }: ReturnsNode): readonly string[] {
  const successes = statuses.filter(([status]) => status >= 200 && status < 300);
  const isRedirect = statuses.some(([status]) => status >= 300 && status < 400 && status !== 304);
  if (isRedirect || successes.length === 0) return ["Succeeded<number, unknown>"];
  return successes.map(([status]) => {
    const types = contentTypes?.get(status) ?? [];
    const none = status === 204 || status === 205 ? "undefined" : "unknown";
    return `Succeeded<${status}, ${types.length === 0 ? none : unionOf([...new Set(types.map(valueOfType))])}>`;
  });
}

/** The type of a body, by its content type: as `Returns.responses` has it. */
function valueOfType(contentType: string): string {
  const type = contentType.toLowerCase();
  if (/[/+]json$/.test(type)) return "unknown";
  if (type === "text/event-stream")
    return "AsyncIterable<{ readonly name: string; readonly id: string | undefined; readonly value: unknown }>";
  if (type === "application/x-ndjson" || type === "application/jsonl") return "AsyncIterable<unknown>";
  if (/^(?:image|audio|video|font)\/\*$/.test(type)) return "Response";
  if (type.includes("*")) return "unknown";
  return type.startsWith("text/") ? "string" : "Response";
}

/** The source files of the typed client. Of a file with names, only these declarations are used. */
const files: readonly (readonly [file: string, names?: readonly string[]])[] = [
  ["inputs/body-inputs", ["BodyToSend"]],
  ["refusals", ["FrameworkCode"]],
  ["answers/returns-type", ["Succeeded"]],
  ["client/calls", ["ClientOptions", "RefusalRead", "ClientCode", "CallOptions", "RefusedAs"]],
  ["client/refused"],
  ["counted"],
  ["events/event-reader"],
  ["following"],
  ["queue"],
  ["http/retry-after"],
  ["client/body-until"],
  ["client/received"],
  ["client/socket-types", ["WebSocketLike", "ClientSocketEnd", "ClientSocket", "SocketOutcome"]],
  ["client/open-socket"],
  ["events/text-kinds", ["askingForTextKinds"]],
  ["inputs/wire-write", ["WirePair", "wirePairs", "memberField", "hasMembers"]],
  // Where no server runs, no request lends it anything.
  ["ambient", ["Ambient", "ambient"]],
  [
    "client/of",
    [
      "RequestParts",
      "RequestFields",
      "requestOf",
      "urlOf",
      "pathOf",
      "pairsOf",
      "textOf",
      "CallResult",
      "FetchFunction",
      "LinesToSend",
      "ownRefusal",
      "tooLarge",
      "textUpTo",
      "outcomeOf",
      "isProblem",
      "signalsOf",
      "limits",
      "callsOf",
    ],
  ],
];

/** One declaration, or several without an empty line between them. */
interface Declarations {
  readonly names: readonly string[];
  readonly text: string;
}

/** The declarations that the roots need, in the order of `files`. */
function sourcesOf(roots: readonly string[]): readonly string[] {
  const all = files.flatMap(([file, names]) => {
    const found = declarationsOf(readFileSync(packageFile(`src/${file}.ts`), "utf8"));
    return names === undefined ? found : found.filter((one) => one.names.some((name) => names.includes(name)));
  });
  const needed = new Set<Declarations>();
  const need = (name: string): void => {
    for (const declarations of all) {
      if (needed.has(declarations) || !declarations.names.includes(name)) continue;
      needed.add(declarations);
      wordsOf(declarations.text).forEach(need);
    }
  };
  roots.forEach(need);
  return all.filter((declarations) => needed.has(declarations)).map(({ text }) => text);
}

// An empty line before an unindented line separates declarations.
function declarationsOf(source: string): readonly Declarations[] {
  const inOneModule = source.replaceAll(/^import [^;]*;\n/gm, "").replaceAll(/\(await import\([^)]*\)\)\./g, "");
  return inOneModule.split(/\n\n(?=\S)/).map((text) => ({ names: namesIn(text), text: text.trim() }));
}

function namesIn(text: string): readonly string[] {
  const declared = /^(?:export )?(?:declare )?(?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm;
  return [...text.matchAll(declared)].map(([, name]) => name ?? "");
}

/** The identifiers of the code, without comments and strings. */
function wordsOf(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*|"[^"\n]*"/g, "");
  return [...code.matchAll(/[A-Za-z_]\w*/g)].map(([word]) => word);
}

const header = `// Generated by \`usher client\` from the routes of the server. Do not edit: change the routes, and generate it again.`;

const problem = `/** A validation error of one input. */
export interface Problem {
  /** Where: path.x, query.x, body.x. */
  readonly at: string;
  readonly code: string;
  /** A sentence for the user. */
  readonly message: string;
}`;

const routeCall = `/** The call of a route. */
export interface RouteCall<Given extends readonly unknown[], Sent, Refusal> {
  (...given: Given): Promise<Sent | Refusal>;
  /** The same call, whose value is the \`Response\` itself, unread, whatever its type. */
  readonly response: (...given: Given) => Promise<Succeeded<number, Response> | Refusal>;
}`;

const make = `/** The calls of the API. Each resolves with the answer or a refusal. */
export function client(options: ClientOptions): Client {
  return callsOf(options) as Client;
}`;

const roots = [
  "ClientSocket",
  "SocketOutcome",
  "callsOf",
  "ClientOptions",
  "ClientCode",
  "CallOptions",
  "Succeeded",
  "RefusedAs",
  "BodyToSend",
];

const ignored = (): void => {};

/** The typed client of the routes, as one TypeScript module without imports. */
export function clientModule(routes: readonly Route[]): string {
  const components = new Components({});
  const describe = (...[shape, direction]: Parameters<TypeOf>) =>
    components.describe(shape, direction, "", { imprecise: ignored, problem: ignored });

  // The names of components are final only when all shapes are described.
  const tree: Schema[] = [];
  const calls = callsIn(routes);
  for (const [name, same] of calls) memberFor(name, same, (...shape) => `${tree.push(describe(...shape))}`);
  const { schemas, problems } = components.finish(tree);
  if (problems.length > 0) throw new CommandFailure(problems.join("\n"));

  const sources = sourcesOf(roots);
  const nameOf = namesBeside(sources.join("\n"));
  const types = Object.entries(schemas).map(
    ([name, schema]) => `${docOf(schema)}export type ${nameOf(name)} = ${typeOf(schema, nameOf)};`,
  );
  const members = calls.map(([name, same]) =>
    memberFor(name, same, (...shape) => typeOf(components.resolve(describe(...shape)) as Schema, nameOf)),
  );
  const api = `/** A call for each route, by its method and path. */\nexport interface Client {\n${members.join("\n")}\n}`;
  return `${[header, ...[...types, api].map(indented), routeCall, make, problem, ...sources].join("\n\n")}\n`;
}

/** Gives components names that the text does not use, and that TypeScript takes: `2ndAddress` begins with a digit. */
function namesBeside(text: string): (component: string) => string {
  const reserved = [
    "Client",
    "RouteCall",
    "Problem",
    "FormData",
    "Blob",
    "Date",
    "Promise",
    "AsyncIterable",
    "Response",
  ];
  const taken = new Set([...(text.match(/\b[A-Z]\w*/g) ?? []), ...reserved]);
  const names = new Map<string, string>();
  return (component) => {
    const known = names.get(component);
    if (known !== undefined) return known;
    let name = /^\d/.test(component) ? `_${component}` : component;
    while (taken.has(name)) name += "_";
    taken.add(name);
    names.set(component, name);
    return name;
  };
}

const help = `usher client <module> [options]

Generates a typed client of the routes that the module exports as "routes": one TypeScript file without imports, for
programs that cannot import the types of the routes.

  -o, --output FILE    write to the file instead of standard output
      --check FILE     compare with the file; exit code 1 if they differ`;

/** `usher client`: generates a typed client. */
export const client: Command = {
  name: "client",
  summary: "generate a typed client in one TypeScript file, or check an existing one",
  help,
  async run(args, terminal) {
    const { module, values } = moduleAnd(args, { output: { type: "string", short: "o" }, check: { type: "string" } });
    const text = clientModule(await loadRoutes(module));
    return writeOrCheck(text, { output: values.output, check: values.check }, terminal, (before, after) =>
      // A checkout may change the line ends.
      ends(before) === after ? [] : textDiff(ends(before), after),
    );
  },
};

function ends(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
