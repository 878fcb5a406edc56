import { serve } from "../../../adapters/node/index.ts";
import { startAll } from "./start.ts";

await startAll((routes, options) => serve(routes, { ...options, http2: true }));
