import { client } from "./client.ts";
import type { Command } from "./command.ts";
import { migrate } from "./migrate.ts";
import { openapi } from "./openapi.ts";
import { routes } from "./routes.ts";

/** Every command, in the order they are listed. */
export const commands: readonly Command[] = [routes, openapi, client, migrate];
