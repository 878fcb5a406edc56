import { serveOne } from "../server/serve-one.mjs";
import { mounted, passed, upstream } from "./candidates.mjs";

const [, , who, behind] = process.argv;
const { name, start } = { ...mounted, ...passed, upstream }[who];
await serveOne({ name, start: () => start(behind) });
