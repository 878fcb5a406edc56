/** Ten thousand connections with nothing to ask (issue 4): they cost little, stop nobody, and leave nothing behind. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { getActiveResourcesInfo } from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Path, Returns, get } from "usher-http";
import { logWith } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const count = 10_000;

// Node takes all the descriptors that it may, and what it starts has as many.
const descriptors = Number(spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).stdout);
const tooFew = descriptors < count + 1000;
const why = tooFew ? ` (skipped: \`ulimit -n\` is ${descriptors}, and ${count + 1000} are needed)` : "";

/** A process of its own: the server and its clients together would need twice the descriptors. */
const opens = `
const { connect } = require("node:net");
const [port, count] = process.argv.slice(1).map(Number);
const sockets = [];
const open = () => new Promise((resolve, reject) => {
  const socket = connect(port, "127.0.0.1");
  socket.once("error", reject);
  socket.once("connect", () => {
    // Every other one has asked something, and is kept.
    if (sockets.push(socket) % 2 === 0) return resolve();
    socket.once("data", () => resolve()).write("GET /ok HTTP/1.1\\r\\nhost: h\\r\\n\\r\\n");
  });
});
const all = async () => {
  for (let i = 0; i < count; i += 100) await Promise.all(Array.from({ length: 100 }, open));
  let left = count;
  for (const socket of sockets) socket.on("error", () => {}).once("close", () => --left === 0 && process.send("closed"));
  process.on("message", () => { for (const socket of sockets) socket.destroy(); });
  process.send("open");
};
void all();
`;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function connectAll(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["-e", opens, String(port), String(count)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.push(child);
  expect(await once(child, "message")).toEqual(["open", undefined]);
  return child;
}

const sockets = () => getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
const memory = async () => {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");

describe.skipIf(tooFew)(`${count} idle connections${why}`, () => {
  it.each([
    ["their clients close them", (child: ChildProcess) => void child.send("close")],
    ["the server stops", undefined],
  ])("are nobody's trouble, and gone when %s", { timeout: 60_000 }, async (_how, leave) => {
    logWith({ level: undefined });
    const server = await start([ok], { maxConnections: count + 10, drainMs: 600_000 });
    const ask = async () => {
      const client = await RawClient.to(server.port);
      const { body } = await client.ask("GET /ok").answer();
      client.leave();
      return body;
    };
    expect(await ask()).toBe("ok");
    await eventually(() => expect(sockets()).toBe(0));
    const before = await memory();

    const child = await connectAll(server.port);
    expect(sockets()).toBeGreaterThanOrEqual(count);
    const each = ((await memory()) - before) / count;
    expect(each).toBeLessThan(16_384);
    for (let i = 0; i < 10; i++) expect(await ask()).toBe("ok");

    const closed = once(child, "message");
    if (leave === undefined) expect(await server.stop()).toBe(0);
    else leave(child);
    expect(await closed).toEqual(["closed", undefined]);
    await vi.waitFor(() => expect(sockets()).toBe(0), { timeout: 20_000 });
    // Node keeps a thousand parsers for the next ones.
    expect((await memory()) - before).toBeLessThan(count * 300);
    if (leave !== undefined) expect(await ask()).toBe("ok");
  });
});
