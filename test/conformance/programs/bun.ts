import { serve } from "../../../adapters/bun/index.ts";
import { startAll } from "./start.ts";

await startAll(serve);
