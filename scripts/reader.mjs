/** Bundles `reader/`, what the page of `Openapi.docs` runs in a browser, into one script, and gives its text to a module. */
import { join } from "node:path";
import { rolldown } from "rolldown";

/** @param {string} root The package's folder. */
async function bundled(root) {
  const build = await rolldown({
    input: join(root, "reader/main.ts"),
    platform: "browser",
    tsconfig: false,
    checks: { bundlerTimings: false },
  });
  const { output } = await build.generate({ format: "iife", minify: true, comments: { legal: false } });
  await build.close();
  return output[0].code.trimEnd();
}

/**
 * Puts the script's text into `src/openapi/reader-script.ts`, for rolldown and for Vite.
 *
 * @param {string} root The package's folder.
 */
export function readerScript(root) {
  const file = join(root, "src/openapi/reader-script.ts");
  return {
    name: "reader-script",
    /** @param {string} code @param {string} id */
    async transform(code, id) {
      if (id !== file) return null;
      const text = JSON.stringify(await bundled(root));
      return { code: code.replace(/"globalThis[^"]*"/, () => text), map: null };
    },
  };
}
