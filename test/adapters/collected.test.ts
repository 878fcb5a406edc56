/** A handler learns that its client left, and of its deadline, also after a collection of garbage: nothing else may hold their signals. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";

const program = join(import.meta.dirname, "collected-program.mjs");
const node = ["--expose-gc"];
const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-all", "--v8-flags=--expose-gc"];

it.each([
  ["node", "the oldest Node", runtimes["node-oldest"], node],
  ["node", "the newest Node", runtimes["node-newest"], node],
  ["whatwg", "the oldest Node", runtimes["node-oldest"], node],
  ["whatwg", "the newest Node", runtimes["node-newest"], node],
  ["bun", "Bun", runtimes.bun, []],
  ["Bun.serve", "Bun", runtimes.bun, []],
  ["deno", "Deno", runtimes.deno, deno],
  ["Deno.serve", "Deno", runtimes.deno, deno],
] as const)("by %s on %s", async (listener, _name, binary, flags) => {
  const { stdout } = await promisify(execFile)(binary(), [...flags, program, listener]);
  expect(JSON.parse(stdout)).toEqual({ gone: "told", any: "told", deadline: "told", scoped: "told", events: "told" });
});
