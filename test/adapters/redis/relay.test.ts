/** The relay over a real Redis or Valkey (issue 5; contract 2.9, 6.8). */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { createClient } from "redis";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { relay } from "usher-http/redis";
import { adapterTimers } from "../../support/adapter-timers.ts";
import { eventually } from "../../support/eventually.ts";
import { RedisServer, ownRedis, redis, redisUrl } from "../../support/redis.ts";
import { describeRelay } from "../../support/relays/describe.ts";
import { RelayProcess } from "../../support/relays/process.ts";
import { Wire } from "../../support/wire.ts";
import { messages } from "../../support/logs.ts";

const program = join(import.meta.dirname, "program.ts");

let channels = 0;
const freshChannel = (): string => `usher-test-${process.pid}-${channels++}`;

let url: string;
beforeAll(async () => {
  if (redis.isSkipped) return;
  url = ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url;
});

describe.skipIf(redis.isSkipped)(`the relay over Redis${redis.why}`, () => {
  describeRelay({
    program,
    url(port = Number(new URL(url).port || 6379)) {
      const by = new URL(url);
      by.port = String(port);
      return by.href;
    },
    freshChannel,
    async endSessions() {
      const client = await createClient({ url }).connect();
      await client.sendCommand(["CLIENT", "KILL", "TYPE", "PUBSUB"]);
      await client.close();
    },
    ownServer: ownRedis,
    endings: { "as a crash does": () => RedisServer.start() },
  });

  it("ignores messages of other programs", async () => {
    const channel = freshChannel();
    const there = await RelayProcess.start("bun", program, url, channel);
    const client = await createClient({ url }).connect();
    for (const text of ["", "hello", "0123456789abcdef 1 99999 x", "0123456789abcdef 1 x", "é".repeat(99)]) {
      await client.publish(channel, text);
    }
    await client.close();
    const here = await RelayProcess.start("node", program, url, channel);
    here.do("publish x 1");
    await there.hears("x 0");
    expect(there.heard).toEqual(["x 0"]);
  });
});

describe.skipIf(redis.isSkipped)(`the relay over Redis, its connection${redis.why}`, () => {
  it("rejects when there is no server, or no answer", async () => {
    const wire = await Wire.to(1);
    await expect(relay(`redis://127.0.0.1:${wire.port}`, { channel: "c" })).rejects.toThrow(
      "Socket closed unexpectedly",
    );
    wire.cut();
    await expect(relay(`redis://127.0.0.1:${wire.port}`, { channel: "c" })).rejects.toThrow(/ECONNRE|Socket closed/);
    await expect(relay(url.replace("redis://", "redis://nobody:wrong@"), { channel: "c" })).rejects.toThrow(
      "WRONGPASS",
    );
    await expect(relay("http://127.0.0.1", { channel: "c" })).rejects.toThrow(
      "relay: its URL is a string, and not a redis: or rediss: URL",
    );
  });

  it("closes its connection if its user may not subscribe", async () => {
    const user = freshChannel();
    const admin = await createClient({ url }).connect();
    await admin.sendCommand(["ACL", "SETUSER", user, "on", "nopass", "+@all", "resetchannels"]);
    onTestFinished(async () => {
      await admin.sendCommand(["ACL", "DELUSER", user]);
      await admin.close();
    });
    await expect(relay(url.replace("redis://", `redis://${user}:any@`), { channel: "c" })).rejects.toThrow("NOPERM");
    await eventually(async () => expect(await admin.sendCommand(["CLIENT", "LIST"])).not.toContain(`user=${user}`));
  });

  it("rejects when the server does not answer", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const connected = once(server, "connection");
    const timers = adapterTimers();
    const opening = relay(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`, { channel: "c" });
    const [socket] = (await connected) as [Socket];
    // The greeting, after which the client waits for an answer.
    await once(socket, "data");
    expect(timers.end(5000)).toBe(1);
    await expect(opening).rejects.toThrow("Disconnects client");
    if (!socket.destroyed) await once(socket.resume(), "close");
  });

  it("closes a connection on which nothing arrives any more", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const timers = adapterTimers();
    const here = await relay(`redis://127.0.0.1:${wire.port}`, { channel: freshChannel() });
    onTestFinished(() => here.close());
    await here.publish("t", "x");
    wire.holdAnswers();
    // Nothing listens there: the relay's next connection would soon be in the place of the one that it closes.
    wire.leadTo(1);
    expect([timers.end(10_000), wire.connections]).toEqual([1, 1]);
    // The first heartbeat was answered, the second one is not, within its second of grace.
    expect(timers.end(10_000)).toBe(1);
    expect(timers.end(1000)).toBe(1);
    await eventually(() => expect(wire.connections).toBe(0));
    expect(messages("warn")).toHaveLength(1);
  });

  it("leaves no timer", async () => {
    const timers = adapterTimers();
    const here = await relay(url, { channel: freshChannel() });
    await here.close();
    expect([10_000, 5000, 1000].map((ms) => timers.end(ms))).toEqual([0, 0, 0]);
  });

  it("closes when its connection is lost meanwhile", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const here = await relay(`redis://127.0.0.1:${wire.port}`, { channel: freshChannel() });
    await here.publish("t", "x");
    wire.holdAnswers();
    const unsent = here.publish("t", "y").catch(() => "not sent");
    const closing = here.close();
    wire.cut();
    expect([await unsent, await closing]).toEqual(["not sent", undefined]);
  });
});
