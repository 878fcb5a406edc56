/** The request that a form makes: its URL, fields and body, and the same as a curl command. */
import { headerOf, wirePairs } from "../src/inputs/wire-write.ts";
import type { Operation, Requirement, Scheme } from "./document.ts";
import { textOf } from "./document.ts";

/** What was entered for one parameter. A list has several texts. */
export interface Entered {
  readonly name: string;
  readonly place: "path" | "query" | "header" | "cookie";
  readonly texts: readonly string[];
}

/** A part of a form. */
export interface Part {
  readonly name: string;
  readonly value: string | File;
  readonly type?: string;
}

export type Body =
  | { readonly kind: "text"; readonly type: string; readonly text: string }
  | { readonly kind: "file"; readonly type: string; readonly file: File }
  | { readonly kind: "parts"; readonly type: string; readonly parts: readonly Part[] };

/** What was entered for a security scheme. */
export interface Credential {
  readonly user?: string;
  readonly secret: string;
}

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** A page cannot set the field `Cookie`: the browser's own cookies are set, and it sends them. */
  readonly cookies: readonly (readonly [name: string, value: string])[];
  readonly body: Body | undefined;
}

export interface Given {
  /** The URL of the server, absolute. */
  readonly server: string;
  readonly entered: readonly Entered[];
  readonly body: Body | undefined;
  readonly schemes: readonly Scheme[];
  readonly credentials: ReadonlyMap<string, Credential>;
}

/** The parameters of the path that have no value. */
export function missingIn(operation: Operation, entered: readonly Entered[]): readonly string[] {
  const given = entered.filter(({ place, texts }) => place === "path" && texts.some((text) => text !== ""));
  const names = operation.parameters.filter(({ place }) => place === "path").map(({ name }) => name);
  return names.filter((name) => !given.some((one) => one.name === name));
}

export function outgoing(operation: Operation, given: Given): Outgoing {
  const of = (place: Entered["place"]) => given.entered.filter((one) => one.place === place && one.texts.length > 0);
  const url = new URL(given.server);
  url.pathname = url.pathname.replace(/\/$/, "") + filled(operation.path, of("path"));
  for (const [name, text] of of("query").flatMap(({ name, texts }) => wirePairs(name, texts, String)))
    url.searchParams.append(name, text);
  const headers: [string, string][] = of("header").map(({ name, texts }) => [name, headerOf(texts)]);
  const cookies: [string, string][] = of("cookie").map(({ name, texts }) => [name, texts.join(",")]);
  // The browser writes the boundary of a form in parts.
  if (given.body !== undefined && given.body.kind !== "parts") headers.push(["content-type", given.body.type]);
  for (const { scheme } of usable(operation.security, given.credentials) ?? []) {
    const found = given.schemes.find(({ name }) => name === scheme);
    const credential = given.credentials.get(scheme);
    if (found !== undefined && credential !== undefined) authorize(found, credential, { url, headers, cookies });
  }
  return { method: operation.method, url: url.href, headers, cookies, body: given.body };
}

/** The first alternative whose credentials are all given. */
export function usable(
  security: readonly Requirement[],
  credentials: ReadonlyMap<string, Credential>,
): Requirement | undefined {
  return security.find((needed) => needed.length > 0 && needed.every(({ scheme }) => credentials.has(scheme)));
}

function filled(path: string, entered: readonly Entered[]): string {
  return path.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const text = entered.find((one) => one.name === name)?.texts[0];
    return text === undefined ? whole : encodeURIComponent(text.toWellFormed());
  });
}

interface Target {
  readonly url: URL;
  readonly headers: [string, string][];
  readonly cookies: [string, string][];
}

function authorize({ type, fields }: Scheme, { user = "", secret }: Credential, { url, headers, cookies }: Target) {
  const name = textOf(fields["name"]);
  if (type === "apiKey") {
    if (fields["in"] === "query") url.searchParams.append(name, secret);
    else if (fields["in"] === "cookie") cookies.push([name, secret]);
    else headers.push([name, secret]);
    return;
  }
  const scheme = type === "http" ? textOf(fields["scheme"]) : "bearer";
  const isBasic = scheme.toLowerCase() === "basic";
  const word = isBasic ? "Basic" : scheme.toLowerCase() === "bearer" ? "Bearer" : scheme;
  headers.push(["authorization", `${word} ${isBasic ? base64(`${user}:${secret}`) : secret}`]);
}

/** RFC 7617 in UTF-8. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** A command for a POSIX shell. */
export function curlOf({ method, url, headers, cookies, body }: Outgoing): string {
  const cookie = cookies.map(([name, value]) => `${name}=${value}`).join("; ");
  const lines = [
    `curl${method === "GET" ? "" : ` -X ${wordOf(method)}`} ${quoted(url)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(cookie === "" ? [] : [`-H ${quoted(`cookie: ${cookie}`)}`]),
    ...(body === undefined ? [] : dataOf(body)),
  ];
  return lines.join(" \\\n  ");
}

function dataOf(body: Body): readonly string[] {
  if (body.kind === "text") return [`--data-raw ${quoted(body.text)}`];
  if (body.kind === "file") return [`--data-binary ${quoted(`@${body.file.name}`)}`];
  return body.parts.map(({ name, value, type }) => {
    if (typeof value !== "string") return `-F ${quoted(`${name}=@"${value.name.replaceAll(/["\\]/g, "\\$&")}"`)}`;
    // `-F` reads `@`, `<` and `;` in a value.
    return type === undefined
      ? `--form-string ${quoted(`${name}=${value}`)}`
      : `-F ${quoted(`${name}="${value.replaceAll(/["\\]/g, "\\$&")}";type=${type}`)}`;
  });
}

/** A method may have characters of a shell, such as `&` and `$`. */
function wordOf(text: string): string {
  return /^[\w-]+$/.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
