import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests import the package by its name, as its users do, and run its source.
    alias: [
      { find: /^usher-http$/, replacement: here("./src/index.ts") },
      { find: /^usher-http\/client$/, replacement: here("./src/client/index.ts") },
      { find: /^usher-http\/(\w+)$/, replacement: here("./adapters/$1/index.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    reporters: ["default", here("./test/support/not-run.ts")],
    // Most of what a test does is to wait for other processes.
    maxWorkers: Math.max(3, availableParallelism()),
    // These only end what would never end: a slow machine fails no test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A test that asserts nothing passes whatever the code does.
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
  },
});
