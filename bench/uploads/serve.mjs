/** `node serve.mjs <candidate>`: one server; sends its port, and its resource usage on each message. */
import { candidates } from "./candidates.mjs";

const port = await candidates[process.argv[2]].start();
process.once("disconnect", () => process.exit());
process.on("message", (asked) => {
  if (asked === "stop") process.exit();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, rss: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 });
});
process.send?.({ port });
