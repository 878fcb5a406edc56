import { runtimes } from "../../support/runtimes.ts";
import { processTarget } from "./process.ts";
import type { Target } from "./target.ts";

/** `usher-http/bun`, over `Bun.serve`. */
export const bun: Target = {
  ...processTarget("bun", {
    program: new URL("../programs/bun.ts", import.meta.url),
    binary: runtimes.bun,
  }),
  takeoverless: "Bun.serve answers with a Response",
};

/** `usher-http/node`, over Bun's own `node:http`. */
export const nodeOnBun: Target = processTarget("node-on-bun", {
  program: new URL("../programs/node.ts", import.meta.url),
  binary: runtimes.bun,
});
