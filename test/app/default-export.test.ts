/** A module whose default export is an app is served by each runtime that serves such modules. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, it } from "vitest";
import { bundle, start } from "../adapters/workers/running.ts";
import { RawClient, leaveAll } from "../support/raw-client.ts";
import { runtimes } from "../support/runtimes.ts";

const program = join(import.meta.dirname, "../support/spawned/default-export.ts");

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  leaveAll();
  await Promise.all(ends.splice(0).map((end) => end()));
});

/** The port that a runtime prints; its output if it ends before. */
async function portOf([binary, ...args]: readonly [string, ...string[]], env: object = {}): Promise<number> {
  const child = spawn(binary, [...args, program], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env, NO_COLOR: "1" },
  });
  const ended = once(child, "close");
  ends.push(() => {
    child.kill("SIGKILL");
    return ended;
  });
  const told: string[] = [];
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on("line", (line) => {
        told.push(line);
        const port = /https?:\/\/[^/\s]*:(\d+)/.exec(line)?.[1];
        if (port !== undefined) resolve(Number(port));
      });
    }
    void ended.then(() => reject(new Error(`it ended and served nothing; it said ${told.join("\n")}`)));
  });
}

async function greets(port: number): Promise<void> {
  const client = await RawClient.to(port);
  expect((await client.ask("GET /hello/kim").answer()).body).toBe("Hello, kim.");
  expect((await client.ask("GET /nowhere").answer()).status).toBe(404);
}

const served: { readonly [command: string]: () => Promise<number> } = {
  "bun run": () => portOf([runtimes.bun(), "run"], { BUN_PORT: "0" }),
  bun: () => portOf([runtimes.bun()], { BUN_PORT: "0" }),
  "deno serve": () => portOf([runtimes.deno(), "serve", "--host=127.0.0.1", "--port=0"]),
};

it.each(Object.entries(served))("`%s` serves it", async (_command, serve) => {
  await greets(await serve());
});

// Deno joins `Host` and target to a URL as they are, and Bun gives no URL without a valid `Host`.
it.each(Object.entries(served))("`%s` serves each path to a request for it alone", async (_command, serve) => {
  const port = await serve();
  const answers = async (...lines: readonly string[]): Promise<number> => {
    const client = await RawClient.to(port);
    return (await client.send(...lines, "", "").answer()).status;
  };
  expect(await answers("GET /hello/kim HTTP/1.0")).toBe(200);
  expect(await answers("GET /a/hello/kim HTTP/1.0")).toBe(404);
  expect(await answers("GET /a/hello/kim HTTP/1.1", "host:")).toBe(404);
  expect(await answers("GET /kim HTTP/1.1", "host: h/hello")).toBe(400);
  expect(await answers("GET /a/hello/kim HTTP/1.1", "host: h|")).toBe(400);
  expect(await answers("GET http://h?/hello/kim HTTP/1.1", "host: h")).toBe(404);
});

// Deno's signal aborts after each response.
it.each(Object.entries(served))("`%s` serves it: a client that got its answer is not gone", async (_command, serve) => {
  const client = await RawClient.to(await serve());
  for (const path of ["/left", "/left/streamed", "/left/streamed", "/left"]) {
    expect((await client.ask(`GET ${path}`).answer()).body).toBe("0");
  }
});

it("`workerd` serves it", async () => {
  const { client } = await start(await bundle({ file: "../../support/spawned/default-export.ts" }));
  expect((await (await client()).ask("GET /hello/kim").answer()).body).toBe("Hello, kim.");
});

it("another module can import and serve it", async () => {
  const { default: app } = await import("../support/spawned/default-export.ts");
  expect(await (await app.fetch(new Request("http://h/hello/kim"))).text()).toBe("Hello, kim.");
});
