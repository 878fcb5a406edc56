/** Runs the tests as usual, and collects in the folder `USHER_COVERAGE_IN` what they enter. */
import { fileURLToPath } from "node:url";
import { mergeConfig } from "vitest/config";
import usual from "../../vitest.config.ts";

// Imported by its URL, the plugin is one module, however many projects read this file.
const { coverage } = await import(new URL("plugin.mjs", import.meta.url).href);

// The first setup file: what the others end is collected too.
const setupFiles = [fileURLToPath(new URL("setup.mjs", import.meta.url))];

export default mergeConfig({ plugins: [coverage()], test: { setupFiles } }, usual);
