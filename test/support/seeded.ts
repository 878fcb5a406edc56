/**
 * `fast-check`, as tests import it by its name: each run but the wide one tries the same values, so that a failure comes with a change and not
 * by chance. `USHER_FUZZ_SEED=7 npx vitest run test/…` tries others.
 */
import fc from "../../node_modules/fast-check/lib/fast-check.js";
import { isWide } from "./wide.ts";
import { seed } from "./runs.ts";

if (!isWide) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
export * from "../../node_modules/fast-check/lib/fast-check.js";
