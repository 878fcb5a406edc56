/** What a program prints whose start fails after it has opened a pool, a relay and a hub: the cause, once, and nothing before it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { builtProgram } from "../../support/built-program.ts";
import { startPostgres } from "../../support/postgres/database.ts";
import { isWide } from "../../support/wide.ts";
import { commands } from "./commands.ts";

const server = await startPostgres();
const program = await builtProgram(join(import.meta.dirname, "failed-start-program.ts"));
const holder = createServer().listen(0, "127.0.0.1");
await once(holder, "listening");
const { port } = holder.address() as AddressInfo;

const taken = /serve: port \d+ of localhost is taken: stop the program that has it, or set another one/;

describe.each(commands)("on %s", (runtime, command) => {
  it.each<readonly [way: string, cause: RegExp]>([
    ["a taken port", taken],
    // It waits 5 s.
    ...(isWide || runtime === "Node"
      ? [["a taken port, with a connection that is borrowed for ever", taken] as const]
      : []),
    ["a pool that cannot be opened", /FATAL 3D000/],
    ["an error before serve", /rror: the secret is too short/],
    ["statements that are not of the database", /nowhere/],
  ])("%s", async (way, cause) => {
    const [file = "", ...flags] = command();
    // Both outputs in their order.
    const args = ["-c", 'exec "$0" "$@" 2>&1', file, ...flags, program, server.url(), way, String(port)];
    const child = spawn("sh", args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NO_COLOR: "1" } });
    const [printed, [status]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    const lines = printed.split("\n").filter((line) => cause.test(line));
    expect(lines, printed).toHaveLength(1);
    expect(printed.slice(0, printed.search(cause))).not.toMatch(/logger\.name|framework\./);
    expect(status).toBe(1);
  });

  it("a signal while it starts ends it, and nothing is printed", async () => {
    const [file = "", ...flags] = command();
    const args = ["-c", 'exec "$0" "$@" 2>&1', file, ...flags, program, server.url(), "a signal while it starts"];
    const child = spawn("sh", args, { stdio: ["ignore", "pipe", "inherit"] });
    const [printed, [status, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    expect([printed, status, signal]).toEqual(["", null, "SIGTERM"]);
  });
});
