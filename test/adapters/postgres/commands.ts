import { runtimes } from "../../support/runtimes.ts";

/** What runs a program from its source, on each runtime that has a pool of its own. */
export const commands: readonly (readonly [runtime: string, command: () => readonly string[]])[] = [
  ["Node", () => [runtimes["node-newest"]()]],
  ["Bun", () => [runtimes.bun()]],
  ["Deno", () => [runtimes.deno(), "run", "--allow-all", "--node-modules-dir=manual"]],
];
