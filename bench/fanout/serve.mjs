/** `node serve.mjs <candidate>`: one server; sends its port and then its resource usage; publishes on a message. */
import { candidates } from "./candidates.mjs";

const { port, publish } = await candidates[process.argv[2]].start();
process.once("disconnect", () => process.exit());
process.on("message", (asked) => {
  if (asked === "stop") process.exit();
  if (asked === "settle") globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ cpu: user + system, rss, held: heapUsed + external });
  if (asked === "publish") publish("x".repeat(200));
});
process.send?.({ port });
