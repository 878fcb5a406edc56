import type { Awaitable } from "../inputs/dep.ts";
import { internal } from "../refusals/framework-codes.ts";
import { refuse } from "../refusals/refusal.ts";
import { encodeSegment } from "../routes/segment.ts";
import { of } from "../routes/path.ts";
import type { Path } from "../routes/path.ts";
import type { Route } from "../routes/route.ts";
import { serveAsset } from "./asset.ts";
import type { AssetRoute } from "./asset.ts";
import { document as documentOf } from "./document.ts";
import type { DocumentOptions } from "./document.ts";
import { pageHeaders, pageOf, scriptHeaders, start } from "./page.ts";

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
export type DocsRoutes<Document extends string, At extends string> = readonly [
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
