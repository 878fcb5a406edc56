/** Keeps the blocks that a test file entered, one line for each test file. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";

const entered = new Uint8Array(Number(process.env["USHER_COVERAGE_BLOCKS"]));
Object.assign(globalThis, { $entered: entered });

// The first that is registered is the last that runs.
afterAll(() => {
  const ids = [...entered.keys()].filter((id) => entered[id] === 1);
  appendFileSync(join(String(process.env["USHER_COVERAGE_IN"]), "entered"), `${ids.join(" ")}\n`);
});
