/** Idempotency keys that processes share, over a real Redis or Valkey. */
import { createClient } from "redis";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Dep, Idempotency, Path, Returns, Test, post } from "usher-http";
import type { IdempotencyStore } from "usher-http";
import { idempotencyStore } from "usher-http/redis";
import type { OpenIdempotencyStore } from "usher-http/redis";
import { adapterTimers } from "../../support/adapter-timers.ts";
import { eventually } from "../../support/eventually.ts";
import { itKeepsAnswers } from "../../support/idempotency-stores.ts";
import "../../support/logs.ts";
import { RedisServer, ownRedis, redis, redisUrl } from "../../support/redis.ts";
import { Wire } from "../../support/wire.ts";

let prefixes = 0;
let url: string;
beforeAll(async () => {
  if (redis.isSkipped) return;
  url = ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url;
});

describe.skipIf(redis.isSkipped)(`idempotency keys in Redis${redis.why}`, () => {
  const open = async (): Promise<OpenIdempotencyStore> => {
    const prefix = `usher-test-${process.pid}-${prefixes++}:`;
    const store = await idempotencyStore(url, { prefix, waitMs: 60_000 });
    onTestFinished(() => store.close());
    return store;
  };

  itKeepsAnswers(open);

  it("keeps a key in use for as long as its claim is extended", async () => {
    const prefix = `usher-test-${process.pid}-${prefixes++}:`;
    const store = await idempotencyStore(url, { prefix, waitMs: 60_000 });
    const client = await createClient({ url }).connect();
    onTestFinished(async () => {
      await Promise.all([store.close(), client.close()]);
    });
    await store.claim("a", { fingerprint: "f", token: "t", leaseMs: 1, keepMs: 60_000, takesOver: false }, new Date());
    for (const leaseMs of [3_600_000, 1]) {
      await store.extend("a", "t", leaseMs);
      expect(await client.pTTL(`${prefix}a`)).toBeGreaterThan(1_800_000);
    }
  });

  it("is closed once, for any number of calls", async () => {
    const store = await idempotencyStore(url, { waitMs: 60_000 });
    const pending = store.free("digest", "token");
    expect(await Promise.all([store.close(), store.close(), pending])).toEqual([undefined, undefined, undefined]);
    await store.close();
  });

  it("refuses to connect without a server", async () => {
    await expect(idempotencyStore("redis://127.0.0.1:1")).rejects.toThrow("ECONNREFUSED");
  });

  it("leaves no timer of a call, and no connection after it is closed", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const store = await idempotencyStore(`redis://127.0.0.1:${wire.port}`, { waitMs: 60_000 });
    const timers = adapterTimers();
    await store.free("digest", "token");
    expect([timers.end(60_000), wire.connections]).toEqual([0, 1]);
    await store.close();
    expect(timers.end(60_000)).toBe(0);
    await eventually(() => expect(wire.connections).toBe(0));
  });
});

describe.skipIf(redis.isSkipped)(`a Redis that does not answer${redis.why}`, () => {
  it("frees a claim whose answer was lost with the connection, after it reconnects", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const prefix = `usher-test-${process.pid}-${prefixes++}:`;
    const store = await idempotencyStore(`redis://127.0.0.1:${wire.port}`, { prefix, waitMs: 60_000 });
    const [client, other] = [await createClient({ url }).connect(), await idempotencyStore(url, { prefix })];
    const times = { leaseMs: 3_600_000, keepMs: 3_600_000, takesOver: false };
    const claim = (at: typeof store, token: string) => at.claim("a", { fingerprint: "f", token, ...times }, new Date());
    wire.holdAnswers();
    // Of two requests with the key, the second one has no claim to free.
    const lost = [claim(store, "a"), claim(store, "c")];
    await eventually(async () => expect(await client.exists(`${prefix}a`)).toBe(1));
    wire.cut();
    for (const { status } of await Promise.allSettled(lost)) expect(status).toBe("rejected");
    // As for a request that was refused.
    await expect(store.free("a", "a")).rejects.toThrow("the server is away, or slow");
    expect(await claim(other, "b")).toMatchObject({ answer: undefined });
    wire.mend();
    await eventually(async () => expect(await claim(other, "b")).toBe(undefined));
    await Promise.all([store.close(), other.close(), client.close()]);
  });

  it("sends no further claim to a server that does not answer, but frees a key whose claim was late", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const prefix = `usher-test-${process.pid}-${prefixes++}:`;
    const store = await idempotencyStore(`redis://127.0.0.1:${wire.port}`, { prefix, waitMs: 60_000 });
    const timers = adapterTimers();
    const claim = (digest: string, token: string) =>
      store.claim(digest, { fingerprint: "f", token, leaseMs: 60_000, keepMs: 60_000, takesOver: false }, new Date());
    wire.holdAnswers();
    const late = claim("late", "a");
    expect(timers.end(60_000)).toBe(1);
    await expect(late).rejects.toThrow("the server is away, or slow");
    // With each call that is written `socketTimeout` would start again.
    for (const send of [() => claim("other", "a"), () => store.extend("late", "a", 60_000)]) {
      await expect(send()).rejects.toThrow("the server is away, or slow");
      expect(timers.end(60_000)).toBe(0);
    }
    const freed = store.free("late", "a");
    wire.passAnswers();
    await freed;
    expect(await claim("late", "b")).toBe(undefined);
    await store.close();
  });
});

