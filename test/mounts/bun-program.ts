/** Run by Bun: routes that pass on what others answer. */
import { serve } from "../../adapters/bun/index.ts";
import { Compress } from "../../adapters/compress/index.ts";
import { main } from "./routes.ts";

await main(serve, [Compress.make()]);
