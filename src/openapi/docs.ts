import type { Answer as BuiltAnswer } from "../answers/answer.ts";
import * as Answer from "../answers/build.ts";
import type { RefusalFormat } from "../answers/refusal-format.ts";
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
import { DescriptionError, document as documentOf } from "./document.ts";
import type { DocumentOptions } from "./document.ts";

/**
 * The page loads only its own scripts. `'unsafe-inline'` is for the style elements that the API reference creates; no
 * script is inline.
 */
const policy = /* @__PURE__ */ [
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

const pageHeaders: PageFields = [
  ["content-security-policy", policy],
  ["referrer-policy", "no-referrer"],
  ["x-content-type-options", "nosniff"],
];

const scriptHeaders: PageFields = [["x-content-type-options", "nosniff"]];

/** The HTML page, with the URLs of the document and the scripts. */
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

/** Starts the API reference without the features that call other hosts. */
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

/** A static file of the page. */
interface Asset {
  readonly summary: string;
  readonly contentType: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Checks when the app is made. Each problem follows the route's name. */
  readonly check?: (format: RefusalFormat | undefined) => readonly string[];
  /** Called on the first request, and again if it threw. `format` is that of the app's refusals. */
  readonly load: (format: RefusalFormat | undefined) => Awaitable<string | Uint8Array>;
}

type AssetRoute<P extends string> = Route<
  "GET",
  P,
  { headers?: { "accept-encoding"?: string } & { "if-none-match"?: string } },
  Succeeded<number, unknown>,
  never
>;

/** A loaded asset. */
interface Loaded {
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array | undefined;
  readonly tag: string;
}

// A smaller body fits a packet anyway.
const leastCompressed = 1024;

// A malformed header is ignored: the client gets the plain bytes and no 400.
const field = custom({ kind: "list", parse: ok<string>, print: (text) => text, list: true });
const inputs = {
  accepted: /* @__PURE__ */ optional("accept-encoding", field),
  known: /* @__PURE__ */ optional("if-none-match", field),
};

/** A route that serves an asset, with gzip and `ETag`. */
function serveAsset<P extends string>(path: Path<never, P>, asset: Asset): AssetRoute<P> {
  // The same routes may be served by apps whose refusals differ.
  const loading = new Map<RefusalFormat | undefined, Promise<Loaded>>();
  const loaded = async (format: RefusalFormat | undefined): Promise<Loaded> => {
    try {
      const before = loading.get(format) ?? load(asset, format);
      loading.set(format, before);
      return await before;
    } catch (error) {
      loading.delete(format);
      throw error;
    }
  };
  const { summary, check = () => [] } = asset;
  const format: Dep<RefusalFormat | undefined> = {
    node: {
      from: [],
      constant: ({ refusalFormat }) => refusalFormat,
      check: (refusalFormat) => check(refusalFormat as RefusalFormat | undefined),
    },
  };
  return get(
    path,
    { summary, inputs: { ...inputs, format }, returns: Returns.response },
    async ({ accepted, known, format }) => answer(asset, await loaded(format), accepted, known),
  );
}

function answer(asset: Asset, loaded: Loaded, accepted: string | undefined, known: string | undefined): BuiltAnswer {
  const zipped = loaded.gzip !== undefined && takesGzip(accepted) ? loaded.gzip : undefined;
  // RFC 9110 §8.8.3: another content coding is another representation, so it has another tag.
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

async function load({ load }: Asset, format: RefusalFormat | undefined): Promise<Loaded> {
  const given = await load(format);
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

/** RFC 9110 §13.1.2: If-None-Match uses the weak comparison. */
function matches(known: string, tag: string): boolean {
  return known.split(",").some((one) => {
    const other = stripped(one);
    return other === "*" || other.replace(/^W\//, "") === tag;
  });
}

/** The options of `Openapi.docs`: those of the document, and the paths. */
export interface DocsOptions<Document extends string = string, At extends string = string> extends DocumentOptions {
  /** The path of the document: `/openapi.json` unless given. */
  readonly document?: Path<never, Document>;
  /** The path of the page: `/docs` unless given. Its scripts are below it. */
  readonly at?: Path<never, At>;
  /**
   * Loads the script of the page, the standalone build of `@scalar/api-reference`; called once. By default it is read from
   * that package, which must be installed: without it `App.make` throws, if the runtime can resolve names. Workers have no
   * files, so give the script as text there.
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
 * Routes that serve the OpenAPI document and a page to read and try the API. The page calls no other host, enforced by its
 * `Content-Security-Policy`. These routes are not in the document.
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
  // A path that is not given has the default's type.
  const { document = of("openapi.json") as Path as Path<never, Document>, at = of("docs") as Path as Path<never, At> } =
    options;
  const urls = { document: urlOf(document), page: urlOf(at) };
  // Made at once, so that a problem is thrown here.
  const own = JSON.stringify(documentOf(routes, options));
  const textIn = (format: RefusalFormat | undefined): string =>
    format === undefined || options.refusalFormat !== undefined
      ? own
      : JSON.stringify(documentOf(routes, { ...options, refusalFormat: format }));
  const below = <Name extends string>(name: Name) =>
    of(...(at.segments as readonly string[]), name as string) as Path as Path<never, Below<At, Name>>;
  return [
    serveAsset(document, {
      summary: `This API, as an OpenAPI ${openapi} document`,
      contentType: "application/json",
      load: textIn,
      check: (format) => problemsOf(() => textIn(format)),
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

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
    return [];
  } catch (thrown) {
    if (thrown instanceof DescriptionError)
      return thrown.problems.map((problem) => `cannot describe the API: ${problem}`);
    throw thrown;
  }
}

function urlOf({ pattern, segments }: Path): string {
  const texts = segments.map((segment) => {
    if (typeof segment === "string") return encodeSegment(segment);
    throw new Error(`Openapi.docs: ${pattern} has a parameter, but must be the path of one page`);
  });
  return `/${texts.join("/")}`;
}

// Joined at run time, so that no bundler follows these names.
const entry = /* @__PURE__ */ ["usher-http", "scalar"].join("/");
const file = /* @__PURE__ */ ["@scalar", "api-reference", "browser", "standalone.js"].join("/");

/**
 * Reports a missing package when the app is made. If the runtime cannot resolve names (a CommonJS bundle, Workers), the
 * first request for the script is a 500, and the log has the reason.
 */
function checkScript(): readonly string[] {
  return isMissing() ? ["has no script: install @scalar/api-reference, or give Openapi.docs the option script"] : [];
}

function isMissing(): boolean {
  // Called as a method: Bun's needs its `this`.
  const meta = import.meta as { readonly resolve?: (name: string) => string };
  if (meta.resolve === undefined) return false;
  try {
    meta.resolve(file);
    return false;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return true;
  }
  // Deno's error has no code. In node_modules the file is missing if another package resolves; elsewhere only the entry
  // that imports the file can resolve it, so this cannot tell.
  try {
    meta.resolve(entry);
    return import.meta.url.includes("/node_modules/");
  } catch {
    return false;
  }
}

/**
 * Reads the script from its package. The import has a name that no bundler follows, so an app that does not need it
 * contains no code that reads files.
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
