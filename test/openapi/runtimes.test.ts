/** The document and its page on each runtime. Scalar's script is from its package where there are files, and given on Workers. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bundle, start } from "../adapters/workers/running.ts";
import { programRuntimes, runtimes } from "../support/runtimes.ts";

const program = join(import.meta.dirname, "program.mjs");
const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-read", "--allow-env"];

// The paths of tsconfig.json lead Bun to the source, where the text of the reader is not.
const bun = ["--tsconfig-override", join(import.meta.dirname, "../../examples/tsconfig.json")];
const flags: { readonly [runtime: string]: readonly string[] } = { bun, deno };

describe("the docs routes", () => {
  it.each(programRuntimes)("are served by %s, with Scalar's script from its package", async (runtime) => {
    const { stdout } = await promisify(execFile)(runtimes[runtime](), [...(flags[runtime] ?? []), program], {
      cwd: import.meta.dirname,
    });
    expect(JSON.parse(stdout)).toEqual({
      "/openapi.json": [200, "gzip", false],
      "/docs": [200, null, false],
      "/docs/reader.js": [200, "gzip", true],
      "/docs/start.js": [200, null, false],
      "/scalar/reader.js": [200, "gzip", true],
    });
  });

  it("are served by a Worker, which is given Scalar's script, and reports when it is missing", async () => {
    const contents = `
      import { Openapi, Path, Returns, get } from "usher-http";
      import { worker } from "../../../adapters/workers/index.ts";
      const hello = get(Path.root, { returns: Returns.text }, () => "hi");
      export default worker([
        ...Openapi.docs([hello], { title: "Hello" }),
        ...Openapi.docs([hello], { document: Path.of("given.json"), at: Path.of("given"), script: () => "the script" }),
        ...Openapi.docs([hello], { document: Path.of("other.json"), at: Path.of("other"), script: "scalar" }),
      ]);`;
    const { client, line } = await start(await bundle({ contents }));
    const ask = async (path: string) => (await client()).ask(`GET ${path}`).answer();
    expect(JSON.parse((await ask("/openapi.json")).body)).toMatchObject({ info: { title: "Hello" } });
    expect((await ask("/docs/reader.js")).body).toContain("usherReader");
    expect((await ask("/given/reader.js")).body).toBe("the script");
    expect((await ask("/other/reader.js")).status).toBe(500);
    const remedy = "install @scalar/api-reference, or give Openapi.docs its script as a function";
    expect((await ask("/other/start.js")).body).toContain(remedy);
    await line(`GET /other/reader.js: internal: the script of Openapi.docs could not be read: ${remedy}`);
  });
});
