import type { Answer as BuiltAnswer } from "../answers/answer.ts";
import * as Answer from "../answers/build.ts";
import type { Succeeded } from "../answers/returned.ts";
import * as Returns from "../answers/returns.ts";
import { custom } from "../codecs/codec.ts";
import { weighted } from "../codecs/negotiation.ts";
import { stripped } from "../http/fields.ts";
import { encodeSegment } from "../http/target.ts";
import type { Awaitable, Dep } from "../inputs/dep.ts";
import { optional } from "../inputs/header.ts";
import { internal, refuse } from "../refusals.ts";
import { ok } from "../result.ts";
import { of } from "../routing/path.ts";
import type { Path } from "../routing/path.ts";
import { get } from "../routing/route.ts";
import type { Route } from "../routing/route.ts";
import { document as documentOf } from "./document.ts";
import type { DocumentOptions } from "./document.ts";

/**
 * What the page may load and run: its own scripts and no other host's. The reference styles itself by elements it
 * makes, which is what the one `'unsafe-inline'` is for; no script is inline, and none is made of text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");

type PageFields = readonly (readonly [name: string, value: string])[];

/** The fields of the page. */
const pageHeaders: PageFields = [
  ["content-security-policy", policy],
  ["referrer-policy", "no-referrer"],
  ["x-content-type-options", "nosniff"],
];

/** The fields of its scripts. */
const scriptHeaders: PageFields = [["x-content-type-options", "nosniff"]];

/** The page, which says where the document is, and where what draws it. */
function pageOf(title: string, urls: { readonly document: string; readonly page: string }): string {
  const below = urls.page === "/" ? "" : urls.page;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escaped(title)}</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="app" data-url="${escaped(urls.document)}"></div>
    <script src="${escaped(below)}/scalar.js"></script>
    <script src="${escaped(below)}/start.js"></script>
  </body>
