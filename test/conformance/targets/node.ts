import { runtimes } from "../../support/runtimes.ts";
import { processTarget } from "./process.ts";
import type { Target } from "./target.ts";
import { rows } from "../../support/wide.ts";

const program = new URL("../programs/node.ts", import.meta.url);

/** `usher-http/node` on the oldest Node that is served, the newest, and those between. */
export const nodeOldest: Target = processTarget("node-oldest", {
  program,
  binary: runtimes["node-oldest"],
});
export const node22: Target = processTarget("node-22", { program, binary: runtimes["node-22"] });
export const node24: Target = processTarget("node-24", { program, binary: runtimes["node-24"] });
export const nodeNewest: Target = processTarget("node-newest", {
  program,
  binary: runtimes["node-newest"],
});

/** Later Nodes again, with HTTP/2 next to HTTP/1.1. */
export const withHttp2: readonly Target[] = rows(["node-newest"] as const, ["node-22", "node-24"] as const).map(
  (name) =>
    processTarget(`${name} over HTTP/2`, {
      program: new URL("../programs/node-http2.ts", import.meta.url),
      binary: runtimes[name],
    }),
);
