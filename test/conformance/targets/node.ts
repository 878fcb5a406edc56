import { runtimes } from "../../support/runtimes.ts";
import { processTarget } from "./process.ts";
import type { Target } from "./target.ts";

/** `usher-http/node` on the oldest Node that is served, and on the newest. */
export const nodeOldest: Target = processTarget("node-oldest", {
  program: new URL("../programs/node.ts", import.meta.url),
  binary: runtimes["node-oldest"],
});
export const nodeNewest: Target = processTarget("node-newest", {
  program: new URL("../programs/node.ts", import.meta.url),
  binary: runtimes["node-newest"],
});
