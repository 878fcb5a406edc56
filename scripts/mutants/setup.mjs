/** Gives each test file a file of its own for the mutants that it reaches, in this process and those that it starts. */
import { join } from "node:path";
import { expect } from "vitest";

const folder = process.env["USHER_MUTANT_REACHED_IN"];
const { testPath } = expect.getState();
if (folder !== undefined && testPath !== undefined) {
  process.env["USHER_MUTANT_REACHED"] = join(folder, encodeURIComponent(testPath));
}
