/** Run by Deno: serves the routes of the tests. */
import { serve } from "../../../adapters/deno/index.ts";
import type { SpawnOptions } from "../../support/spawned/options.ts";
import { main } from "../../support/spawned/routes.ts";

declare const Deno: { readonly args: readonly string[] };

await main(serve, JSON.parse(Deno.args[0] ?? "{}") as SpawnOptions);
