/** The hosts that `usher dev` answers for: by DNS rebinding the page of any site may ask for its own name, at a loopback address. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { hostsOf } from "../../cli/dev-hosts.ts";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient, leaveAll } from "../support/raw-client.ts";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";

describe("the hosts that usher dev answers for", () => {
  it.each<readonly [what: string, host: string, allowed: readonly string[], answered: string, refused: string]>([
    [
      "are those of loopback",
      "localhost",
      [],
      "localhost localhost:8080 LOCALHOST localhost. shop.localhost a.b.localhost:1 127.0.0.1 127.1.2.3:80 [::1] [::1]:8080",
      "evil.example localhost.evil.example 127.0.0.1.evil.example evillocalhost .localhost a..localhost 10.0.0.1 0.0.0.0 [::] " +
        "[::2] 128.0.0.1 127.0.0 localhost:80:80 localhost/ localhost@evil.example evil.example:localhost [::1 ::1 [::1]x",
    ],
    [
      "are those that are listed, too",
      "localhost",
      ["shop.example", "*.tunnel.example", "10.0.0.7", "[fd00::1]"],
      "localhost shop.example Shop.Example:443 shop.example. a.tunnel.example a.b.tunnel.example 10.0.0.7:80 [fd00::1]:8080",
      "tunnel.example evilshop.example a.shop.example tunnel.example.evil.example 10.0.0.70 10x0x0x7 .tunnel.example fd00::1",
    ],
    [
      "are the address that it listens at, too",
      "192.168.1.5",
      [],
      "192.168.1.5:8080 localhost",
      "192.168.1.6 evil.example",
    ],
    ["are the name that it listens at, too", "devbox.lan", [], "devbox.lan:8080 localhost", "other.lan"],
    [
      "are every address where it listens at every interface",
      "0.0.0.0",
      [],
      "192.168.1.5:8080 0.0.0.0 [fd00::1] localhost",
      "evil.example 1.2.3.4.evil.example 1.2.3.4.5",
    ],
    ["are every address, by IPv6", "::", [], "192.168.1.5 [fd00::1]:80 localhost", "evil.example fd00::1"],
    ["are an address of IPv6", "fd00::5", [], "[fd00::5]:80 localhost", "[fd00::6] fd00::5"],
  ])("%s: --host %s, %j", (_what, host, allowed, answered, refused) => {
    const isAllowed = hostsOf(host, allowed);
    for (const name of answered.split(" ")) expect([name, isAllowed(name)]).toEqual([name, true]);
    for (const name of ["", ...refused.split(" ")]) expect([name, isAllowed(name)]).toEqual([name, false]);
  });

  it.each([
    "",
    "*",
    "*.",
    "https://shop.example",
    "shop.example:80",
    "shop.example/x",
    "a b",
    "*.*.example",
    ".example",
    "a,b",
  ])("are no list with %j", (name) => {
    expect(() => hostsOf("localhost", [name])).toThrow(/^--allow-host must be a host name, such as shop\.example or /);
  });
});

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-dev-hosts-"));
const module = join(folder, "routes.mjs");
writeFileSync(
  module,
  `import { Event, Openapi, Path, Proxies, Returns, get, post } from ${JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href)};
import { Socket } from ${JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href)};
const tick = Event.text("tick");
let changes = 0;
const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hello, after " + changes);
export const options = {
  trustedProxies: Proxies.make(["127.0.0.1", "::1"]),
  checkOrigin: false,
  middleware: [async (request, next) => { const answer = await next(); return { ...answer, headers: [...answer.headers, ["x-own", "1"]] }; }],
};
export const routes = [
  hello,
  post(Path.of("change"), { returns: Returns.text }, () => "change " + ++changes),
  get(Path.of("feed"), { returns: Returns.events([tick]) }, () => async (send) => { await send(Event.make(tick, "x")); }),
  get(Path.of("socket"), { returns: Returns.websocket(Socket.protocol({ client: Socket.text, server: Socket.text })) }, () => async (socket) => { await socket.send("x"); }),
  ...Openapi.docs([hello]),
];
`,
);
afterAll(() => rmSync(folder, { recursive: true }));

const running = new Map<ChildProcess, Promise<unknown>>();
afterEach(async () => {
  leaveAll();
  for (const [process, ended] of running) {
    process.kill("SIGTERM");
    await ended;
  }
  running.clear();
});

const runs = rows<readonly [name: string, binary: () => string, args: readonly string[]]>(
  [
    ["the newest Node", runtimes["node-newest"], ["dist/cli.js"]],
    ["Bun", runtimes.bun, ["dist/cli.js"]],
    ["Deno", runtimes.deno, ["run", "-A", "dist/cli.js"]],
  ],
  [["the oldest Node", runtimes["node-oldest"], ["dist/cli.js"]]],
);

const handshake = [
  "connection: Upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

it.each(runs)(
  "usher dev on %s answers no request for another host",
  { timeout: 300_000 },
  async (_name, binary, args) => {
    const port = await freePort();
    const options = [
      "--port",
      `${port}`,
      "--host",
      "127.0.0.1",
      "--allow-host",
      "shop.example",
      "--allow-host",
      "*.tunnel.example",
    ];
    const process = spawn(binary(), [...args, "dev", module, ...options], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.set(process, new Promise((resolve) => process.once("close", resolve)));
    let printed = "";
    for (const output of [process.stdout, process.stderr])
      output.on("data", (part: Buffer) => (printed += part.toString()));
    await eventually(async () => {
      expect([process.exitCode, printed]).toEqual([null, expect.anything()]);
      (await RawClient.to(port)).leave();
    });

    const ask = async (line: string, host: string, ...headers: readonly string[]) => {
      const client = await RawClient.to(port);
      client.send(`${line} HTTP/1.1`, `Host: ${host}`, "connection: close", ...headers, "", "");
      const { status, body, head } = await client.answer({ toHead: line.startsWith("HEAD") });
      client.leave();
      return { status, body, own: head.some(([name]) => name.toLowerCase() === "x-own") };
    };
    expect(await ask("GET /hello", `localhost:${port}`)).toEqual({ status: 200, body: "hello, after 0", own: true });
    for (const host of ["127.0.0.1", "[::1]:1", "a.localhost", "shop.example", "x.tunnel.example:443"]) {
      expect([host, (await ask("GET /hello", host)).status]).toEqual([host, 200]);
    }
    for (const line of [
      "GET /hello",
      "POST /change",
      "GET /feed",
      "GET /docs",
      "GET /openapi.json",
      "GET /none",
      "DELETE /hello",
    ]) {
      const { status, body, own } = await ask(
        line,
        `evil.example:${port}`,
        ...(line.startsWith("POST") ? ["content-length: 0"] : []),
      );
      expect([line, status, own]).toEqual([line, 421, false]);
      expect(body).toContain("--allow-host");
      expect(body).not.toContain("evil");
    }
    expect((await ask("HEAD /hello", "evil.example")).status).toBe(421);
    // What a page can set of its own requests.
    for (const field of ["x-forwarded-host: localhost", "forwarded: host=localhost", "origin: http://localhost"]) {
      expect([field, (await ask("GET /hello", "evil.example", field)).status]).toEqual([field, 421]);
    }
    expect((await ask("GET http://evil.example/hello", "evil.example")).status).toBe(421);
    expect((await ask("GET /hello", "localhost")).body).toBe("hello, after 0");

    const open = async (host: string) => {
      const client = await RawClient.to(port);
      client.send("GET /socket HTTP/1.1", `Host: ${host}`, ...handshake, "", "");
      const { status } = await client.answer({ toHead: true });
      client.leave();
      return status;
    };
    expect([await open("localhost"), await open("shop.example"), await open("evil.example")]).toEqual([101, 101, 421]);
    expect(printed.match(/--allow-host/g)).toHaveLength(1);
    expect(printed).not.toContain("evil.example");
  },
);
