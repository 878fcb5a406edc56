/**
 * Which test files `npm test` leaves to `npm run test:all`: those that start a program which is neither this Node nor the embedded
 * PostgreSQL, and soaks, which do one thing many hundreds of times. The imports of a file, and of the files of `test` that it
 * imports, say which these are; only soaks that count nothing are named.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Modules that start programs: other processes by hand, compilers, runtimes. `browser.ts` loads Chromium by `require`. */
const starters = ["node:child_process", "esbuild", "rolldown", "miniflare", "test/support/browser.ts"];
/** It starts the embedded PostgreSQL, which `npm test` has. */
const database = "test/support/postgres/database.ts";
/** It counts what the process holds after many rounds of collection. */
const memory = "test/support/memory.ts";

/** Each takes more than three seconds of processor time, for its number of files, orders, texts or connections. */
export const soaks: readonly string[] = [
  "adapters/deno/hush",
  "adapters/files/kept",
  "adapters/files/waiting",
  "adapters/mcp/unread",
  "adapters/oidc/access-token",
  "adapters/oidc/lying-issuer",
  "adapters/node/deflate",
  "adapters/node/departures",
  "adapters/node/http2-unread",
  "adapters/postgres/batches",
  "adapters/postgres/lied-to-others",
  "adapters/postgres/migrate",
  "adapters/postgres/types",
  "adapters/postgres/untold",
  "answers/wrong-answers",
  "cli/difference",
  "codecs/codec-laws",
  "html/tokenizer",
  "models/ends-over-http2",
  "mounts/proxy",
  "openapi/tables",
  "schema/properties",
  "security/session-orders",
].map((name) => `test/${name}.test.ts`);
/** The growth of time and memory with the size of a text. */
const growth = "test/growth/";

export interface FilesByCost {
  readonly starting: readonly string[];
  readonly soaking: readonly string[];
  /** What `npm test` runs. */
  readonly others: readonly string[];
}

/** The test files below `root`, as paths from there. */
export function filesByCost(root: string): FilesByCost {
  const imports = new Map(sourcesIn(root, "test").map((path) => [path, importsOf(root, path)]));
  const tests = [...imports.keys()].filter((path) => path.endsWith(".test.ts"));
  const starting: string[] = [];
  const soaking: string[] = [];
  const others: string[] = [];
  for (const path of tests) {
    const reached = reachedFrom(path, imports);
    if (startsPrograms(reached)) starting.push(path);
    else if (reached.has(memory) || soaks.includes(path) || path.startsWith(growth)) soaking.push(path);
    else others.push(path);
  }
  return { starting, soaking, others };
}

/** The TypeScript files below a folder. It does not go into `node_modules`, which have four times as many files. */
function sourcesIn(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sourcesIn(root, path);
    return path.endsWith(".ts") ? [path] : [];
  });
}

/** The modules that a file imports, itself or by others. */
function reachedFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set([path]);
  // A set's loop comes to what is added meanwhile.
  for (const one of reached) {
    if (one !== database) for (const to of imports.get(one) ?? []) reached.add(to);
  }
  return reached;
}

function startsPrograms(reached: ReadonlySet<string>): boolean {
  return starters.some((module) => reached.has(module));
}

/** The modules that a file imports, those of the repository as paths from `root`. Types start nothing. */
function importsOf(root: string, path: string): readonly string[] {
  const text = readFileSync(join(root, path), "utf8");
  const found = text.matchAll(/^(?:import|export)(?! type)[^;"']*?["']([^"']+)["'];|\bimport\("([^"]+)"\)/gm);
  return [...found].map(([, named, later]) => {
    const to = named ?? later ?? "";
    return to.startsWith(".") ? normalize(join(dirname(path), to)) : to;
  });
}
