/**
 * Collects which places of the sources the tests of a run enter: each source gets its marks when Vite loads it. A mark writes
 * one byte. With `USHER_COVERAGE_OF=blocks` only `catch` and `finally` get marks: all marks take an eighth of the processor
 * time of a test file.
 */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { allPlaces, isBlock, isOfBlocks, withMarks } from "./places.mjs";

/** @import { Place } from "./places.mjs" */

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @type {readonly Place[] | undefined} */
let all;
/** @type {Map<string, Place[]>} */
const byFile = new Map();

/** Parses the sources once, though each project of the tests asks. */
function parsed() {
  if (all !== undefined) return all;
  all = allPlaces(root);
  const marked = isOfBlocks ? all.filter(isBlock) : all;
  for (const place of marked) {
    const places = byFile.get(place.file);
    if (places === undefined) byFile.set(place.file, [place]);
    else places.push(place);
  }
  return all;
}

/** @returns {import("vite").Plugin} */
export function coverage() {
  const { length } = parsed();
  return {
    name: "usher-coverage",
    enforce: "pre",
    config: () => ({ test: { env: { USHER_COVERAGE_PLACES: String(length) } } }),
    transform(code, id) {
      const file = relative(root, id);
      const places = byFile.get(file);
      // The marks add no line.
      return places === undefined ? undefined : { code: withMarks(code, places), map: null };
    },
  };
}
