/** `node --expose-gc serve.mjs <candidate>`: a server for many kept connections; sends its port, and its resource usage when asked. */
import { createServer } from "node:http";
import { listener } from "../../apps/by-hand.mjs";

const [, , who] = process.argv;
const host = "127.0.0.1";
const port = who === "raw" ? await byHand() : await usher();

process.once("disconnect", () => process.exit());
process.on("message", (message) => {
  if (message === "stop") process.exit();
  if (message === "settle") globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ cpu: user + system, held: heapUsed + external });
});
process.send?.({ port });

/** @returns {Promise<number>} */
function byHand() {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener(undefined));
  const address = () => /** @type {import("node:net").AddressInfo} */ (server.address());
  return new Promise((resolve) => server.listen({ host, port: 0, backlog: 2048 }, () => resolve(address().port)));
}

async function usher() {
  const { logTo, routes } = await import("../../apps/usher.mjs");
  const { serve } = await import("usher-http/node");
  logTo("off");
  return (await serve(routes, { host, port: 0, maxConnections: 20_000 })).port;
}
