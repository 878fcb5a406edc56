/** The document and its page on each runtime: the script from its package where there are files, and given on Workers. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bundle, start } from "../adapters/workers/running.ts";
import { runtimes } from "../support/runtimes.ts";

const program = join(import.meta.dirname, "program.mjs");
const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-read", "--allow-env"];

describe("the docs routes", { timeout: 300_000 }, () => {
  it.each([
    ["the oldest Node", runtimes["node-oldest"], []],
    ["the newest Node", runtimes["node-newest"], []],
    ["Bun", runtimes.bun, []],
    ["Deno", runtimes.deno, deno],
  ] as const)("are served by %s, the script from its package", async (_name, binary, flags) => {
    const { stdout } = await promisify(execFile)(binary(), [...flags, program], { cwd: import.meta.dirname });
    expect(JSON.parse(stdout)).toEqual({
      "/openapi.json": [200, "gzip", false],
      "/docs": [200, null, false],
      "/docs/scalar.js": [200, "gzip", true],
      "/docs/start.js": [200, null, false],
    });
  });

  it("are served by a Worker, which is given the script, and told where it is not", async () => {
    const contents = `
      import { Openapi, Path, Returns, get } from "usher-http";
      import { worker } from "../../../adapters/workers/index.ts";
      const hello = get(Path.root, { returns: Returns.text }, () => "hi");
      export default worker([
        ...Openapi.docs([hello], { title: "Hello", script: () => "the script" }),
        ...Openapi.docs([hello], { document: Path.of("other.json"), at: Path.of("other") }),
      ]);`;
    const { client, line } = await start(await bundle({ contents }));
    const ask = async (path: string) => (await client()).ask(`GET ${path}`).answer();
    expect(JSON.parse((await ask("/openapi.json")).body)).toMatchObject({ info: { title: "Hello" } });
    expect((await ask("/docs/scalar.js")).body).toBe("the script");
    expect((await ask("/other/scalar.js")).status).toBe(500);
    const said =
      "the script of Openapi.docs could not be read: install @scalar/api-reference, or give the option script";
    await line(`GET /other/scalar.js: internal: ${said}`);
  });
});
