/** `usher` as its user types it: in a project of its own that has the package from a registry, by each package manager. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { root } from "./packed.ts";
import { dependencies, startRegistry } from "./registry.ts";
import type { Registry } from "./registry.ts";

const module = `
import { Codec, Path, Query, Returns, Shape, get, json, post } from "usher-http";
import type { Route } from "usher-http";
import * as v from "valibot";

const Order = Shape.named("Order", v.object({ id: v.number(), item: v.string() }));
const page = Query.default("page", Codec.int, 1);

export const routes = [
  get(Path.of("orders"), { inputs: { page }, returns: Returns.json(v.array(Order)) }, () => []),
  post(Path.of("orders"), { inputs: { order: json(Order) }, returns: Returns.json(Order) }, ({ order }) => order),
] as const satisfies readonly Route[];
`;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe("usher, as it is typed", { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "usher-typed-"));
  let registry: Registry;
  beforeAll(async () => {
    registry = await startRegistry(root, ...dependencies);
  }, 60_000);
  afterAll(() => {
    registry.close();
    rmSync(folder, { recursive: true });
  });

  /** A shell that has of all runtimes this one alone, and a cache of its own. */
  function shellWith(binaries: { readonly [name: string]: string }, project: string) {
    const bin = join(folder, `${project}-bin`);
    mkdirSync(bin);
    for (const [name, file] of Object.entries({ sh: "/bin/sh", env: "/usr/bin/env", ...binaries })) {
      symlinkSync(file, join(bin, name));
    }
    const cwd = join(folder, project);
    mkdirSync(join(cwd, "server"), { recursive: true });
    writeFileSync(join(cwd, "server/routes.ts"), module);
    const env = {
      PATH: bin,
      HOME: folder,
      npm_config_registry: registry.url,
      NPM_CONFIG_REGISTRY: registry.url,
      npm_config_cache: join(folder, "npm"),
      npm_config_update_notifier: "false",
      BUN_INSTALL_CACHE_DIR: join(folder, "bun"),
      DENO_DIR: join(folder, "deno"),
      DENO_NO_UPDATE_CHECK: "1",
      NO_COLOR: "1",
    };
    const run = async (line: string): Promise<Ended> => {
      const ended = promisify(execFile)("/bin/sh", ["-c", line], { cwd, env });
      return ended.then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        (error: Ended) => error,
      );
    };
    return { cwd, run };
  }

  const newest = runtimes["node-newest"]();
  it.each([
    {
      manager: "npm",
      binaries: { node: newest, npm: onPath("npm"), npx: onPath("npx") },
      files: { "package.json": '{ "private": true, "type": "module" }' },
      install: "npm install usher-http valibot",
      ways: ["npx usher", "npm exec usher --"],
    },
    {
      manager: "Bun, and no Node",
      binaries: { bun: runtimes.bun(), bunx: runtimes.bun() },
      files: { "package.json": '{ "private": true, "type": "module" }' },
      install: "bun add usher-http valibot",
      ways: ["bunx usher", "bun run usher"],
    },
    {
      manager: "Bun, beside a Node that runs no TypeScript",
      binaries: { node: runtimes["node-oldest"](), bun: runtimes.bun(), bunx: runtimes.bun() },
      files: { "package.json": '{ "private": true, "type": "module" }' },
      install: "bun add usher-http valibot",
      ways: ["bunx --bun usher", "bun --bun run usher"],
    },
    {
      manager: "Deno",
      binaries: { deno: runtimes.deno() },
      files: {
        "deno.json": JSON.stringify({
          imports: { "usher-http": "npm:usher-http@*", valibot: "npm:valibot@*" },
          tasks: { usher: "deno run -A npm:usher-http/usher" },
        }),
      },
      install: undefined,
      ways: ["deno run -A npm:usher-http/usher", "deno task usher"],
    },
  ])("runs by $manager", async ({ manager, binaries, files, install, ways }) => {
    const { cwd, run } = shellWith(binaries, manager.replaceAll(/[ ,]+/g, "-"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    if (install !== undefined) expect(await run(install)).toMatchObject({ code: 0 });
    for (const usher of ways) {
      expect(await run(`${usher} routes server/routes.ts`)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^POST +\/orders +json:Order +200 json:Order /m),
      });
      expect(await run(`${usher} openapi server/routes.ts -o openapi.json`)).toMatchObject({ code: 0 });
      const text = readFileSync(join(cwd, "openapi.json"), "utf8");
      expect(JSON.parse(text)).toMatchObject({ components: { schemas: { Order: { type: "object" } } } });
      expect(await run(`${usher} openapi server/routes.ts --check openapi.json`)).toMatchObject({
        code: 0,
        stdout: "",
      });
      writeFileSync(join(cwd, "openapi.json"), text.replace('"3.2.0"', '"3.1.0"'));
      expect(await run(`${usher} openapi server/routes.ts --check openapi.json`)).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('~ /openapi "3.1.0" is now "3.2.0"\n'),
        stderr: expect.stringContaining("openapi.json is not what the routes make: generate it again"),
      });
      expect(await run(`${usher} client server/routes.ts -o client.ts`)).toMatchObject({ code: 0 });
      expect(readFileSync(join(cwd, "client.ts"), "utf8")).toContain('readonly "POST /orders": (');
      expect((await run(`${usher} nothing`)).code).toBe(2);
    }
  });
});

/** Where a program of this machine's Node is. */
function onPath(name: string): string {
  return join(dirname(process.execPath), name);
}
