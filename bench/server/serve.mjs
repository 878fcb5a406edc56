/** `node serve.mjs <candidate>`: one server on Node. */
import { candidates } from "./candidates.mjs";
import { serveOne } from "./serve-one.mjs";

await serveOne(candidates[process.argv[2]]);
