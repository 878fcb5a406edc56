/** The entry `usher-http/scalar`: the script of the page that `Openapi.docs` serves. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const file = "@scalar/api-reference/browser/standalone.js";

/**
 * Reads the standalone build of `@scalar/api-reference`, which must be installed. `Openapi.docs` calls it unless its option
 * `script` is set.
 *
 * @throws Error if the package is not installed.
 */
export function script(): Promise<Uint8Array> {
  return readFile(createRequire(import.meta.url).resolve(file));
}
