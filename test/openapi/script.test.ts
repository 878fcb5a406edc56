/** The scripts of the docs page where no package is installed: Scalar's is refused when the app is made, on every runtime that can tell. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { App, Openapi } from "usher-http";
import { unpack } from "../package/tarball.ts";
import { runtimes } from "../support/runtimes.ts";
import "../support/logs.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-script-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A project that has the package as it is built, and of what it needs only what is named. */
function project(name: string, installed: readonly string[]): string {
  const path = join(folder, name);
  const packages = join(path, "node_modules");
  // Unpacked, and not linked: from where a link leads, everything is installed.
  unpack(root, join(packages, "usher-http"));
  for (const one of ["valibot", "@opentelemetry/api", ...installed]) {
    mkdirSync(join(packages, one, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", one), join(packages, one));
  }
  writeFileSync(join(path, "package.json"), '{ "type": "module", "dependencies": { "usher-http": "*" } }');
  writeFileSync(
    join(path, "main.mjs"),
    `import { App, Log, Openapi } from "usher-http";
     Log.setup({ level: undefined });
     const made = (options) => {
       try {
         return App.make(Openapi.docs([], options));
       } catch (error) {
         return { fetch: async () => ({ status: error.message }) };
       }
     };
     const told = [];
     for (const options of [{}, { script: "scalar" }, { script: () => "" }]) {
       told.push((await made(options).fetch(new Request("http://h/docs/reader.js"))).status);
     }
     console.log(JSON.stringify(told));`,
  );
  return path;
}

let without: string;
let beside: string;
beforeAll(() => {
  without = project("without", []);
  beside = project("beside", ["@scalar/api-reference"]);
});

const commands = [
  ["Node", () => [process.execPath]],
  ["the oldest Node", () => [runtimes["node-oldest"]()]],
  ["the newest Node", () => [runtimes["node-newest"]()]],
  ["Bun", () => [runtimes.bun()]],
  ["Deno", () => [runtimes.deno(), "run", "-A", "--quiet"]],
] as const;

async function run(command: readonly string[], cwd: string): Promise<unknown> {
  const [binary = "", ...args] = command;
  const { stdout } = await promisify(execFile)(binary, [...args, "main.mjs"], { cwd });
  return JSON.parse(stdout);
}

const missing =
  "App.make: GET /docs/reader.js has no script: install @scalar/api-reference, or give Openapi.docs its script as a function";

describe.each(commands)("on %s", (_name, command) => {
  it("Scalar without its package is refused when the app is made, and no other page is", async () => {
    expect(await run(command(), without)).toEqual([200, missing, 200]);
  });

  it("Scalar with its package is served", async () => {
    expect(await run(command(), beside)).toEqual([200, 200, 200]);
  });
});

it("a page is built here, where the package is installed", () => {
  expect(() => App.make(Openapi.docs([], { script: "scalar" }))).not.toThrow();
});
