import { runtimes } from "../../support/runtimes.ts";
import { processTarget } from "./process.ts";
import type { Target } from "./target.ts";

// The program is one file; nothing around it is to be found, and nothing fetched.
const flags = ["run", "--allow-all", "--no-lock", "--no-config", "--no-remote", "--no-npm"];

/** `usher-http/deno`, over `Deno.serve`. */
export const deno: Target = {
  ...processTarget("deno", {
    program: new URL("../programs/deno.ts", import.meta.url),
    binary: runtimes.deno,
    flags,
  }),
  takeoverless: "Deno.serve answers with a Response",
};

/** The same over HTTP/2. */
export const http2OnDeno: Target = { ...deno, name: "http2-on-deno" };

/** `usher-http/node`, over Deno's own `node:http`. */
export const nodeOnDeno: Target = processTarget("node-on-deno", {
  program: new URL("../programs/node.ts", import.meta.url),
  binary: runtimes.deno,
  // It imports `ws` of the folder's packages.
  flags: ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-remote"],
});
