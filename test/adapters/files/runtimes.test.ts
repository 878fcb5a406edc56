/** Files on each runtime that has them, by `node:http` and by the runtime's own server. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runtimes } from "../../support/runtimes.ts";
import { rows } from "../../support/wide.ts";

const program = join(import.meta.dirname, "program.mjs");
const access = ["--allow-read", "--allow-write", "--allow-env", "--allow-net", "--allow-sys"];
const deno = ["run", "--no-config", "--node-modules-dir=manual", ...access];
// The paths of tsconfig.json lead Bun to the source.
const bun = ["--tsconfig-override", join(import.meta.dirname, "../../../examples/tsconfig.json")];

const runs = rows<readonly [name: string, binary: () => string, flags: readonly string[], server: "node:http" | "own"]>(
  [
    ["the newest Node", runtimes["node-newest"], [], "node:http"],
    ["Bun", runtimes.bun, bun, "node:http"],
    ["Bun", runtimes.bun, bun, "own"],
    ["Deno", runtimes.deno, deno, "own"],
  ],
  [["the oldest Node", runtimes["node-oldest"], [], "node:http"]],
);

it.each(runs)("files are sent on %s (%#)", async (_name, binary, flags, server) => {
  const { stdout } = await promisify(execFile)(binary(), [...flags, program, server], { cwd: import.meta.dirname });
  expect(JSON.parse(stdout)).toEqual({
    replaced: [
      [200, false, 200],
      [200, false, 200],
      [200, false, 200],
    ],
    whole: [200, "ALPHABET"],
    again: 304,
    part: [206, "BET"],
    unsatisfiable: 416,
    large: [200, 1_000_000],
    parts: 2,
    hostile: [404, 404, 404, 404, 404],
    odd: [],
    after: 200,
  });
});
