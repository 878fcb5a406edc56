/** The readers that the page of `Openapi.docs` can show: the package's own, and Scalar's API reference. */
import type { Awaitable } from "../inputs/dep.ts";
import { internalRefusal } from "../refusals.ts";
import type { Asset } from "./asset.ts";

/**
 * What gives the page's script: `"scalar"` reads it from the package `@scalar/api-reference`; a function loads the standalone
 * build of that package.
 */
export type DocsScript = "scalar" | (() => Awaitable<string | Uint8Array>);

interface PageReader {
  readonly policy: string;
  readonly script: Pick<Asset, "load" | "check">;
  /** The second script of the page. */
  readonly start: string;
}

/** @throws Error if it is neither `"scalar"` nor a function. */
export function readerOf(script: DocsScript | undefined): PageReader {
  if (script === undefined) return ownReader();
  if (script === "scalar") return scalarReader({ load: readScalar, check: checkScalar });
  if (typeof script === "function") return scalarReader({ load: () => script() });
  throw new Error('Openapi.docs: script must be "scalar", or a function that loads the script of Scalar');
}

function ownReader(): PageReader {
  return {
    // No style element and no style attribute: the script makes a style sheet. Trusted Types refuse every text as HTML.
    policy: policyWith("require-trusted-types-for 'script'", "trusted-types 'none'"),
    script: { load: async () => (await import("./reader-script.ts")).script },
    start: startWith("usherReader", "usherReader(app);", "the server's log has the reason."),
  };
}

function scalarReader(script: PageReader["script"]): PageReader {
  return {
    // `'unsafe-inline'` is for the style elements that the API reference creates; no script is inline.
    policy: policyWith("style-src 'unsafe-inline'"),
    script,
    start: startWith("Scalar", beginScalar, `${remedy}. The server's log has the reason.`),
  };
}

/** The page loads only its own scripts, and calls no other host. */
function policyWith(...directives: readonly string[]): string {
  const common = [
    "default-src 'none'",
    "script-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ];
  return [...common, ...directives].join("; ");
}

/** Starts the page, or has it say why it does not start. */
function startWith(global: string, begin: string, missing: string): string {
  return `const app = document.querySelector("#app");
if (globalThis.${global}) ${begin}
else app.textContent = ${JSON.stringify(`This page has no script: ${missing}`)};
`;
}

/** Starts the API reference without the features that call other hosts. */
const beginScalar = `Scalar.createApiReference(app, {
  url: app.dataset.url,
  agent: { disabled: true },
  hideClientButton: true,
  persistAuth: false,
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
});`;

const remedy = "install @scalar/api-reference, or give Openapi.docs its script as a function";

// Joined at run time, so that no bundler follows these names.
const entry = /* @__PURE__ */ ["usher-http", "scalar"].join("/");
const file = /* @__PURE__ */ ["@scalar", "api-reference", "browser", "standalone.js"].join("/");

/**
 * Reports a missing package when the app is made. If the runtime cannot resolve names (a CommonJS bundle, Workers), the
 * first request for the script is a 500, and the log has the reason.
 */
function checkScalar(): readonly string[] {
  return isMissing() ? [`has no script: ${remedy}`] : [];
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
async function readScalar(): Promise<Uint8Array> {
  try {
    const { script } = (await import(/* @vite-ignore */ entry)) as { script: () => Promise<Uint8Array> };
    return await script();
  } catch (error) {
    const detail = `the script of Openapi.docs could not be read: ${remedy}`;
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw internalRefusal(`${detail}${code}`);
  }
}
