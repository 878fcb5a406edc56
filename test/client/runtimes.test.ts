/** The typed client on other runtimes. In a browser it is tested by the example's page. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";

const program = join(import.meta.dirname, "program.ts");

describe("Client.of", () => {
  it.each([
    { runtime: "the newest Node", command: runtimes["node-newest"](), args: [program] },
    { runtime: "Bun", command: runtimes.bun(), args: [program] },
    { runtime: "Deno", command: runtimes.deno(), args: ["run", program] },
  ])("calls, and follows a stream that is cut off, on $runtime", async ({ command, args }) => {
    const { stdout } = await promisify(execFile)(command, args, { cwd: join(program, "../../..") });
    const seen = ["pen", ["body.item"], "a b,ü", "hello", "1", 1, "1", 2];
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual(seen);
  });
});
