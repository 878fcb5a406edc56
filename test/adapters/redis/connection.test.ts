/** The connection of a rate store and of a store of idempotency keys: its URL, and what it does while its server is away. */
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { spawn } from "node:child_process";
import { createClient } from "redis";
import { describe, expect, it, onTestFinished } from "vitest";
import { Dep, Idempotency, Path, Returns, Test, post } from "usher-http";
import type { IdempotencyStore } from "usher-http";
import { idempotencyStore, rateStore, relay } from "usher-http/redis";
import { adapterTimers } from "../../support/adapter-timers.ts";
import { builtProgram } from "../../support/built-program.ts";
import { eventually } from "../../support/eventually.ts";
import { messages } from "../../support/logs.ts";
import { RedisServer, ownRedis } from "../../support/redis.ts";
import { runtimes } from "../../support/runtimes.ts";
import { rows } from "../../support/wide.ts";
import { Wire } from "../../support/wire.ts";

const program = join(import.meta.dirname, "store-program.ts");

describe("the URL of a server", () => {
  it.each([
    "redis://:se#cret@127.0.0.1:6379",
    "redis://:se/cret@127.0.0.1:6379",
    "redis://app:se?cret@127.0.0.1:6379",
    "redis://:secret%@127.0.0.1:6379",
    "redis://:secret@127.0.0.1:6379/secret",
    "redis://:secret@127.0.0.1:port",
  ])("%s is refused, and not quoted", async (url) => {
    for (const open of [() => relay(url, { channel: "c" }), () => rateStore(url), () => idempotencyStore(url)]) {
      const error: unknown = await open().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as TypeError).message).toContain(
        "the URL of Redis cannot be read: write redis://user:password@host:6379/0",
      );
      expect(JSON.stringify(Object.entries(error as object))).not.toContain("cret");
    }
  });
});

describe("the time limit of a request for a server", () => {
  it.each([Number.POSITIVE_INFINITY, Number.NaN, 0, -1, 2 ** 31])("cannot be %d", async (waitMs) => {
    for (const open of [rateStore, idempotencyStore]) {
      await expect(open("redis://127.0.0.1:1", { waitMs })).rejects.toThrow("waitMs is a number, and not milliseconds");
    }
  });
});

const commands: { readonly [runtime: string]: () => readonly string[] } = {
  node: () => [runtimes["node-newest"]()],
  bun: () => [runtimes.bun()],
  deno: () => [runtimes.deno(), "run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt", "-A"],
};

