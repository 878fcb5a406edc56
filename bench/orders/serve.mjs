/** `node serve.mjs <candidate> <url>`: one server with a database. */
import { serveOne } from "../server/serve-one.mjs";
import { candidates } from "./candidates.mjs";

const [, , who, url] = process.argv;
await serveOne({ start: () => candidates[who].start(url) });
