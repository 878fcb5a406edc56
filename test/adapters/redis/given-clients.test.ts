/** Stores over a client of the application's: Sentinel with a failover, and TLS with a certificate of one's own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, createSentinel } from "redis";
import { describe, expect, it, onTestFinished } from "vitest";
import { Dep, Idempotency, Path, Returns, Test, post } from "usher-http";
import { idempotencyStore, rateStore } from "usher-http/redis";
import { accepts, freePort } from "../../../examples/orders/postgres-server.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import "../../support/logs.ts";
import { RedisServer, ownRedis } from "../../support/redis.ts";

const rule = { intervalMs: 3_600_000, burst: 1 };

/** A Sentinel that watches one primary; it ends with the test. */
async function sentinelOf(primary: RedisServer): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "usher-sentinel-"));
  const port = await freePort();
  const file = join(directory, "sentinel.conf");
  const lines = [
    `port ${port}`,
    `dir ${directory}`,
    `sentinel monitor shop 127.0.0.1 ${primary.port} 1`,
    "sentinel down-after-milliseconds shop 500",
    "sentinel failover-timeout shop 2000",
  ];
  writeFileSync(file, lines.join("\n"));
  // The end of its input ends it.
  const script = '"$@" </dev/null >/dev/null & server=$!; cat >/dev/null; kill -KILL $server; wait $server';
  const child = spawn("sh", ["-c", script, "sh", "redis-server", file, "--sentinel"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  await eventually(async () => expect(await accepts(port)).toBe(true));
  return port;
}

describe.skipIf(ownRedis.isSkipped)(`a client of the application's${ownRedis.why}`, () => {
  it("of createSentinel follows a failover, and keeps each answer", async () => {
    const primary = await RedisServer.start();
    const replica = await RedisServer.start({ more: ["--replicaof", "127.0.0.1", String(primary.port)] });
    const port = await sentinelOf(primary);
    const admin = await createClient({ url: primary.url }).connect();
    admin.on("error", () => {});
    await eventually(async () => expect(await admin.info("replication")).toContain("state=online"));
    const watch = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
    watch.on("error", () => {});
    await eventually(async () => {
      expect(JSON.stringify(await watch.sendCommand(["SENTINEL", "REPLICAS", "shop"]))).toContain(String(replica.port));
    });
    const client = createSentinel({
      name: "shop",
      sentinelRootNodes: [{ host: "127.0.0.1", port }],
      scanInterval: 500,
    });
    client.on("error", () => {});
    await client.connect();
    const store = await idempotencyStore(client, { waitMs: 5000 });
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    let done = 0;
    const app = Test.app([post(Path.root, { inputs: { once }, returns: Returns.text }, () => `order ${++done}`)]);
    const send = async () => {
      const answer = await Test.call(app, "POST", "/", { headers: { "idempotency-key": '"a"' } });
      return [answer.status, answer.body] as const;
    };
    expect(await send()).toEqual([200, "order 1"]);
    await eventually(async () => expect(await admin.wait(1, 1000)).toBe(1));
    await primary.stop();
    await eventually(async () => expect(await send()).toEqual([200, "order 1"]));
    expect(done).toBe(1);
    await store.close();
    // It is the application's own, and still open.
    expect(await client.get("nothing")).toBe(null);
    await client.destroy();
    for (const one of [watch, admin]) one.destroy();
  });

  it("speaks TLS with a certificate of one's own, which a URL alone does not trust", async () => {
    const { cert, key } = makeCertificate({ name: "localhost", hosts: ["localhost"], isAuthority: true });
    const directory = mkdtempSync(join(tmpdir(), "usher-redis-tls-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const [certFile, keyFile] = [join(directory, "cert.pem"), join(directory, "key.pem")];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    const port = await freePort();
    const files = ["--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certFile];
    await RedisServer.start({ more: ["--tls-port", String(port), "--tls-auth-clients", "no", ...files] });
    const url = `rediss://localhost:${port}`;
    await expect(rateStore(url)).rejects.toThrow(/certificate/);
    const client = createClient({ url, socket: { tls: true, ca: cert } });
    await expect(rateStore(client)).rejects.toThrow("the client is not connected: await its connect() before");
    await client.connect();
    const store = await rateStore(client);
    expect(await store.take("a", rule, new Date())).toBe(0);
    expect(await store.take("a", rule, new Date())).toBeGreaterThan(0);
    await store.close();
    client.destroy();
  });

  it.each([undefined, null, 7, {}, { evalSha: () => {} }, "http://127.0.0.1"])("is not %s", async (server) => {
    await expect(rateStore(server as never)).rejects.toThrow(/^rateStore: its (server|URL)/);
    await expect(idempotencyStore(server as never)).rejects.toThrow(/^idempotencyStore: its (server|URL)/);
  });
});
