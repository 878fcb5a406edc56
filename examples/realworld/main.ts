import { serve } from "usher-http/node";
import { run } from "./conduit.ts";

await run(serve);
