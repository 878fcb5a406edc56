/** Run by Bun and by Deno: serves the routes of the tests on their `node:http`. */
import process from "node:process";
import { serve } from "../../../adapters/node/index.ts";
import type { SpawnOptions } from "../../support/spawned/options.ts";
import { main } from "../../support/spawned/routes.ts";

await main(serve, JSON.parse(process.argv[2] ?? "{}") as SpawnOptions);
