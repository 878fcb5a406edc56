/** Four processes that share a port: what they have in common, and what each has alone. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionTable } from "usher-http/postgres";
import { freePort } from "../../../examples/orders/postgres-server.ts";
import { eventually } from "../../support/eventually.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { RawClient } from "../../support/raw-client.ts";
import { RedisServer, ownRedis } from "../../support/redis.ts";
import { runtimes } from "../../support/runtimes.ts";
import { checkReusePort } from "../../../src/server/listen.ts";
import { limitsOf } from "../../../src/server/options.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import type { Command } from "../../support/spawned/server.ts";
import type { Engines } from "./shared-routes.ts";
import { rows } from "../../support/wide.ts";

const server = await startPostgres();
const outside = observer(server);
const migrations = mkdtempSync(join(tmpdir(), "usher-cores-"));
writeFileSync(join(migrations, "1_sessions.sql"), SessionTable.schema({ table: "sessions" }));
writeFileSync(join(migrations, "2_counted.sql"), "create table counted (id int); insert into counted values (1);");
afterAll(() => rmSync(migrations, { recursive: true }));

const node: Command = [runtimes["node-newest"](), "--disable-warning=ExperimentalWarning"];
const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt", "--unstable-net", "-A"];
const count = 4;
const kinds = rows<readonly [what: string, program: string, processes: number, command: () => Command]>(
  [
    ["node:cluster", "cluster-program.ts", 1, () => node],
    ["reusePort of Bun", "bun-program.ts", count, () => [runtimes.bun()]],
  ],
  [
    ["reusePort of Node", "node-program.ts", count, () => node],
    ["reusePort of Deno", "deno-program.ts", count, () => [runtimes.deno(), ...deno]],
  ],
);
let made = 0;

/** A connection to each process: it stays with the process that took it. */
async function clientsOf(port: number): Promise<readonly RawClient[]> {
  const clients = new Map<string, RawClient>();
  await eventually(async () => {
    const client = await RawClient.to(port);
    const { body } = await client.ask("GET /who").answer();
    if (clients.has(body)) client.leave();
    else clients.set(body, client);
    expect(clients.size).toBe(count);
  });
  return [...clients.values()];
}

const cookiesOf = (head: readonly (readonly [string, string])[]): string =>
  head.flatMap(([name, value]) => (name.toLowerCase() === "set-cookie" ? [value.split(";")[0]] : [])).join("; ");

describe.each(kinds)("four processes, by %s,", (_what, program, processes, command) => {
  let servers: readonly SpawnedServer[] = [];
  let clients: readonly RawClient[] = [];
  let engines: Engines;
  let port = 0;
  const ask = async (line: string, headers: readonly string[] = []) =>
    Promise.all(clients.map(async (client) => client.ask(line, headers).answer()));

  beforeAll(async () => {
    const database = `cores_${++made}`;
    await outside.unsafe(`create database ${database} strategy file_copy`);
    const redis = ownRedis.isSkipped ? {} : { redis: (await RedisServer.start()).url };
    engines = { postgres: server.url(database), migrations, ...redis };
    port = await freePort();
  });

  it("answer, migrate once, and share sessions, rate limits and hubs if their store is shared", async () => {
    const file = join(import.meta.dirname, program);
    const start = () => SpawnedServer.start(command(), file, { port, engines } as never);
    servers = await Promise.all(Array.from({ length: processes }, start));
    clients = await clientsOf(port);
    await migratesOnce();
    await shareSessions();
    await countRates();
    await shareHubs();
    for (const { child } of servers) child.kill("SIGTERM");
    expect(await Promise.all(servers.map(({ ended }) => ended))).toEqual(servers.map(() => 0));
    expect(servers.flatMap(({ errors }) => errors)).toEqual([]);
  });

  async function migratesOnce(): Promise<void> {
    const sql = observer(server, new URL(engines.postgres).pathname.slice(1));
    expect([...(await sql`select id from counted`)]).toEqual([{ id: 1 }]);
    expect(await sql`select name from usher_migrations`).toHaveLength(2);
  }

  async function shareSessions(): Promise<void> {
    const [first, second] = clients as [RawClient, RawClient];
    const { body: pid, head } = await first.ask("POST /sign-in").answer();
    const cookie = `cookie: ${cookiesOf(head)}`;
    const both = `sealed by ${pid}, stored by ${pid}`;
    expect((await ask("GET /session", [cookie])).map(({ body }) => body)).toEqual([both, both, both, both]);
    expect((await second.ask("POST /sign-out", [cookie]).answer()).body).toBe("out");
    const after = `sealed by ${pid}, undefined`;
    expect((await ask("GET /session", [cookie])).map(({ body }) => body)).toEqual([after, after, after, after]);
  }

  /** How many of ten requests to each process a rate of eight lets through. */
  async function countRates(): Promise<void> {
    const counted = async (store: string): Promise<number> => {
      let passed = 0;
      for (let i = 0; i < 10; i++)
        for (const { status } of await ask(`GET /rate/${store}`)) passed += status === 200 ? 1 : 0;
      return passed;
    };
    expect(await counted("memory")).toBe(8 * count);
    if (engines.redis !== undefined) expect(await counted("redis")).toBe(8);
  }

  async function shareHubs(): Promise<void> {
    const names = ["memory", "postgres", ...(engines.redis === undefined ? [] : ["redis"])];
    for (const name of names) {
      const feeds = await clientsOf(port);
      for (const feed of feeds) await feed.ask(`GET /feed/${name}`).sees("subscribed");
      const pids = (await ask("GET /who")).map(({ body }) => body);
      for (const client of clients) await client.ask(`POST /publish/${name}`).answer();
      const heard = await Promise.all(feeds.map((feed) => hears(feed, name === "memory" ? 1 : count)));
      const everything = heard.flat().toSorted();
      const expected = name === "memory" ? pids : pids.flatMap((pid) => [pid, pid, pid, pid]);
      expect(everything, name).toEqual(expected.map((pid) => `from ${pid}`).toSorted());
      for (const feed of feeds) feed.leave();
    }
  }
});

