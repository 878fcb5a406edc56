/** The routes of `routes.ts` on each runtime: each resolves with its port. */
import { join } from "node:path";
import { bundle, start } from "../adapters/workers/running.ts";
import { runtimes } from "../support/runtimes.ts";
import { SpawnedServer } from "../support/spawned/server.ts";

const program = (name: string): string => join(import.meta.dirname, `${name}-program.ts`);
export const started: { readonly [runtime: string]: () => Promise<number> } = {
  "node-oldest": async () => (await SpawnedServer.start([runtimes["node-oldest"]()], program("node"))).port,
  "node-newest": async () => (await SpawnedServer.start([runtimes["node-newest"]()], program("node"))).port,
  bun: async () => (await SpawnedServer.start([runtimes.bun(), "run"], program("bun"))).port,
  deno: async () => (await SpawnedServer.start([runtimes.deno(), "run", "-A", "--no-config"], program("deno"))).port,
  workers: async () => {
    const { client } = await start(await bundle({ file: "../../mounts/workers-program.ts" }));
    return (await client()).socket.remotePort as number;
  },
};
