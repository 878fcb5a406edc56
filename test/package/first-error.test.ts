/** The first error that a new user meets: its log line says which it is, why and where in the program, on every runtime. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programRuntimes, runtimes } from "../support/runtimes.ts";
import { pack } from "./packed.ts";
import type { Packed } from "./packed.ts";

const program = `
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { Log, Path, Returns, Route, Test, get } from "usher-http";

// A port that nothing listens on: fetch refuses the low ones itself.
const free = createServer();
await new Promise((listening) => free.listen(0, "127.0.0.1", listening));
const { port } = free.address();
await new Promise((closed) => free.close(closed));
const text = { returns: Returns.text };
const shop = Route.group({ prefix: Path.of("shop") });
const routes = [
  get(Path.of("file"), text, async () => { await readFile("/s3cret"); return ""; }),
  get(Path.of("given"), text, () => readFile("/s3cret")),
  shop.get(Path.of("file"), text, () => readFile("/s3cret")),
  get(Path.of("fetch"), text, async () => { await fetch("http://127.0.0.1:" + port + "/s3cret"); return ""; }),
  get(Path.of("url"), text, () => String(new URL("s3cret"))),
  get(Path.of("json"), text, () => JSON.parse("s3cret")),
];
const lines = [];
Log.setup({ level: "error", format: "json", out: (line) => lines.push(line) });
const app = Test.app(routes);
for (const { pattern } of routes) await Test.call(app, "GET", pattern);
process.stdout.write("[" + lines.join() + "]");
`;
const lineOf = (text: string): number => program.split("\n").findIndex((line) => line.includes(text)) + 1;

let packed: Packed;
beforeAll(() => {
  packed = pack();
  writeFileSync(join(packed.folder, "first.mjs"), program);
}, 120_000);
afterAll(() => packed.remove());

const args = {
  bun: [],
  deno: ["run", "--no-lock", "--no-prompt", "--allow-all"],
  "node-newest": [],
  "node-oldest": [],
};

describe.each(programRuntimes)("on %s", (name) => {
  it("has the code and the place, and no message", async () => {
    const run = promisify(execFile);
    const { stdout } = await run(runtimes[name](), [...args[name], join(packed.folder, "first.mjs")]);
    expect(stdout).not.toMatch(/s3cret(?!\.ts)/);
    const told = (JSON.parse(stdout) as { readonly [name: string]: string }[]).map((line) => [
      line["url.path"],
      line["error.kind"],
      line["error.code"] ?? line["error.cause.code"],
      /first\.mjs:(\d+)/.exec(line["error.at"] ?? "")?.[1],
    ]);
    const at = (text: string): string => String(lineOf(text));
    // Node 20 gives an error of `node:fs/promises` the frames of async functions alone: here that of the program.
    const atSync = (text: string): string => at(name === "node-oldest" ? "for (const { pattern }" : text);
    expect(told).toEqual([
      ["/file", "Error", "ENOENT", at('"file"), text, async')],
      ["/given", "Error", "ENOENT", atSync('"given"')],
      ["/shop/file", "Error", "ENOENT", atSync("shop.get")],
      ["/fetch", "TypeError", "ECONNREFUSED", at('"fetch"')],
      ["/url", "TypeError", name === "deno" ? undefined : "ERR_INVALID_URL", at('"url"')],
      ["/json", "SyntaxError", undefined, at('"json"')],
    ]);
  });
});
