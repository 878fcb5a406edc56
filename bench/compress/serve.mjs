/** `node serve.mjs <candidate>`: one server; sends its port and then its resource usage. */
import { candidates } from "./candidates.mjs";

const port = await candidates[process.argv[2]].start();
process.once("disconnect", () => process.exit());
process.on("message", async (asked) => {
  if (asked === "stop") process.exit();
  if (asked === "settle") {
    for (let i = 0; i < 4; i++) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, rss: process.memoryUsage.rss() });
});
process.send?.({ port });
