/** Gives each test file its own file for the mutants that it reaches, in this process and its children. */
import { join } from "node:path";
import { expect } from "vitest";

const folder = process.env["USHER_MUTANT_REACHED_IN"];
const { testPath } = expect.getState();
if (folder !== undefined && testPath !== undefined) {
  process.env["USHER_MUTANT_REACHED"] = join(folder, encodeURIComponent(testPath));
}
