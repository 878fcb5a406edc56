/**
 * Which test files start a program that is neither this Node nor the embedded PostgreSQL. `npm test` leaves them to
 * `npm run test:all`. There is no list to keep: the imports of a file, and of the files of `test` that it imports, say it.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Modules that start programs: other processes by hand, compilers, runtimes, browsers. */
const starters = new Set(["node:child_process", "esbuild", "rolldown", "miniflare", "playwright-core"]);

/** What is known of these without a look: `npm test` has the embedded PostgreSQL, and Chromium is loaded by `require`. */
const known: readonly (readonly [path: string, startsPrograms: boolean])[] = [
  ["test/support/postgres/database.ts", false],
  ["test/support/browser.ts", true],
];

/** The test files below `root`, as paths from there, by whether they start programs. */
export function filesByPrograms(root: string): {
  readonly starting: readonly string[];
  readonly others: readonly string[];
} {
  const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const paths = names.filter((name) => name.endsWith(".ts") && !name.includes("node_modules"));
  const imports = new Map(paths.map((name) => [join("test", name), importsOf(root, join("test", name))]));
  const starts = new Map(known);
  const startsAny = (path: string): boolean => {
    const already = starts.get(path);
    if (already !== undefined) return already;
    // A circle ends here; another file of it has what this one lacks.
    starts.set(path, false);
    const found = (imports.get(path) ?? []).some((to) => starters.has(to) || startsAny(to));
    starts.set(path, found);
    return found;
  };
  const tests = [...imports.keys()].filter((path) => path.endsWith(".test.ts"));
  return { starting: tests.filter(startsAny), others: tests.filter((path) => !startsAny(path)) };
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
