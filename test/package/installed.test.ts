/** The package in the project of a user, who has it from a registry, by each package manager: its command, and the README's start. */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Miniflare } from "../support/miniflare.ts";
import { need } from "../support/needs.ts";
import { runtimes } from "../support/runtimes.ts";
import { isWide } from "../support/wide.ts";
import { onPath, openProjects } from "./projects.ts";
import type { Project, Projects } from "./projects.ts";
import { answers, commandsOf, greeting, helloPrograms, program, worker, wrangler } from "./readme.ts";

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

const curl = need("curl", spawnSync("curl", ["--version"]).status === 0);
const newest = runtimes["node-newest"]();
const node = { node: newest, npm: onPath("npm"), npx: onPath("npx") };
const bun = { bun: runtimes.bun(), bunx: runtimes.bun() };
const deno = { deno: runtimes.deno() };

let projects: Projects;
/** Those that have the package, by their name: each is installed once. */
const installed = new Map<string, Project>();
beforeAll(async () => {
  projects = await openProjects();
});
afterAll(() => projects.remove());

async function project(
  name: string,
  commands: { readonly [command: string]: string },
  runtime: string,
): Promise<Project> {
  const known = installed.get(name);
  if (known !== undefined) return known;
  const opened = projects.open(name, commands);
  expect(await opened.run(commandsOf(runtime).install)).toMatchObject({ code: 0 });
  installed.set(name, opened);
  return opened;
}

describe("the README's start", () => {
  /** The output of the README's curl commands, and the output that it promises. */
  async function compare(url: string): Promise<void> {
    expect(answers.length).toBeGreaterThan(1);
    for (const [command, answer] of answers) {
      const here = command.replace("localhost:8080", new URL(url).host);
      const { stdout } = await promisify(execFile)("sh", ["-c", here]);
      expect(JSON.parse(stdout)).toEqual(JSON.parse(answer));
    }
  }

  it.skipIf(curl.isSkipped).each([
    { runtime: "Node", name: "node", commands: node, from: "node" },
    { runtime: "Bun", name: "bun", commands: bun, from: "node" },
    { runtime: "Bun", name: "bun", commands: bun, from: "bun" },
    { runtime: "Deno", name: "deno", commands: deno, from: "node" },
    { runtime: "Deno", name: "deno", commands: deno, from: "deno" },
  ])(`works on $runtime with usher-http/$from${curl.why}`, async ({ runtime, name, commands, from }) => {
    const opened = await project(name, commands, runtime);
    const served = program.replace("usher-http/node", `usher-http/${from}`).replace("port: 8080", "port: 0");
    opened.write("server.ts", served);
    const server = await opened.serve(commandsOf(runtime).run);
    await compare(server.url);
    await server.stop();
  });

  it.skipIf(curl.isSkipped)(`begins with a program that answers as it shows${curl.why}`, async () => {
    const [first = "", ofInstall] = helloPrograms;
    expect(ofInstall).toBe(first);
    const opened = await project("node", node, "Node");
    opened.write("server.ts", first.replace("port: 8080", "port: 0"));
    const server = await opened.serve(commandsOf("Node").run);
    const [command, answer] = greeting;
    const here = command.replace("localhost:8080", new URL(server.url).host);
    const { stdout } = await promisify(execFile)("sh", ["-c", here]);
    expect(stdout).toBe(answer.trim());
    await server.stop();
  });

  it.skipIf(curl.isSkipped)(`works on Node 20 as server.mjs${curl.why}`, async () => {
    const opened = await project("node", node, "Node");
    opened.write("server.mjs", program.replace("port: 8080", "port: 0"));
    const server = await opened.serve(`${runtimes["node-oldest"]()} server.mjs`);
    await compare(server.url);
    await server.stop();
  });

  // `wrangler dev` does this: it bundles by esbuild and runs workerd by Miniflare. Wrangler itself is 100 MB more to install.
  it.skipIf(curl.isSkipped)(`works on Workers${curl.why}`, async () => {
    const opened = await project("node", node, "Node");
    const main = /^main = "(.+)"$/m.exec(wrangler)?.[1] ?? "";
    opened.write(main, worker);
    const bundled = await build({
      entryPoints: [join(opened.cwd, main)],
      conditions: ["workerd", "worker", "browser"],
      external: ["node:*"],
      bundle: true,
      write: false,
      format: "esm",
      logLevel: "silent",
    });
    const miniflare = new Miniflare({
      handleRuntimeStdio: (out, err) => void [out, err].map((stream) => stream.resume()),
      modules: true,
      script: bundled.outputFiles[0]?.text ?? "",
      compatibilityDate: /^compatibility_date = "(.+)"$/m.exec(wrangler)?.[1] ?? "",
      compatibilityFlags: JSON.parse(/^compatibility_flags = (.+)$/m.exec(wrangler)?.[1] ?? "") as string[],
    });
    await compare((await miniflare.ready).href);
    await miniflare.dispose();
  });
});

