/** The page on more than one core: processes that share a port. */
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openGuide } from "./project.ts";

it("cluster.ts answers by several processes, and ends with SIGTERM", async () => {
  const guide = openGuide("more-cores");
  const program = await guide.start("cluster.ts", { PORT: "0" });
  const answered = new Set<string>();
  await eventually(async () => {
    const who = await fetch(`${program.url}/who`, { headers: { connection: "close" } });
    answered.add(await who.text());
    expect(answered.size).toBeGreaterThan(1);
  });
  expect(await program.stop()).toBe(0);
});
