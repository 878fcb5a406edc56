/** Run by Bun: serves the routes of the tests. */
import { serve } from "../../../adapters/bun/index.ts";
import type { SpawnOptions } from "../../support/spawned/options.ts";
import { main } from "../../support/spawned/routes.ts";

await main(serve, JSON.parse(process.argv[2] ?? "{}") as SpawnOptions);
