/** The relay over a real Redis or Valkey (issue 5; contract 2.9, 6.8). */
import { join } from "node:path";
import { createClient } from "redis";
import { beforeAll, describe, expect, it } from "vitest";
import { relay } from "usher-http/redis";
import { RedisServer, ownRedis, redis, redisUrl } from "../../support/redis.ts";
import { describeRelay } from "../../support/relays/describe.ts";
import { RelayProcess } from "../../support/relays/process.ts";
import { Wire } from "../../support/wire.ts";
import "../../support/logs.ts";

const program = join(import.meta.dirname, "program.ts");

let channels = 0;
const freshChannel = (): string => `usher-test-${process.pid}-${channels++}`;

describe.skipIf(redis.isSkipped)(`the relay over Redis${redis.why}`, () => {
  let url: string;
  beforeAll(async () => {
    url = ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url;
  });

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

  it("passes over what is none of its messages", async () => {
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

  it("is not opened where there is no server, nor where there is no answer", async () => {
    const wire = await Wire.to(1);
    await expect(relay(`redis://127.0.0.1:${wire.port}`, { channel: "c" })).rejects.toThrow(
      "Socket closed unexpectedly",
    );
    wire.cut();
    await expect(relay(`redis://127.0.0.1:${wire.port}`, { channel: "c" })).rejects.toThrow(/ECONNRE|Socket closed/);
    await expect(relay(url.replace("redis://", "redis://nobody:wrong@"), { channel: "c" })).rejects.toThrow(
      "WRONGPASS",
    );
    await expect(relay("http://127.0.0.1", { channel: "c" })).rejects.toThrow("not a valid Redis protocol");
  });
});
