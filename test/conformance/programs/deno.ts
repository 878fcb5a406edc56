import { serve } from "../../../adapters/deno/index.ts";
import { startAll } from "./start.ts";

await startAll(serve);
