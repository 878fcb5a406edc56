/** The connection of a rate store and of a store of idempotency keys. */
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { spawn } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { builtProgram } from "../../support/built-program.ts";
import { RedisServer, ownRedis } from "../../support/redis.ts";
import { runtimes } from "../../support/runtimes.ts";
import { rows } from "../../support/wide.ts";

const program = join(import.meta.dirname, "store-program.ts");

const commands: { readonly [runtime: string]: () => readonly string[] } = {
  node: () => [runtimes["node-newest"]()],
  bun: () => [runtimes.bun()],
  deno: () => [runtimes.deno(), "run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt", "-A"],
};

describe.skipIf(ownRedis.isSkipped)(`a server that is away${ownRedis.why}`, { timeout: 60_000 }, () => {
  it.each(rows(["node"], ["bun", "deno"]))("keeps no process running: %s", async (runtime) => {
    const own = await RedisServer.start();
    const [binary = "", ...flags] = commands[runtime]?.() ?? [];
    const child = spawn(binary, [...flags, await builtProgram(program), own.url], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const told = text(child.stdout);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await own.stop();
    expect(await told).toBe("there\naway\n");
  });
});