describe.skipIf(redis.isSkipped)(`a Redis that does not answer for long${redis.why}`, () => {
  it("frees a claim that was late and whose freeing was lost, after it reconnects", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const prefix = `usher-test-${process.pid}-${prefixes++}:`;
    const timers = adapterTimers();
    const store = await idempotencyStore(`redis://127.0.0.1:${wire.port}`, { prefix, waitMs: 60_000 });
    const [client, other] = [await createClient({ url }).connect(), await idempotencyStore(url, { prefix })];
    const claim = (at: typeof store, token: string) =>
      at.claim("a", { fingerprint: "f", token, leaseMs: 3_600_000, keepMs: 3_600_000, takesOver: false }, new Date());
    wire.holdAnswers();
    const late = Promise.allSettled([claim(store, "a")]);
    await eventually(async () => expect(await client.exists(`${prefix}a`)).toBe(1));
    wire.holdQuestions();
    timers.end(60_000);
    const lost = Promise.allSettled([store.free("a", "a")]);
    timers.end(60_000);
    for (const [{ status }] of [await late, await lost]) expect(status).toBe("rejected");
    wire.cut();
    wire.mend();
    await eventually(async () => expect(await claim(other, "b")).toBe(undefined));
    await Promise.all([store.close(), other.close(), client.close()]);
  });

  it("does not free a key that it did not claim", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const prefix = `usher-test-${process.pid}-${prefixes++}:`;
    const store = await idempotencyStore(`redis://127.0.0.1:${wire.port}`, { prefix, waitMs: 60_000 });
    const timers = adapterTimers();
    let freed = 0;
    const counting: IdempotencyStore = {
      claim: (...given) => store.claim(...given),
      keep: (...given) => store.keep(...given),
      extend: (...given) => store.extend(...given),
      free: (...given) => (freed++, store.free(...given)),
    };
    const once = Idempotency.by(counting, { caller: Dep.return("everybody") });
    const app = Test.app([post(Path.root, { inputs: { once }, returns: Returns.text }, () => "done")]);
    const ask = async (key: string) =>
      (await Test.call(app, "POST", "/", { headers: { "idempotency-key": key } })).status;
    wire.holdAnswers();
    const late = ask('"late"');
    while (timers.end(60_000) === 0) await new Promise(setImmediate);
    expect([await late, freed]).toEqual([503, 1]);
    // With each call that is written `socketTimeout` would start again.
    for (let i = 0; i < 5; i++) expect([await ask(`"${i}"`), freed]).toEqual([503, 1]);
    wire.passAnswers();
    await store.close();
  });
});

describe.skipIf(ownRedis.isSkipped)(`a Redis that is away${ownRedis.why}`, () => {
  it("refuses a request with a key, without running it, until the server is back", async () => {
    const server = await RedisServer.start();
    const store = await idempotencyStore(server.url, { waitMs: 60_000 });
    onTestFinished(() => store.close());
    let ran = 0;
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    const route = post(Path.root, { inputs: { once }, returns: Returns.text }, () => `${++ran}`);
    const app = Test.app([route]);
    const ask = async (key?: string) => {
      const { status, headers } = await Test.call(app, "POST", "/", key ? { headers: { "idempotency-key": key } } : {});
      return [status, headers.get("retry-after")];
    };
    expect(await ask('"a"')).toEqual([200, null]);
    await server.stop();
    expect([await ask('"b"'), await ask()]).toEqual([
      [503, "1"],
      [200, null],
    ]);
    await server.start();
    await eventually(async () => expect(await ask('"b"')).toEqual([200, null]));
    expect(ran).toBe(3);
  });
});
