import { serve } from "../../../adapters/node/index.ts";
import { startAll } from "./start.ts";

// A head in pieces waits for another client between two of them: on a busy machine longer than the default of ten seconds.
await startAll((routes, options) => serve(routes, { headTimeoutMs: 120_000, ...options }));
