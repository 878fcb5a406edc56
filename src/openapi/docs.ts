import { needsOptions, needsPath } from "../arguments.ts";
import { encodeSegment } from "../http/target.ts";
import { of } from "../routing/path.ts";
import type { Path } from "../routing/path.ts";
import type { Route } from "../routing/route.ts";
import type { AppFacts, AssetRoute } from "./asset.ts";
import { serveAsset } from "./asset.ts";
import { DescriptionError, document as documentOf } from "./document.ts";
import type { DocumentOptions } from "./document.ts";
import { readerOf } from "./readers.ts";
import type { DocsScript } from "./readers.ts";

type PageFields = readonly (readonly [name: string, value: string])[];

const scriptHeaders: PageFields = [["x-content-type-options", "nosniff"]];

/** The HTML page. Its URLs are relative, so that it works behind a proxy that puts a prefix before the paths. */
function pageOf(title: string, paths: { readonly document: string; readonly page: string }): string {
  const segments = paths.page.split("/").slice(1);
  const root = `./${"../".repeat(segments.length - 1)}`;
  const urls = { document: `${root}${paths.document.slice(1)}` };
  const below = `./${segments.at(-1) ?? ""}`.replace(/\/$/, "");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapedHtml(title)}</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="app" data-url="${escapedHtml(urls.document)}"></div>
    <noscript>This page needs JavaScript. The API is described in <a href="${escapedHtml(urls.document)}">${escapedHtml(urls.document)}</a>.</noscript>
    <script src="${escapedHtml(below)}/reader.js"></script>
    <script src="${escapedHtml(below)}/start.js"></script>
  </body>
</html>
`;
}

function escapedHtml(text: string): string {
  const names: { readonly [character: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] as string);
}

/** The options of `Openapi.docs`: those of the document, and the paths. */
export interface DocsOptions<Document extends string = string, At extends string = string> extends DocumentOptions {
  /** The path of the document: `/openapi.json` unless given. */
  readonly document?: Path<never, Document>;
  /** The path of the page: `/docs` unless given. Its scripts are below it. */
  readonly at?: Path<never, At>;
  /**
   * Another reader for the page: Scalar's API reference. `"scalar"` reads its script from the package
   * `@scalar/api-reference`, which must be installed: without it `App.make` throws, if the runtime can resolve names. A
   * function loads the standalone build of that package, once, on the first request: Workers and bundles have no files.
   * Unless given, the page is the package's own reader: nothing is installed, and every runtime has it.
   */
  readonly script?: DocsScript;
}

/** The document, the page and its two scripts. */
type DocsRoutes<Document extends string, At extends string> = readonly [
  AssetRoute<Document>,
  AssetRoute<At>,
  AssetRoute<Below<At, "reader.js">>,
  AssetRoute<Below<At, "start.js">>,
];

type Below<At extends string, Name extends string> = At extends "/" ? `/${Name}` : `${At}/${Name}`;

/**
 * Routes that serve the OpenAPI document and a page to read and try the API. The page calls no other host, enforced by its
 * `Content-Security-Policy`. These routes are not in the document.
 *
 * @throws Error as `Openapi.document` does, and if `script` is neither `"scalar"` nor a function.
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
  needsOptions(
    "Openapi.docs",
    options,
    "document at script openapi cors refusalFormat decompress deadline title version description termsOfService contact license externalDocs servers tags",
  );
  const { title = "API", openapi = "3.2" } = options;
  // A path that is not given has the default's type.
  const { document = of("openapi.json") as Path as Path<never, Document>, at = of("docs") as Path as Path<never, At> } =
    options;
  needsPath("Openapi.docs: document", document);
  needsPath("Openapi.docs: at", at);
  const reader = readerOf(options.script);
  const paths = { document: urlOf(document), page: urlOf(at) };
  // Made at once, so that a problem is thrown here.
  const own = JSON.stringify(documentOf(routes, options));
  const textIn = (app: Partial<AppFacts>): string => {
    const facts = factsOf(app);
    return Object.keys(facts).length === 0 ? own : JSON.stringify(documentOf(routes, { ...facts, ...options }));
  };
  const below = <Name extends string>(name: Name) =>
    of(...(at.segments as readonly string[]), name as string) as Path as Path<never, Below<At, Name>>;
  return [
    serveAsset(document, {
      summary: `This API, as an OpenAPI ${openapi} document`,
      contentType: "application/json",
      load: textIn,
      check: (refusalFormat) => problemsOf(() => textIn({ refusalFormat })),
    }),
    serveAsset(at, {
      summary: "This API's reference, to read and to try",
      contentType: "text/html; charset=utf-8",
      headers: [
        ["content-security-policy", reader.policy],
        ["referrer-policy", "no-referrer"],
        ["x-content-type-options", "nosniff"],
      ],
      check: (_format, { pattern }) => movedFrom(paths.page, pattern),
      load: () => pageOf(title, paths),
    }),
    serveAsset(below("reader.js"), {
      summary: "The reference's script",
      contentType: "text/javascript; charset=utf-8",
      headers: scriptHeaders,
      ...reader.script,
    }),
    serveAsset(below("start.js"), {
      summary: "What starts the reference",
      contentType: "text/javascript; charset=utf-8",
      headers: scriptHeaders,
      load: () => reader.start,
    }),
  ];
}

function factsOf({ refusalFormat, encodings = [], deadline }: Partial<AppFacts>): DocumentOptions {
  return {
    ...(refusalFormat === undefined ? {} : { refusalFormat }),
    ...(encodings.length === 0 ? {} : { decompress: { encodings } }),
    ...(deadline === undefined ? {} : { deadline }),
  };
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

/** A group may put its prefix before a page, unless that has no segment of its own: `/deep` is in the directory of `/`. */
function movedFrom(page: string, pattern: string): readonly string[] {
  if (page !== "/" || pattern === "/") return [];
  return ["is a page that was made for /, and has relative URLs: give Openapi.docs a path as `at`"];
}

function urlOf({ pattern, segments }: Path): string {
  const texts = segments.map((segment) => {
    if (typeof segment === "string") return encodeSegment(segment);
    throw new Error(`Openapi.docs: ${pattern} has a parameter, but must be the path of one page`);
  });
  return `/${texts.join("/")}`;
}
