/** Loaded before a program of `usher dev --program`: ends it with `usher dev`, also where that was killed. */
import process from "node:process";
import { isMainThread } from "node:worker_threads";

/** How long the program may take to end by itself. */
const stopMs = 3000;
const lookMs = 100;

const parent = Number(new URL(import.meta.url).search.slice(1));

if (process.ppid !== parent) {
  // The program forked this process, which would send the program the names of the files that it imports.
  delete process.env["WATCH_REPORT_DEPENDENCIES"];
} else if (isMainThread) {
  // Without it, the listener would keep a program alive that has nothing more to do.
  process.channel?.unref();
  process.once("disconnect", endWithParent);
}

/** The channel closes before the system gives this process another parent. The program may have closed it by itself, too. */
function endWithParent(): void {
  const looking = setInterval(() => {
    if (process.ppid === parent && process.platform !== "win32") return;
    clearInterval(looking);
    setTimeout(() => process.exit(1), stopMs).unref();
    process.kill(process.pid, "SIGTERM");
  }, lookMs).unref();
}
