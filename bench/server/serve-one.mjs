/** Starts a server; sends its port, and its resource usage on each message. @param {import("./candidates.mjs").Candidate} candidate */
export async function serveOne(candidate) {
  const port = await candidate.start();
  // Its parent may have been killed.
  process.once("disconnect", () => process.exit());
  process.on("message", (asked) => {
    if (asked === "stop") process.exit();
    if (asked === "settle") collect();
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system, peakRss: process.resourceUsage().maxRSS * 1024 });
  });
  process.send?.({ port });
}

function collect() {
  const { Bun, gc } = /** @type {any} */ (globalThis);
  if (Bun !== undefined) Bun.gc(true);
  else gc?.();
}
