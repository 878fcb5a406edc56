import { expect, it } from "vitest";
import { startPostgres } from "../../support/postgres/database.ts";
import { start } from "../workers/running.ts";
import { bundledWorker } from "./bundled-worker.ts";

const server = await startPostgres();

it("a Worker runs statements through a pool of each request's own", async () => {
  const running = await start(await bundledWorker("worker.ts"), {
    flags: ["nodejs_compat"],
    bindings: { DATABASE: server.url() },
  });
  const client = await running.client();
  for (let n = 1; n <= 5; n++) {
    const answered = await client.ask(`GET /?n=${n}`).answer();
    expect([answered.status, answered.body]).toEqual([200, String(n + 1)]);
  }
  const together = Array.from({ length: 8 }, async (_, n) => {
    return (await (await running.client()).ask(`GET /?n=${n}`).answer()).body;
  });
  expect(await Promise.all(together)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
});
