/** Runs the tests as usual, and collects in the folder `USHER_COVERAGE_IN` what they enter. */
import { mergeConfig } from "vitest/config";
import usual from "../../vitest.config.ts";
import { coverage } from "./plugin.mjs";

export default mergeConfig(usual, { plugins: [coverage()] });