describe("the option reusePort", () => {
  const file = join(import.meta.dirname, "../node/server.ts");
  const alone = "serve: reusePort is kept by usher-http/node on Node 22.12, 23.1 or newer alone: use node:cluster";

  it.each<readonly [what: string, command: () => Command]>([
    ["an older Node", () => [runtimes["node-oldest"]()]],
    ["the node:http of Bun", () => [runtimes.bun()]],
    ["the node:http of Deno", () => [runtimes.deno(), ...deno]],
  ])("is refused by usher-http/node on %s", async (_what, command) => {
    await expect(SpawnedServer.start(command(), file, { reusePort: true })).rejects.toThrow(alone);
  });

  it.each<readonly [options: object, sentence: string]>([
    [{ reusePort: "yes" }, "serve: reusePort is a string, and not true or false"],
    [{ reusePort: 1 }, "serve: reusePort is a number, and not true or false"],
    [{ reusePort: true, socket: "/tmp/a.sock" }, "serve: reusePort is for a port, and socket is set"],
  ])("%o is refused", (options, sentence) => {
    expect(() => limitsOf(options)).toThrow(sentence);
  });

  it.each(["darwin", "win32", "windows"])(
    "is refused on %s, where the kernel does not distribute connections",
    (system) => {
      expect(() => checkReusePort(limitsOf({ reusePort: true }), system, ["linux"])).toThrow(
        `serve: reusePort is not kept on ${system}`,
      );
      expect(() => checkReusePort(limitsOf({ reusePort: false }), system, ["linux"])).not.toThrow();
    },
  );

  it("works on both addresses of localhost, and each process must set it", async () => {
    const first = await SpawnedServer.start(node, file, { reusePort: true, host: "localhost" });
    const options = { port: first.port, host: "localhost" };
    const second = await SpawnedServer.start(node, file, { reusePort: true, ...options });
    expect(second.port).toBe(first.port);
    for (const host of ["127.0.0.1", "::1"])
      expect((await (await RawClient.to(first.port, host)).ask("GET /hello").answer()).body).toBe("hi");
    await expect(SpawnedServer.start(node, file, options)).rejects.toThrow("is taken");
  });
});

/** That many events of a feed. */
async function hears(feed: RawClient, events: number): Promise<readonly string[]> {
  let text = "";
  const seen = (): readonly string[] => [...text.matchAll(/data: (from \d+)\n/g)].map(([, said = ""]) => said);
  while (seen().length < events) text += await feed.bytes(1);
  return seen();
}
