/** `serve.mjs <set> <candidate> <folder>`: one server; sends its port, and its resource usage on each message. */
import { candidates } from "./candidates.mjs";

const [, , set = "", who = "", folder = ""] = process.argv;
const port = await candidates[set][who].start(folder);
process.once("disconnect", () => process.exit());
process.on("message", (asked) => {
  if (asked === "stop") process.exit();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, rss: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 });
});
process.send?.({ port });
