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
  test: { include: ["test/**/*.test.ts"] },
});