describe.skipIf(ownRedis.isSkipped)(`a server that is away${ownRedis.why}`, () => {
  it.each(rows(["node"], ["bun", "deno"]))("does not keep the process alive: %s", async (runtime) => {
    const own = await RedisServer.start();
    const [binary = "", ...flags] = commands[runtime]?.() ?? [];
    const child = spawn(binary, [...flags, await builtProgram(program), own.url], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const told = text(child.stdout);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await own.stop();
    expect(await told).toBe("there\naway\n");
  });
});

describe.skipIf(ownRedis.isSkipped)(`a server that became a replica${ownRedis.why}`, () => {
  it("is not freed when another request took it over", async () => {
    const [one, other] = [await RedisServer.start(), await RedisServer.start()];
    const wire = await Wire.to(one.port);
    const store = await idempotencyStore(`redis://127.0.0.1:${wire.port}`, { waitMs: 60_000 });
    const admin = await createClient({ url: one.url }).connect();
    onTestFinished(async () => {
      await Promise.all([store.close(), admin.close()]);
    });
    const claim = (digest: string) =>
      store.claim(
        digest,
        { fingerprint: "f", token: "t", leaseMs: 60_000, keepMs: 60_000, takesOver: false },
        new Date(),
      );
    expect(await claim("a")).toBe(undefined);
    // As by a failover that cuts no client: the connection still leads to the server that it was opened to.
    await admin.sendCommand(["REPLICAOF", "127.0.0.1", String(other.port)]);
    wire.leadTo(other.port);
    const timers = adapterTimers();
    await expect(claim("b")).rejects.toThrow("the server answers READONLY");
    expect(timers.end(2000)).toBe(1);
    await eventually(async () => expect(await claim("b").catch(() => "away")).toBe(undefined));
  });
});

describe.skipIf(ownRedis.isSkipped)(`a relay's server that became a replica${ownRedis.why}`, () => {
  it("is not freed when another request took it over", async () => {
    const [one, other] = [await RedisServer.start(), await RedisServer.start()];
    const wire = await Wire.to(one.port);
    const timers = adapterTimers();
    const here = await relay(`redis://127.0.0.1:${wire.port}`, { channel: "c" });
    const there = await relay(other.url, { channel: "c" });
    const admin = await createClient({ url: one.url }).connect();
    onTestFinished(async () => {
      await Promise.all([here.close(), there.close(), admin.close()]);
    });
    const heard: string[] = [];
    await there.subscribe((topic) => heard.push(topic));
    await admin.sendCommand(["REPLICAOF", "127.0.0.1", String(other.port)]);
    wire.leadTo(other.port);
    for (const one of [here, there]) await one.publish("unheard", "");
    // The next heartbeats.
    expect(timers.end(10_000)).toBe(2);
    await eventually(async () => {
      await here.publish("heard", "").catch(() => {});
      expect(heard).toContain("heard");
    });
    expect(heard).not.toContain("unheard");
  });
});

describe.skipIf(ownRedis.isSkipped)(`an answer that cannot be read${ownRedis.why}`, () => {
  it("ends the connection, and no call gets the answer of another", async () => {
    const own = await RedisServer.start();
    const wire = await Wire.to(own.port);
    const store = await idempotencyStore(`redis://127.0.0.1:${wire.port}`, { waitMs: 60_000 });
    onTestFinished(() => store.close());
    const claim = (digest: string, token: string) =>
      store.claim(digest, { fingerprint: "f", token, leaseMs: 60_000, keepMs: 60_000, takesOver: false }, new Date());
    expect(await claim("a", "one")).toBe(undefined);
    const said = wire.sayInstead("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    const unread = claim("b", "one").catch((thrown: Error) => thrown.message);
    await said;
    // Its answer is that of a known key.
    await claim("a", "two").catch(() => {});
    expect(await unread).toBe("the server is away, or slow");
    await eventually(async () => expect(await claim("a", "two")).toMatchObject({ fingerprint: "f" }));
    expect(await claim("c", "one")).toBe(undefined);
  });
});

describe.skipIf(ownRedis.isSkipped)(`a server that tells of its move${ownRedis.why}`, () => {
  /** As Redis Enterprise does, here to where nothing listens. */
  const moving = ">4\r\n+MOVING\r\n:1\r\n:15\r\n+127.0.0.1:1\r\n";

  it("is used until it closes the connection", async () => {
    const own = await RedisServer.start();
    const wire = await Wire.to(own.port);
    const url = `redis://127.0.0.1:${wire.port}`;
    const [store, here] = [await idempotencyStore(url, { waitMs: 60_000 }), await relay(url, { channel: "c" })];
    const there = await relay(own.url, { channel: "c" });
    onTestFinished(async () => {
      await Promise.all([store.close(), here.close(), there.close()]);
    });
    const heard: string[] = [];
    await here.subscribe((topic) => heard.push(topic));
    const claim = { fingerprint: "f", token: "t", leaseMs: 60_000, keepMs: 60_000, takesOver: false };
    wire.say(moving);
    // The answers to these follow the message.
    await Promise.all([store.claim("a", claim, new Date()), here.publish("own", "")]);
    await there.publish("there", "");
    expect(await store.claim("b", claim, new Date())).toBe(undefined);
    await eventually(() => expect(heard).toEqual(["there"]));
  });
});

describe.skipIf(ownRedis.isSkipped)(`a server that answers with an error${ownRedis.why}`, () => {
  it("is reported by its code, and a key that it did not claim is not freed", async () => {
    const own = await RedisServer.start();
    const [store, rates] = [
      await idempotencyStore(own.url, { waitMs: 60_000 }),
      await rateStore(own.url, { waitMs: 60_000 }),
    ];
    const admin = await createClient({ url: own.url }).connect();
    onTestFinished(async () => {
      await Promise.all([store.close(), rates.close(), admin.close()]);
    });
    await admin.sendCommand(["CONFIG", "SET", "maxmemory", "1"]);
    let freed = 0;
    const counting: IdempotencyStore = {
      claim: (...given) => store.claim(...given),
      keep: (...given) => store.keep(...given),
      extend: (...given) => store.extend(...given),
      free: (...given) => (freed++, store.free(...given)),
    };
    const once = Idempotency.by(counting, { caller: Dep.return("everybody") });
    const app = Test.app([post(Path.root, { inputs: { once }, returns: Returns.text }, () => "done")]);
    const { status } = await Test.call(app, "POST", "/", { headers: { "idempotency-key": '"a"' } });
    expect([status, freed]).toEqual([503, 0]);
    expect(await rates.take("a", { intervalMs: 1000, burst: 1 }, new Date())).toBe(0);
    expect(messages("warn")).toEqual([
      "POST /: busy: the store of idempotency keys answers OOM",
      "rates are counted by this process alone: the server answers OOM",
    ]);
  });
});
