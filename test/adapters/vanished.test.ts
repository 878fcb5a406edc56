/**
 * Clients whose machine is gone: no FIN, no RST, and no ICMP error for the bytes that are sent. It takes a network whose
 * cable can be pulled, which Linux has for root.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { need } from "../support/needs.ts";
import { runtimes } from "../support/runtimes.ts";
import { SpawnedServer } from "../support/spawned/server.ts";
import type { Command } from "../support/spawned/server.ts";

const servers = `usher-s-${process.pid}`;
const clients = `usher-c-${process.pid}`;
const ip = (...args: readonly string[]): string => execFileSync("ip", args, { encoding: "utf8", stdio: "pipe" });
const inside = (namespace: string): readonly [string, ...string[]] => ["ip", "netns", "exec", namespace];

const canPull = process.platform === "linux" && spawnSync("ip", ["netns", "add", servers]).status === 0;
const namespaces = need("network namespace, which takes Linux, root and `ip netns`", canPull);

const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt", "-A"];
const listeners: { readonly [name: string]: readonly [folder: string, command: () => Command] } = {
  "usher-http/node": ["node", () => [runtimes["node-newest"](), "--disable-warning=ExperimentalWarning"]],
  "usher-http/bun": ["bun", () => [runtimes.bun()]],
  "usher-http/deno": ["deno", () => [runtimes.deno(), ...deno]],
};

describe.skipIf(namespaces.isSkipped)(`a client that vanished${namespaces.why}`, () => {
  beforeAll(() => {
    if (!canPull) throw new Error("no network namespace, which takes Linux, root and `ip netns`");
    ip("netns", "add", clients);
    ip("link", "add", "s0", "netns", servers, "type", "veth", "peer", "name", "c0", "netns", clients);
    for (const [namespace, end, address] of [
      [servers, "s0", "10.99.0.1/24"],
      [clients, "c0", "10.99.0.2/24"],
    ] as const) {
      ip("-n", namespace, "addr", "add", address, "dev", end);
      ip("-n", namespace, "link", "set", end, "up");
    }
    // Otherwise ARP would look up its address, and a failed lookup is an answer as well.
    const card = /ether (\S+)/.exec(ip("-n", clients, "link", "show", "c0"))?.[1] ?? "";
    ip("-n", servers, "neigh", "replace", "10.99.0.2", "lladdr", card, "dev", "s0", "nud", "permanent");
    // Three and a half seconds in place of a quarter of an hour.
    const [command, ...args] = inside(servers);
    execFileSync(command, [...args, "sysctl", "-q", "net.ipv4.tcp_retries2=3"]);
  });
  afterAll(() => {
    for (const namespace of [servers, clients]) spawnSync("ip", ["netns", "del", namespace]);
  });

  it.each(Object.entries(listeners))(
    "is known by what cannot be sent to it: its producers and subscriptions end, on %s",
    async (_name, [folder, command]) => {
      ip("-n", clients, "link", "set", "c0", "up");
      const program = join(import.meta.dirname, folder, "server.ts");
      const server = await SpawnedServer.start([...inside(servers), ...command()], program, { host: "0.0.0.0" });
      const connects = `
        for (const path of ["/feed/quiet", "/ticks/ticking"]) {
          const socket = require("node:net").connect(${server.port}, "10.99.0.1");
          socket.on("error", () => {}).resume().write("GET " + path + " HTTP/1.1\\r\\nhost: h\\r\\n\\r\\n");
        }`;
      const [first, ...args] = inside(clients);
      const client = spawn(first, [...args, process.execPath, "-e", connects], { stdio: "ignore" });
      try {
        for (const name of ["quiet", "ticking"]) await server.tells(`${name}: began`);
        ip("-n", clients, "link", "set", "c0", "down");
        for (const name of ["quiet", "ticking"]) {
          await server.tells(`${name}: ended`);
          await server.logs(`stream on /${name === "quiet" ? "feed" : "ticks"}/${name} ended: client gone`);
        }
        expect(server.logged.filter((line) => /failed|refused/.test(line))).toEqual([]);
      } finally {
        client.kill("SIGKILL");
      }
    },
  );
});
