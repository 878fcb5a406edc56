/** Failures around a request, on every runtime that has its own servers: releases, commits and tasks after the answer. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { ends } from "./scoped-ends.ts";
import { waitMs } from "../support/patience.ts";

const program = join(import.meta.dirname, "scoped-program.ts");

it.each([
  { runtime: "the newest Node", command: runtimes["node-newest"](), args: [program] },
  { runtime: "Bun", command: runtimes.bun(), args: [program] },
  { runtime: "Deno", command: runtimes.deno(), args: ["run", "-A", program] },
])(
  "a value that is acquired for a request is released, however the request ends, on $runtime",
  async ({ command, args }) => {
    const { stdout } = await promisify(execFile)(command, args, { cwd: join(program, "../../.."), timeout: waitMs() });
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual(ends);
  },
);