</html>
`;
}

/** Starts the reference, with all that would ask another host for something turned off. */
const start = `Scalar.createApiReference("#app", {
  url: document.querySelector("#app").dataset.url,
  agent: { disabled: true },
  hideClientButton: true,
  persistAuth: false,
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
});
`;

function escaped(text: string): string {
  const names: { readonly [character: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] as string);
}

/** Bytes that stay as they are while the app runs. */
interface Asset {
  readonly summary: string;
  readonly contentType: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** What keeps it from being served as it is declared, said behind the route's name when the app is made. */
  readonly check?: () => readonly string[];
  /** Called when it is first asked for; called again where it threw. */
  readonly load: () => Awaitable<string | Uint8Array>;
}

/** The route of an asset, as its caller knows it. */
type AssetRoute<P extends string> = Route<
  "GET",
  P,
  { headers?: { "accept-encoding"?: string } & { "if-none-match"?: string } },
  Succeeded<number, unknown>,
  never
>;

/** What is sent, made once. */
interface Loaded {
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array | undefined;
  readonly tag: string;
}

// Less than this a packet holds anyway.
const leastCompressed = 1024;

// A client that writes these fields in a way nobody knows gets the bytes as they are, and no problem.
const field = custom({ kind: "list", parse: ok<string>, print: (text) => text, list: true });
const inputs = { accepted: optional("accept-encoding", field), known: optional("if-none-match", field) };

/** A route that serves an asset: compressed where the client takes it, and not again to a client that has it. */
function serveAsset<P extends string>(path: Path<{}, P>, asset: Asset): AssetRoute<P> {
  let loading: Promise<Loaded> | undefined;
  const loaded = async (): Promise<Loaded> => {
    try {
      return await (loading ??= load(asset));
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
  const { summary, check = () => [] } = asset;
  const checked: Dep<undefined> = { node: { from: [], constant: () => undefined, check } };
  return get(
    path,
    { summary, inputs: { ...inputs, checked }, returns: Returns.response },
    async ({ accepted, known }) => answer(asset, await loaded(), accepted, known),
  );
}

function answer(asset: Asset, loaded: Loaded, accepted: string | undefined, known: string | undefined): BuiltAnswer {
  const zipped = loaded.gzip !== undefined && takesGzip(accepted) ? loaded.gzip : undefined;
  // RFC 9110 §8.8.3: what is encoded otherwise is another representation, with a tag of its own.
  const tag = zipped === undefined ? `"${loaded.tag}"` : `"${loaded.tag}-gzip"`;
  const headers: (readonly [string, string])[] = [
    ["cache-control", "no-cache"],
    ["etag", tag],
    ...(loaded.gzip === undefined ? [] : [["vary", "accept-encoding"] as const]),
    ...(asset.headers ?? []),
  ];
  if (known !== undefined && matches(known, tag)) return Answer.empty({ status: 304, headers });
  if (zipped !== undefined) headers.push(["content-encoding", "gzip"]);
  return Answer.make(zipped ?? loaded.plain, { contentType: asset.contentType, headers });
}

async function load({ load }: Asset): Promise<Loaded> {
  const given = await load();
  const plain = typeof given === "string" ? new TextEncoder().encode(given) : given;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", plain as Uint8Array<ArrayBuffer>));
  const tag = [...digest.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { plain, gzip: plain.length < leastCompressed ? undefined : await gzipped(plain), tag };
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const compressed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}

function takesGzip(accepted: string | undefined): boolean {
  const read = accepted === undefined ? undefined : weighted.parse(accepted);
  if (read?.ok !== true) return false;
  const codings = read.value.filter(({ token }) => token === "*" || token.toLowerCase() === "gzip");
  const named = codings.find(({ token }) => token !== "*") ?? codings[0];
  return named !== undefined && named.weight > 0;
}

/** RFC 9110 §13.1.2: compared without regard to how strong the tags are. */
function matches(known: string, tag: string): boolean {
  return known.split(",").some((one) => {
    const its = stripped(one);
    return its === "*" || its.replace(/^W\//, "") === tag;
  });
}

/** Where the document and its page are, beside what the document says of the API. */
export interface DocsOptions<Document extends string = string, At extends string = string> extends DocumentOptions {
  /** Where the document is: `/openapi.json` unless given. */
  readonly document?: Path<{}, Document>;
  /** Where the page is: `/docs` unless given. Its scripts are below. */
  readonly at?: Path<{}, At>;
  /**
   * The script of the page, the standalone build of `@scalar/api-reference`, asked for once. Unless given it is read
   * from that package, which is installed beside this one: `App.make` refuses the page without it, where the runtime can
   * tell. Where there are no files, on Workers, it is given as text.
   */
  readonly script?: () => Awaitable<string | Uint8Array>;
}

/** The document, the page and its two scripts. */
type DocsRoutes<Document extends string, At extends string> = readonly [
  AssetRoute<Document>,
  AssetRoute<At>,
  AssetRoute<Below<At, "scalar.js">>,
  AssetRoute<Below<At, "start.js">>,
];

type Below<At extends string, Name extends string> = At extends "/" ? `/${Name}` : `${At}/${Name}`;

/**
 * Routes that serve the document of an API, made once, and a page to read and try it. The page asks no other host for
 * anything, and says so by its `Content-Security-Policy`; no script stands in it. These routes are not in the document.
 *
 * @throws Error as `Openapi.document` does.
 *
 * @example
 * ```ts
 * await serve([...routes, ...Openapi.docs(routes, { title: "Orders", version: "1" })], { port: 8080 });
 * ```
 */
export function docs<Document extends string = "/openapi.json", At extends string = "/docs">(
  routes: readonly Route[],
  options: DocsOptions<Document, At> = {},
): DocsRoutes<Document, At> {
  const { title = "API", openapi = "3.2" } = options;
  // Where a path is not given, its type is the default's.
  const { document = of("openapi.json") as Path as Path<{}, Document>, at = of("docs") as Path as Path<{}, At> } =
    options;
  const urls = { document: urlOf(document), page: urlOf(at) };
  const text = JSON.stringify(documentOf(routes, options));
  const below = <Name extends string>(name: Name) =>
    of(...(at.segments as readonly string[]), name) as Path as Path<{}, Below<At, Name>>;
  return [
    serveAsset(document, {
      summary: `This API, as an OpenAPI ${openapi} document`,
      contentType: "application/json",
      load: () => text,
    }),
    serveAsset(at, {
      summary: "This API's reference, to read and to try",
      contentType: "text/html; charset=utf-8",
      headers: pageHeaders,
      load: () => pageOf(title, urls),
    }),
    serveAsset(below("scalar.js"), {
      summary: "The reference's script",
      contentType: "text/javascript; charset=utf-8",
      headers: scriptHeaders,
      ...(options.script === undefined ? { load: readScript, check: checkScript } : { load: options.script }),
    }),
    serveAsset(below("start.js"), {
      summary: "What starts the reference",
      contentType: "text/javascript; charset=utf-8",
      headers: scriptHeaders,
      load: () => start,
    }),
  ];
}

function urlOf({ pattern, segments }: Path): string {
  const texts = segments.map((segment) => {
    if (typeof segment === "string") return encodeSegment(segment);
    throw new Error(`Openapi.docs: ${pattern} has a parameter, and what is served there is one page`);
  });
  return `/${texts.join("/")}`;
}

// Names that no bundler follows.
const entry = ["usher-http", "scalar"].join("/");
const file = ["@scalar", "api-reference", "browser", "standalone.js"].join("/");

/**
 * Told when the app is made, where the runtime can tell it then. Where it resolves no names (a bundle of CommonJS, Workers), the
 * first request for the script is a 500, and the log says why.
 */
function checkScript(): readonly string[] {
  return isMissing() ? ["has no script: install @scalar/api-reference, or give Openapi.docs the option script"] : [];
}

function isMissing(): boolean {
  // A method, which Bun's has to be called as.
  const meta = import.meta as { readonly resolve?: (name: string) => string };
  if (meta.resolve === undefined) return false;
  try {
    meta.resolve(file);
    return false;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return true;
  }
  // Deno has no code for it. In a folder of packages a name is missing where another resolves; elsewhere, what a program
  // imports is found by the script's own entry, and by nobody before.
  try {
    meta.resolve(entry);
    return import.meta.url.includes("/node_modules/");
  } catch {
    return false;
  }
}

/**
 * The script from its package. The entry that reads it is imported by a name no bundler follows: an app that serves no
 * page, or is given its script, does not carry what reads files.
 */
async function readScript(): Promise<Uint8Array> {
  try {
    const { script } = (await import(/* @vite-ignore */ entry)) as { script: () => Promise<Uint8Array> };
    return await script();
  } catch (error) {
    const detail =
      "the script of Openapi.docs could not be read: install @scalar/api-reference, or give the option script";
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw refuse(internal, undefined, { detail: `${detail}${code}` });
  }
}
