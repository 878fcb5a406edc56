/** The entry `usher-http/scalar`: the script of the page that `Openapi.docs` serves, read from its package. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const file = "@scalar/api-reference/browser/standalone.js";

/**
 * The standalone build of `@scalar/api-reference`, which has to be installed beside. `Openapi.docs` asks for it by
 * itself where nothing else is given.
 *
 * @throws Error where the package is not installed.
 */
export function script(): Promise<Uint8Array> {
  return readFile(createRequire(import.meta.url).resolve(file));
}
