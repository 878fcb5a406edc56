/**
 * Runs the tests several times while other processes keep the processor busy, and prints how often they passed:
 * `npm run test:loaded -- [runs = 3] [busy processes = 4]`. A test that fails here waits for time and not for an event.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const [runs = 3, busy = 4] = process.argv.slice(2).map(Number);
const root = fileURLToPath(new URL("..", import.meta.url));
// Names the tests that failed, and those that were skipped.
const runEnd = `--reporter=${fileURLToPath(new URL("../test/support/run-end.ts", import.meta.url))}`;
// The tests wait longer, as the processes that keep the processor busy have just begun.
process.env["USHER_PATIENCE"] ??= String(2 * (1 + busy));

// Each ends by itself after this process, even if that was killed.
const spin = "const parent = process.ppid; while (process.ppid === parent) for (let i = 0; i < 1e8; i++);";
const spinning = Array.from({ length: busy }, () => spawn(process.execPath, ["-e", spin], { stdio: "ignore" }));

let passed = 0;
for (let run = 1; run <= runs; run++) {
  const start = performance.now();
  const [status] = await once(
    spawn("npx", ["vitest", "run", "--reporter=dot", runEnd], {
      cwd: root,
      stdio: "inherit",
    }),
    "close",
  );
  const minutes = ((performance.now() - start) / 60_000).toFixed(1);
  const verdict = status === 0 ? "passed" : "FAILED";
  console.log(`run ${run} of ${runs} beside ${busy} busy processes: ${verdict} in ${minutes} min`);
  if (status === 0) passed++;
}
for (const child of spinning) child.kill("SIGKILL");
if (passed < runs) process.exitCode = 1;
