import { existsSync } from "node:fs";

/** A file of the package, whether this runs from its source or from what was built of it. */
export function packageFile(path: string): URL {
  const inSource = new URL(`../${path}`, import.meta.url);
  return existsSync(inSource) ? inSource : new URL(`../../${path}`, import.meta.url);
}
