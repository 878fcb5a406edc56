/** `serve.mjs <runtime> <candidate>`, run by that runtime: one server, like `../server/serve.mjs` on Node. */
import { serveOne } from "../server/serve-one.mjs";
import { runtimes } from "./candidates.mjs";

const [, , runtime, who] = process.argv;
await serveOne(runtimes[runtime][who]);
