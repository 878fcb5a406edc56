import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import type { Plugin } from "vitest/config";
import { runFolder } from "./test/support/run-folder.ts";
import { setPatience, testMs, waitMs } from "./test/support/patience.ts";
import { alone, counted, leftOut, reset, shared } from "./test/support/shared.ts";
import { SlowFirst } from "./test/support/slow-first.ts";
import { isNamed } from "./test/support/which-run.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The scripts have no declarations. Imported by its URL, a script is one module, however many projects read this file. */
const script = (name: string): Promise<unknown> => import(new URL(`scripts/${name}`, import.meta.url).href);
const { readerScript } = (await script("reader.mjs")) as { readerScript: (root: string) => Plugin };
const { compiledSources } = (await script("sources.mjs")) as { compiledSources: (root: string) => Plugin };

const left = [...configDefaults.exclude, ...leftOut(here("."))];
// A run of all tests has eight processes on two cores.
setPatience(isNamed);

export default defineConfig({
  plugins: [readerScript(here(".")), runFolder()],
  resolve: {
    // Tests import the package by its name, as its users do, and run its source.
    alias: [
      { find: /^fast-check$/, replacement: here("./test/support/seeded.ts") },
      { find: /^usher-http$/, replacement: here("./src/index.ts") },
      { find: /^usher-http\/client$/, replacement: here("./src/client/index.ts") },
      { find: /^usher-http\/conditional$/, replacement: here("./src/representations/index.ts") },
      { find: /^usher-http\/languages$/, replacement: here("./src/languages/index.ts") },
      { find: /^usher-http\/answer$/, replacement: here("./src/answers/makers.ts") },
      { find: /^usher-http\/codec$/, replacement: here("./src/codecs/index.ts") },
      { find: /^usher-http\/cookie$/, replacement: here("./src/security/cookie.ts") },
      { find: /^usher-http\/event$/, replacement: here("./src/events/index.ts") },
      { find: /^usher-http\/form$/, replacement: here("./src/inputs/form.ts") },
      { find: /^usher-http\/header$/, replacement: here("./src/inputs/header.ts") },
      { find: /^usher-http\/path$/, replacement: here("./src/routing/path.ts") },
      { find: /^usher-http\/query$/, replacement: here("./src/inputs/query.ts") },
      { find: /^usher-http\/returns$/, replacement: here("./src/answers/returns.ts") },
      { find: /^usher-http\/socket$/, replacement: here("./src/sockets/index.ts") },
      { find: /^usher-http\/([\w-]+)$/, replacement: here("./adapters/$1/index.ts") },
    ],
  },
  test: {
    setupFiles: [here("./test/support/setup.ts")],
    reporters: ["default", here("./test/support/run-end.ts")],
    // Most of what a test does is to wait for other processes. On two cores, six workers take 435 s, and eight 414 s.
    maxWorkers: Math.max(8, availableParallelism()),
    // Room for young objects: the garbage collector takes a fifth of the time less.
    execArgv: ["--max-semi-space-size=64"],
    sequence: { sequencer: SlowFirst, setupFiles: "list" },
    // To start a process and to load the sources takes longer than most files' tests.
    projects: [
      {
        extends: true,
        plugins: [compiledSources(here("."))],
        test: {
          name: "shared",
          include: [...shared],
          exclude: [...left, ...alone, ...counted, ...reset],
          isolate: false,
          provide: { isProcessShared: true },
        },
      },
      {
        extends: true,
        plugins: [compiledSources(here("."))],
        test: {
          name: "counted",
          include: [...counted],
          exclude: left,
          isolate: false,
        },
      },
      {
        extends: true,
        plugins: [compiledSources(here("."))],
        test: { name: "alone", include: [...alone], exclude: left },
      },
      { extends: true, test: { name: "reset", include: [...reset], exclude: left } },
    ],
    // These only end what would never end: on a busy machine they are longer.
    testTimeout: testMs(),
    hookTimeout: testMs(),
    // A test that asserts nothing passes whatever the code does.
    expect: { requireAssertions: true, poll: { timeout: waitMs() } },
  },
});
