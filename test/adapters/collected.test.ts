/** A handler learns that its client left, and of its deadline, also after a collection of garbage: nothing else may hold their signals. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";

const program = join(import.meta.dirname, "collected-program.mjs");
const node = ["--expose-gc"];
const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-all", "--v8-flags=--expose-gc"];

const toldOfAll = { gone: "told", any: "told", deadline: "told", scoped: "told", events: "told" };

type Run = readonly [name: string, listeners: readonly string[], binary: () => string, flags: readonly string[]];
const runs = rows<Run>(
  [
    ["the newest Node", ["node", "whatwg"], runtimes["node-newest"], node],
    ["Bun", ["bun", "Bun.serve"], runtimes.bun, []],
    ["Deno", ["deno", "Deno.serve"], runtimes.deno, deno],
  ],
  [["the oldest Node", ["node", "whatwg"], runtimes["node-oldest"], node]],
);

it.each(runs)("by each listener on %s", async (_name, listeners, binary, flags) => {
  const { stdout } = await promisify(execFile)(binary(), [...flags, program, ...listeners]);
  expect(JSON.parse(stdout)).toEqual(Object.fromEntries(listeners.map((name) => [name, toldOfAll])));
});
