/** `serve.mjs <candidate>`: one server; sends its port and then its resource usage. */
import { candidates } from "./candidates.mjs";

const port = await candidates[process.argv[2]].start();
process.on("message", (asked) => {
  if (asked === "stop") process.exit();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
process.send?.({ port });
