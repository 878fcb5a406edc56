/** One of the processes that share a port by `reusePort`. */
import { serve } from "../../../adapters/bun/index.ts";
import { main } from "./shared-routes.ts";

await main(serve, { reusePort: true });
