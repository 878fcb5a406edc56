import { runtimes } from "../../support/runtimes.ts";
import { processTarget } from "./process.ts";
import type { Target } from "./target.ts";

const itsOwn = "the server is the application's own, and so is this";

/** `usher-http/whatwg` behind `@whatwg-node/server` in a server of `node:http`, on the newest Node. */
export const whatwg: Target = {
  ...processTarget("whatwg", {
    program: new URL("../programs/whatwg.ts", import.meta.url),
    binary: runtimes["node-newest"],
  }),
  socketless: itsOwn,
  takeoverless: "@whatwg-node/server answers with a Response",
  unstoppable: itsOwn,
  unlimited: itsOwn,
};
