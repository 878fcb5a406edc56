/**
 * Collects which places of the sources the tests of a run enter: each source gets its marks when Vite loads it. A mark writes
 * one byte.
 */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { allPlaces, withMarks } from "./places.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @returns {import("vite").Plugin} */
export function coverage() {
  const all = allPlaces(root);
  return {
    name: "usher-coverage",
    enforce: "pre",
    config: () => ({ test: { env: { USHER_COVERAGE_PLACES: String(all.length) } } }),
    transform(code, id) {
      const file = relative(root, id);
      const places = all.filter((place) => place.file === file);
      // The marks add no line.
      return places.length === 0 ? undefined : { code: withMarks(code, places), map: null };
    },
  };
}
