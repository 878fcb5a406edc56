import { serve } from "../../../adapters/node/index.ts";
import { startAll } from "./start.ts";

await startAll(serve);
