/** Four processes that share a port by `node:cluster`. */
import cluster from "node:cluster";
import process from "node:process";

if (cluster.isPrimary) {
  for (let i = 0; i < 4; i++) cluster.fork();
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
  });
} else {
  // The first process serves nothing, and loads none of it.
  const { serve } = await import("../../../adapters/node/index.ts");
  const { main } = await import("./shared-routes.ts");
  await main(serve);
}
