import { run } from "./which-run.ts";

interface Failed {
  /** A path from the root. */
  readonly file: string;
  /** Full names of its failed tests; none where the file did not load. */
  readonly tests: readonly string[];
}

/** The tests that failed in a run, each with the command that runs it alone. */
export function failedLines(failed: readonly Failed[], of: typeof run = run): string[] {
  if (failed.length === 0) return [];
  const wide = of === "wide" ? "USHER_TESTS=wide " : "";
  const lines = failed.flatMap(({ file, tests }) => {
    const command = `${wide}npx vitest run ${file}`;
    if (tests.length === 0) return [`  ${file} did not load`, `    ${command}`];
    return tests.flatMap((name) => [`  ${file} > ${name}`, `    ${command} -t ${quoted(pattern(name))}`]);
  });
  const count = failed.reduce((sum, { tests }) => sum + Math.max(1, tests.length), 0);
  return [`failed (${count}), each with the command that runs it alone:`, ...lines];
}

/** Vitest takes a regular expression, for names whose parts a blank joins. */
function pattern(name: string): string {
  return `^${name.replaceAll(" > ", " ").replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`;
}

/** As a POSIX shell takes it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
