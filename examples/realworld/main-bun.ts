import { serve } from "usher-http/bun";
import { run } from "./conduit.ts";

await run(serve);