describe("usher, as a user types it", () => {
  it.each([
    {
      manager: "npm",
      name: "node",
      commands: node,
      runtime: "Node",
      ways: ["npx usher-http", "node_modules/.bin/usher", "npx usher"],
    },
    {
      manager: "Bun, and no Node",
      name: "bun",
      commands: bun,
      runtime: "Bun",
      ways: ["bunx usher-http", "bun run usher"],
    },
    {
      manager: "Bun, beside a Node that runs no TypeScript",
      name: "bun-beside-node",
      commands: { node: runtimes["node-oldest"](), ...bun },
      runtime: "Bun",
      ways: ["bunx --bun usher-http", "bun --bun run usher"],
    },
    {
      manager: "Deno",
      name: "deno",
      commands: deno,
      runtime: "Deno",
      ways: ["deno run -A npm:usher-http", "deno task usher"],
    },
  ])("runs by $manager", async ({ name, commands, runtime, ways }) => {
    const opened = await project(name, commands, runtime);
    const { cwd, run } = opened;
    opened.write("server/routes.ts", module);
    if (name === "deno") {
      const settings = JSON.parse(readFileSync(join(cwd, "deno.json"), "utf8")) as object;
      opened.write("deno.json", JSON.stringify({ ...settings, tasks: { usher: "deno run -A npm:usher-http" } }));
    }
    // Every command in each of the ways; the usual run takes them in turn: `npx` alone takes 0.4 s of processor time.
    for (const some of isWide ? ways.map((way) => [way]) : [ways]) {
      let turn = 0;
      const usher = (line: string) => run(`${some[turn++ % some.length]} ${line}`);
      expect(await usher("routes server/routes.ts")).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^POST +\/orders\s+(?:reads +)?json:Order\s+(?:answers +)?200 json:Order\s/m),
      });
      expect(await usher("openapi server/routes.ts -o openapi.json")).toMatchObject({ code: 0 });
      const text = readFileSync(join(cwd, "openapi.json"), "utf8");
      expect(JSON.parse(text)).toMatchObject({ components: { schemas: { Order: { type: "object" } } } });
      expect(await usher("openapi server/routes.ts --check openapi.json")).toMatchObject({
        code: 0,
        stdout: "",
      });
      opened.write("openapi.json", text.replace('"3.2.0"', '"3.1.0"'));
      expect(await usher("openapi server/routes.ts --check openapi.json")).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('~ /openapi "3.1.0" is now "3.2.0"\n'),
        stderr: expect.stringContaining("openapi.json is not what the routes make: generate it again"),
      });
      expect(await usher("client server/routes.ts -o client.ts")).toMatchObject({ code: 0 });
      expect(readFileSync(join(cwd, "client.ts"), "utf8")).toContain('readonly "POST /orders": RouteCall<');
      expect(await usher("call server/routes.ts GET /orders")).toMatchObject({ code: 0, stdout: "[]" });
      expect((await usher("nothing")).code).toBe(2);
    }
    const server = await opened.serve(`${name === "node" ? ways[1] : ways[0]} dev server/routes.ts --port 0`);
    expect(await (await fetch(`${server.url}/orders`)).json()).toEqual([]);
    await server.stop();
  });
});
