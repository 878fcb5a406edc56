/** Runs each test file in a process of its own, so that a mutant that one of them leaves broken does not fail the next. */
import { fileURLToPath } from "node:url";
import usual from "../../vitest.config.ts";

const setup = fileURLToPath(new URL("setup.mjs", import.meta.url));
const { projects: _, ...test } = usual.test ?? {};

export default {
  ...usual,
  test: {
    ...test,
    include: ["test/**/*.test.ts"],
    setupFiles: [setup, test.setupFiles ?? []].flat(),
    // A short limit finds a mutant that hangs sooner, but a loaded machine is no mutant. A test's own limit still holds.
    testTimeout: 20_000,
    // What a test did not get to leaves its end without an end, too.
    hookTimeout: 20_000,
    expect: { ...test.expect, poll: { timeout: 15_000 } },
  },
};
