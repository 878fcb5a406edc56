/** A hash that one runtime made is verified by the others. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Password } from "usher-http";
import { Miniflare } from "../support/miniflare.ts";
import { report } from "../support/password-runtimes.ts";
import { runtimes } from "../support/runtimes.ts";

const run = promisify(execFile);
const passwords = Password.make({ cost: { log2N: 10, r: 8, p: 3 } });
const password = "Bj\u00f6rn\0";
let folder: string;
let stored: string;

async function bundle(stdin: string, outfile: string): Promise<void> {
  await build({
    stdin: { contents: stdin, resolveDir: join(import.meta.dirname, "../support"), loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "silent",
    external: ["@opentelemetry/*", "prom-client"],
  });
}

beforeAll(async () => {
  // Within the repository, so that what it needs is found.
  folder = await mkdtemp(join(import.meta.dirname, "../../node_modules/.passwords-"));
  stored = await passwords.hash(password);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  const main = `import { report } from "./password-runtimes.ts";
    const given = globalThis.Deno?.args[0] ?? process.argv[2];
    console.log(await report(given));`;
  await bundle(main, join(folder, "main.js"));
});
afterAll(() => rm(folder, { recursive: true }));

async function expectPortable(reported: string): Promise<void> {
  const [right, wrong, made = ""] = reported.trim().split(" ");
  expect([right, wrong]).toEqual(["true", "false"]);
  expect(await passwords.verify(made, password)).toEqual({ isRight: true, needsRehash: false });
}

describe("a hash of another runtime", () => {
  it.each([
    ["node-oldest", []],
    ["node-24", []],
    ["bun", []],
    ["deno", ["run", "--allow-all"]],
  ] as const)("is verified on %s", async (runtime, before) => {
    const { stdout } = await run(runtimes[runtime](), [...before, join(folder, "main.js"), stored]);
    await expectPortable(stdout);
  });

  it("is verified where it was made", async () => expectPortable(await report(stored)));

  it("is verified on Workers", async () => {
    const worker = `import { report } from "./password-runtimes.ts";
      export default { fetch: async (request) => new Response(await report(await request.text())) };`;
    const file = join(folder, "worker.js");
    await bundle(worker, file);
    const { readFile } = await import("node:fs/promises");
    const miniflare = new Miniflare({
      modules: true,
      script: await readFile(file, "utf8"),
      compatibilityDate: "2026-01-01",
      compatibilityFlags: ["nodejs_compat"],
    });
    try {
      const answer = await miniflare.dispatchFetch("http://worker/", { method: "POST", body: stored });
      await expectPortable(await answer.text());
    } finally {
      await miniflare.dispose();
    }
  });
});
