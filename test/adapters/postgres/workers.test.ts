import { join } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { startPostgres } from "../../support/postgres/database.ts";
import { start } from "../workers/running.ts";

const server = await startPostgres();

/** The program as a Worker's bundler leaves it: the package `postgres` has a build for workerd. */
async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "worker.ts")],
    tsconfigRaw: {},
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker"],
    external: ["node:*", "cloudflare:*"],
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

it("a Worker runs statements through a pool of each request's own", async () => {
  const running = await start(await bundled(), { flags: ["nodejs_compat"], bindings: { DATABASE: server.url() } });
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
