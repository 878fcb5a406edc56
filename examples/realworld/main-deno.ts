import { serve } from "usher-http/deno";
import { run } from "./conduit.ts";

await run(serve);
