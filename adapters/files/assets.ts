/** The static assets of a Worker. */
import { response } from "../../src/doors/answers.ts";
import { isObject, needs, needsOptions, needsText, needsTexts } from "../../src/arguments.ts";
import { constant, ofRequest } from "../../src/doors/inputs.ts";
import type { Dep, RequestRecord } from "../../src/doors/inputs.ts";
import { Refusal, refuse } from "../../src/refusals.ts";
import { param, get, restWithEmpty } from "../../src/doors/routing.ts";
import * as Path from "../../src/routing/path.ts";
import type { Route } from "../../src/doors/routing.ts";
import { checkDotfiles, immutableField, isImmutable, isSafe, segmentsOf, wellKnown, withoutSlash } from "./routes.ts";

/** The binding of a Worker to its static assets: `env.ASSETS`. */
export interface AssetsBinding {
  /** Answers with the asset of the URL's path. */
  fetch(request: Request): Promise<Response>;
}

/** The options of `Files.assets`. */
export interface AssetsOptions {
  /** The path of the assets' routes: `"assets"`, `"assets/v1"`. `/` by default. */
  readonly at?: string;
  /** `Cache-Control` in the place of the platform's, which is `public, max-age=0, must-revalidate`. */
  readonly cacheControl?: string;
  /** The names of hidden files and folders that are sent, as of {@link DirectoryOptions}. */
  readonly dotfiles?: readonly string[];
  /** Folders whose files never change, as of {@link DirectoryOptions}. */
  readonly immutable?: readonly string[];
}

/**
 * Routes that answer GET and HEAD with the static assets of a Worker. A route of the application's own always comes first. What
 * answers for a folder, or where there is no asset, is in `wrangler.toml`: `html_handling` and `not_found_handling`. So are
 * `ETag` and 304 the platform's. The same paths as of `Files.directory` are refused.
 *
 * @param binding The binding, or an input that gives it.
 *
 * @example
 * ```ts
 * import { env } from "cloudflare:workers";
 *
 * export default worker([...api, ...Files.assets(env.ASSETS, { immutable: ["_astro"] })]);
 * ```
 */
export function assets(binding: AssetsBinding | Dep<AssetsBinding>, options: AssetsOptions = {}): readonly Route[] {
  checkAssets(binding, options);
  const { at = "", cacheControl, dotfiles = wellKnown, immutable = [] } = options;
  const prefix = segmentsOf(at);
  const folders = immutable.map(segmentsOf);
  const rest = restWithEmpty("file");
  const inputs = { names: param(rest), sent, bound: isBinding(binding) ? constant(binding) : binding };
  return [
    get(
      Path.of(...prefix, rest),
      { inputs, returns: response, refuses: [Refusal.notFound] },
      async ({ names, sent, bound }) => {
        if (!withoutSlash(names).every((name) => isSafe(name, dotfiles))) return refuse(Refusal.notFound);
        const asset = await assetAt(`/${names.map(encodeURIComponent).join("/")}`, bound, sent);
        // Without a page for what is missing, the platform's 404 is empty.
        if (asset.status === 404 && !asset.headers.has("content-type")) return refuse(Refusal.notFound);
        return changed(asset, prefix, isImmutable(names, folders) ? immutableField : cacheControl);
      },
    ),
  ];
}

const passed = ["accept", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range"];

/** What the platform gets of a request: no cookies, and no credentials. */
interface SentRequest {
  readonly method: string;
  readonly headers: [string, string][];
  /** With its `?`, as a URL has it. A redirect keeps it. */
  readonly search: string;
}

const sent: Dep<SentRequest> = ofRequest(
  (request: RequestRecord) => {
    const headers = passed.flatMap((name) => {
      const value = request.header(name);
      return value === undefined ? [] : [[name, value] as [string, string]];
    });
    return { method: request.method, headers, search: searchOf(request.target) };
  },
  { needs: passed.map((name) => ({ in: "header", name })) },
);

function searchOf(target: string): string {
  const question = target.indexOf("?");
  return question === -1 ? "" : new URL(`https://assets.local/${target.slice(question)}`).search;
}

/** The asset of a path. A folder's page may be at the path with a slash at its end. */
async function assetAt(path: string, binding: AssetsBinding, sent: SentRequest): Promise<Response> {
  const { method, headers, search } = sent;
  const fetched = (path: string) =>
    binding.fetch(new Request(`https://assets.local${path}${search}`, { method, headers, redirect: "manual" }));
  const asset = await fetched(path);
  return isRedirect(asset) && asset.headers.get("location") === `${path}/${search}` ? fetched(`${path}/`) : asset;
}

function isRedirect({ status }: Response): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Headers of an answer that the framework writes, or that are of the platform's own connection. */
const dropped = ["connection", "content-length", "date", "keep-alive", "set-cookie", "transfer-encoding"];

function changed(asset: Response, prefix: readonly string[], cacheControl: string | undefined): Response {
  const headers = new Headers(asset.headers);
  for (const name of dropped) headers.delete(name);
  if (cacheControl !== undefined && [200, 206, 304].includes(asset.status)) {
    headers.set("cache-control", cacheControl);
  }
  // `/about/index.html` leads to `/about/`, which is `/about` here, and below the prefix.
  const location = headers.get("location");
  if (location?.startsWith("/") === true && !location.startsWith("//")) {
    const below = ["", ...prefix].join("/") + location;
    headers.set("location", below.replace(/^([^?#]*[^/?#])\/(?=[?#]|$)/, "$1"));
  }
  const { status, body } = asset;
  return new Response(isRedirect(asset) || status === 304 ? null : body, { status, headers });
}

function isBinding(given: AssetsBinding | Dep<AssetsBinding>): given is AssetsBinding {
  return typeof (given as Partial<AssetsBinding>).fetch === "function";
}

function checkAssets(binding: unknown, options: AssetsOptions): void {
  const isGiven = isObject(binding) && (typeof binding["fetch"] === "function" || isObject(binding["node"]));
  needs(isGiven, "Files.assets: its binding", binding, "an object with `fetch`, nor an input that gives one");
  needsOptions("Files.assets", options, "at cacheControl dotfiles immutable");
  for (const name of ["at", "cacheControl"] as const) {
    if (options[name] !== undefined) needsText(`Files.assets: ${name}`, options[name]);
  }
  if (options.immutable !== undefined) needsTexts("Files.assets: immutable", options.immutable);
  checkDotfiles("Files.assets", options.dotfiles);
}
