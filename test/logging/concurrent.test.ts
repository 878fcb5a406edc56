/** A thousand concurrent requests: every line has the id of the request whose work logged it, on each runtime (row LG-12). */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { bundle, start } from "../adapters/workers/running.ts";
import { builtProgram } from "../support/built-program.ts";
import type { Line } from "../support/logs.ts";
import { RawClient } from "../support/raw-client.ts";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";

const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt", "--allow-all"];
const commands = {
  node: () => [runtimes["node-newest"]()],
  bun: () => [runtimes.bun()],
  deno: () => [runtimes.deno(), ...deno],
};

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

const requests = 1000;
// Of each: handler, awaited, timer, forked, tagged, carried, three chunks, the access line, and the end of its stream.
const linesOfEach = 11;

/** Sends all requests, at most `atOnce` at a time, each on a connection of its own, and returns the ids of their answers. */
async function askAll(port: number, atOnce = requests): Promise<ReadonlySet<string>> {
  const ids: string[] = [];
  let sent = 0;
  const ask = async (): Promise<void> => {
    while (sent < requests) {
      const asking = request({ host: "127.0.0.1", port, path: `/work?n=${sent++}`, agent: false }).end();
      const [response] = (await once(asking, "response")) as [IncomingMessage];
      expect(await text(response)).toBe("part part part ");
      ids.push(String(response.headers["x-request-id"]));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  expect(ids).toHaveLength(requests);
  return new Set(ids);
}

function check(lines: readonly Line[], ids: ReadonlySet<string>, each: number): void {
  expect(ids.size).toBe(requests);
  const wrong = lines.filter((line) => line["own"] !== undefined && line["own"] !== line["request_id"]);
  expect(wrong).toEqual([]);
  const counts = new Map<unknown, number>();
  const traces = new Map<unknown, Set<unknown>>();
  for (const { request_id: id, trace_id: trace, message } of lines) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    traces.set(id, (traces.get(id) ?? new Set()).add(trace));
    if (!ids.has(String(id))) throw new Error(`${String(message)} is of no request`);
  }
  expect([...counts.values()].every((count) => count === each)).toBe(true);
  expect(counts.size).toBe(requests);
  expect([...traces.values()].every((traces) => traces.size === 1)).toBe(true);
}

/** A server in a process of its own; after its stop, every line that it wrote. */
async function started(runtime: keyof typeof commands) {
  const [binary = "", ...args] = commands[runtime]();
  const program = await builtProgram(join(import.meta.dirname, "concurrent-program.ts"));
  const child = spawn(binary, [...args, program, runtime], { stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  const texts: string[] = [];
  const reading = once(
    createInterface(child.stderr).on("line", (line) => texts.push(line)),
    "close",
  );
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  const stop = async (): Promise<readonly Line[]> => {
    child.kill("SIGTERM");
    await reading;
    return texts.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as Line);
  };
  return { port: Number(port), stop };
}

it.each(rows(["node", "deno"] as const, ["bun"] as const))("on %s", async (runtime) => {
  const { port, stop } = await started(runtime);
  const ids = await askAll(port);
  const lines = await stop();
  check(
    lines.filter((line) => "request_id" in line),
    ids,
    linesOfEach,
  );
});

it("on node, for requests that arrive in one piece and are answered in the same turn", async () => {
  const { port, stop } = await started("node");
  const ids = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const client = await RawClient.to(port);
      for (let i = 0; i < requests / 20; i++) client.ask("GET /now").ask("POST /now", [], "body");
      const ids: string[] = [];
      while (ids.length < requests / 10) ids.push((await client.answer()).body);
      client.leave();
      return ids;
    }),
  );
  const lines = await stop();
  // Handler, microtask, timer and the access line; the server's own lines have no request.
  check(
    lines.filter((line) => "request_id" in line),
    new Set(ids.flat()),
    4,
  );
  const others = lines.filter((line) => !("request_id" in line)).map(({ message }) => String(message));
  expect(others.map((message) => message.split(" ")[0])).toEqual(["listening", "stopping,", "stopped"]);
});

it("on workerd", async () => {
  const contents = `import * as usher from "usher-http";
    import { worker } from "../../../adapters/workers/index.ts";
    import { routesOf } from "../../logging/concurrent-routes.ts";
    export default worker(routesOf(usher));`;
  const { client, texts } = await start(await bundle({ contents }));
  const { remotePort } = (await client()).socket;
  // It resets a connection whose head it has not read in 15 s: on a busy machine some of a thousand.
  const ids = await askAll(remotePort as number, 100);
  const lines = () => texts.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as Line);
  while (lines().length < requests * linesOfEach) await new Promise((resolve) => setTimeout(resolve, 20));
  check(lines(), ids, linesOfEach);
});
