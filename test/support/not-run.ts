/** Ends a run with the tests that were skipped, by name: a suite in one line where none of its tests ran. */
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from "vitest/node";
import { isWide } from "./wide.ts";

type Children = TestModule["children"];

export default class NotRun implements Reporter {
  #root = "";
  /** A filter by name skips the tests that it does not name, which is intended. */
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return;
    if (!isWide) console.log("\nleft to `npm run test:wide`: what test/support/wide.ts names");
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
