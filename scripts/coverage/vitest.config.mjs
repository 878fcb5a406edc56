/** Runs the tests as usual, and collects in the folder `USHER_COVERAGE_IN` what they enter. */
import { fileURLToPath } from "node:url";
import { mergeConfig } from "vitest/config";
import usual from "../../vitest.config.ts";
import { coverage } from "./plugin.mjs";

// The first setup file: what the others end is collected too.
const setupFiles = [fileURLToPath(new URL("setup.mjs", import.meta.url))];

export default mergeConfig({ plugins: [coverage()], test: { setupFiles } }, usual);
