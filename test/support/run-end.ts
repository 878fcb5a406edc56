/**
 * Ends a run with the tests that were skipped, by name (a suite in one line where none of its tests ran), and then with those that
 * failed: the last lines of a run say what to run again.
 */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite, Vitest } from "vitest/node";
import { failedLines } from "./failed-lines.ts";
import { run } from "./which-run.ts";

type Children = TestModule["children"];

const leftTo: { readonly [name in typeof run]: string | undefined } = {
  quick:
    "what starts other programs, and soaks, are left to `npm run test:all`: test/support/files-by-cost.ts says which files",
  rest: undefined,
  all: "what test/support/wide.ts names is left to `npm run test:wide`",
  wide: undefined,
};

export default class RunEnd implements Reporter {
  #root = "";
  /** A filter by name skips the tests that it does not name, which is intended. */
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    if (!this.#isFiltered) this.#tellSkipped(modules);
    const failed = modules.flatMap((module) => {
      const file = relative(this.#root, module.moduleId);
      const tests = [...module.children.allTests("failed")].map((test) => test.fullName);
      return tests.length > 0 || module.state() === "failed" ? [{ file, tests }] : [];
    });
    const lines = failedLines(failed);
    if (unhandled.length > 0) lines.push(`${unhandled.length} errors were not handled by any test: see above`);
    if (lines.length === 0) return;
    console.log(`\n${lines.join("\n")}`);
    // `scripts/check.mjs` prints those of two runs after all checks.
    const file = process.env["USHER_FAILURES"];
    if (file !== undefined) appendFileSync(file, `${lines.join("\n")}\n`);
  }

  #tellSkipped(modules: readonly TestModule[]): void {
    const left = leftTo[run];
    if (left !== undefined) console.log(`\n${left}`);
    let count = 0;
    const lines: string[] = [];
    for (const module of modules) {
      const skipped = skippedIn(module.children);
      if (skipped.length === 0) continue;
      lines.push(`  ${relative(this.#root, module.moduleId)}`);
      for (const { name, tests } of skipped) {
        count += tests;
        lines.push(`    ${name}${tests === 1 ? "" : ` (${tests} tests)`}`);
      }
    }
    console.log(
      count === 0 ? "\nno test was skipped" : `\nnot run (${count} tests were skipped):\n${lines.join("\n")}`,
    );
  }
}

function skippedIn(children: Children): { readonly name: string; readonly tests: number }[] {
  return [...children].flatMap((child: TestSuite | TestCase) => {
    if (child.type === "test") return child.result().state === "skipped" ? [{ name: child.fullName, tests: 1 }] : [];
    const all = [...child.children.allTests()];
    const isSkipped = all.length > 1 && all.every((test) => test.result().state === "skipped");
    return isSkipped ? [{ name: child.fullName, tests: all.length }] : skippedIn(child.children);
  });
}
