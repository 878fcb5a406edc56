/** Four processes that share a port by `node:cluster`. */
import cluster from "node:cluster";
import process from "node:process";
import { serve } from "../../../adapters/node/index.ts";
import { main } from "./shared-routes.ts";

if (cluster.isPrimary) {
  for (let i = 0; i < 4; i++) cluster.fork();
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
  });
} else await main(serve);
