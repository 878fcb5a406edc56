/** Collects which `catch` and `finally` of the sources the tests of a run enter: each source gets its marks when Vite loads it. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { allBlocks, withMarks } from "./blocks.mjs";

/** @import { Block } from "./blocks.mjs" */

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @type {readonly Block[] | undefined} */
let all;

/** Parses the sources once, though each project of the tests asks. */
const parsed = () => (all ??= allBlocks(root));

/** @returns {import("vite").Plugin} */
export function coverage() {
  const { length } = parsed();
  return {
    name: "usher-coverage",
    enforce: "pre",
    config: () => ({ test: { env: { USHER_COVERAGE_BLOCKS: String(length) } } }),
    transform(code, id) {
      const file = relative(root, id);
      const blocks = parsed().filter((block) => block.file === file);
      // The marks add no line.
      return blocks.length === 0 ? undefined : { code: withMarks(code, blocks), map: null };
    },
  };
}
