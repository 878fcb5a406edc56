/** Loaded before a program of `usher dev --program`: ends it with `usher dev`, also where that was killed. */
import process from "node:process";
import { isMainThread } from "node:worker_threads";

/** How long the program may take to end by itself. */
const stopMs = 3000;

if (`?${process.ppid}` !== new URL(import.meta.url).search) {
  // The program forked this process, which would send the program the names of the files that it imports.
  delete process.env["WATCH_REPORT_DEPENDENCIES"];
} else if (isMainThread) {
  // Without it, the listener would keep a program alive that has nothing more to do.
  process.channel?.unref();
  process.once("disconnect", () => {
    setTimeout(() => process.exit(1), stopMs).unref();
    process.kill(process.pid, "SIGTERM");
  });
}
