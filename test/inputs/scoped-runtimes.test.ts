/** What goes wrong around a request, on every runtime that has servers of its own: releases, commits and tasks after the answer. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";

const program = join(import.meta.dirname, "scoped-program.ts");

it.each([
  { runtime: "the newest Node", command: runtimes["node-newest"](), args: [program] },
  { runtime: "Bun", command: runtimes.bun(), args: [program] },
  { runtime: "Deno", command: runtimes.deno(), args: ["run", "-A", program] },
])("what is acquired for a request is released, however it ends, on $runtime", async ({ command, args }) => {
  const { stdout } = await promisify(execFile)(command, args, { cwd: join(program, "../../.."), timeout: 240_000 });
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    answered: ["x", ["inner: answered 200", "outer: answered 200"], []],
    refused: ["sold_out", ["outer: refused 409"], []],
    raised: ["internal", ["outer: failed 500"], ["GET /raised: internal: it raised"]],
    half: ["internal", ["outer: failed 500"], ["GET /half: internal: it raised"]],
    "release-raises": [
      "x",
      ["bad: answered 200", "outer: answered 200"],
      ["GET /release-raises: the release of an input raised"],
    ],
    "release-hangs": [
      "x",
      ["slow: answered 200", "outer: answered 200"],
      ["GET /release-hangs: the release of an input has not ended in 10s"],
    ],
    "after-fails": ["x", ["the next task"], ["GET /after-fails: its work after the answer raised"]],
    "too-late": ["timed_out", ["outer: timed out 503"], []],
    commit: [
      "outcome_unknown",
      ["asked to commit", "committed", "outer: timed out 503"],
      ["GET /commit: its handler answered 200 after its deadline, which is not sent"],
    ],
    cut: ["cut", ["outer: failed 200"], ["stream on /cut failed, so its connection is closed"]],
  });
});
