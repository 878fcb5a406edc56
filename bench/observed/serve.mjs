/** `node serve.mjs <candidate>`: one server on Node. */
import { serveOne } from "../server/serve-one.mjs";
import { candidates } from "./candidates.mjs";

await serveOne(candidates[process.argv[2]]);
