/** `serve.mjs <runtime> <candidate>`, run by that runtime: one server, as `../server/serve.mjs` is one on Node. */
import { serveOne } from "../server/serve-one.mjs";
import { runtimes } from "./candidates.mjs";

const [, , runtime, who] = process.argv;
await serveOne(runtimes[runtime][who]);
