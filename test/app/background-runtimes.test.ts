/** Rows AL on every runtime that has its own servers. Workers have only `after`. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { waitMs } from "../support/patience.ts";

const program = join(import.meta.dirname, "background-program.ts");

it.each([
  { runtime: "the newest Node", command: runtimes["node-newest"](), args: [program] },
  { runtime: "Bun", command: runtimes.bun(), args: [program] },
  { runtime: "Deno", command: runtimes.deno(), args: ["run", "-A", program] },
])("AL-01, AL-03, AL-04, AL-06 and what a stopping server waits for, on $runtime", async ({ command, args }) => {
  const { stdout } = await promisify(execFile)(command, args, { cwd: join(program, "../../.."), timeout: waitMs() });
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    fired: ["19 ms", "second"],
    own: ["GET /begin 200", "job raised", "rang", "working"],
    last: [
      "stopping, with 0 requests in flight",
      "loop ended",
      "stopping, although work in the background has not ended (1): never",
      "stopped",
    ],
    cut: 0,
    set: 0,
  });
});
