/** `serve.mjs <candidate>`: one server; sends its port and then its resource usage; `settle` collects before. */
import { candidates } from "./candidates.mjs";

const port = await candidates[process.argv[2]].start();
process.once("disconnect", () => process.exit());
process.on("message", (asked) => {
  if (asked === "stop") process.exit();
  if (asked === "settle") /** @type {any} */ (globalThis).gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ cpu: user + system, held: heapUsed + external });
});
process.send?.({ port });
