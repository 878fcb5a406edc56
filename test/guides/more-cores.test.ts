/** The page on more than one core: processes that share a port. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("more-cores");

it("cluster.ts answers from several processes, and ends with SIGTERM", async () => {
  const program = await guide.start("cluster.ts", { PORT: "0" });
  const answered = new Set<string>();
  await eventually(async () => {
    const who = await fetch(`${program.url}/who`, { headers: { connection: "close" } });
    answered.add(await who.text());
    expect(answered.size).toBeGreaterThan(1);
  });
  expect(await program.stop()).toBe(0);
});

it("cluster.ts does not restart a process that cannot listen, and ends", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const env = { ...process.env, PORT: `${(other.address() as AddressInfo).port}` };
  const { status, stderr } = spawnSync(process.execPath, [guide.path("cluster.ts")], { env, timeout: 30_000 });
  other.close();
  expect(status).toBe(1);
  expect(stderr.toString().match(/is taken/g)).toHaveLength(availableParallelism());
});
