/** The relay over a real Redis or Valkey, between real processes of three runtimes (issue 5; contract 2.9, 6.8). */
import { join } from "node:path";
import { createClient } from "redis";
import { beforeAll, describe, expect, it } from "vitest";
import { relay } from "usher-http/redis";
import { RedisServer, redisBinary, redisUrl } from "../../support/redis.ts";
import { RelayProcess } from "../../support/relays/process.ts";
import { Wire } from "../../support/wire.ts";
import "../../support/logs.ts";

const program = join(import.meta.dirname, "program.ts");
const numbered = (what: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${what} ${i}`);
const of = (what: string, { heard }: RelayProcess): string[] => heard.filter((text) => text.startsWith(what));

let channels = 0;
const freshChannel = (): string => `usher-test-${process.pid}-${channels++}`;

describe.skipIf(redisBinary === undefined && redisUrl === undefined)(
  "the relay over Redis",
  { timeout: 60_000 },
  () => {
    let server: RedisServer | undefined;
    let url: string;
    beforeAll(async () => {
      server = redisBinary === undefined ? undefined : await RedisServer.start();
      url = server?.url ?? (redisUrl as string);
    });

    const start = (runtime: "node" | "bun" | "deno", channel: string, at: string = url): Promise<RelayProcess> =>
      RelayProcess.start(runtime, program, at, channel);

    it.each(["node", "bun", "deno"] as const)(
      "tells each process what the others publish, once and in order: Node and %s",
      async (runtime) => {
        const channel = freshChannel();
        const [here, there] = await Promise.all([start("node", channel), start(runtime, channel)]);
        here.do("publish here 500");
        there.do("publish there 500");
        for (const process of [here, there]) {
          await process.hears("here 499");
          await process.hears("there 499");
          expect(of("here", process)).toEqual(numbered("here", 500));
          expect(of("there", process)).toEqual(numbered("there", 500));
        }
      },
    );

    it("carries what is large, and tells a topic's events to that topic alone", async () => {
      const channel = freshChannel();
      const [here, there] = await Promise.all([start("node", channel), start("bun", channel)]);
      here.do("elsewhere no");
      here.do("large é 1000000");
      await there.hears("é".repeat(100));
      expect(there.heard).toHaveLength(1);
    });

    it("passes over what is none of its messages", async () => {
      const channel = freshChannel();
      const there = await start("bun", channel);
      const client = await createClient({ url }).connect();
      for (const text of ["", "hello", "0123456789abcdef 1 99999 x", "0123456789abcdef 1 x", "é".repeat(99)]) {
        await client.publish(channel, text);
      }
      await client.close();
      const here = await start("node", channel);
      here.do("publish x 1");
      await there.hears("x 0");
      expect(there.heard).toEqual(["x 0"]);
    });

    it("says who was cut off, and ends the subscriptions of those who missed something", async () => {
      const channel = freshChannel();
      const wire = await Wire.to(Number(new URL(url).port || 6379));
      const [here, there] = await Promise.all([
        start("node", channel, `redis://127.0.0.1:${wire.port}`),
        start("deno", channel),
      ]);
      here.do("publish before 2");
      await there.hears("before 1");
      wire.cut();
      await here.logs("a relay lost its connection");
      here.do("publish while 3");
      there.do("publish other 3");
      await here.hears("while 2");
      await here.logs("could not publish to the other processes");
      wire.mend();
      await here.logs("a relay has a connection again");
      // One has missed what the other published, and the other what this one did.
      for (const process of [here, there]) {
        await process.until(() => process.ends === 1);
        await process.logs("may have missed events of the other processes");
      }
      here.do("publish after 2");
      there.do("publish again 2");
      await there.hears("after 1");
      await here.hears("again 1");
      expect(here.heard).toEqual([...numbered("before", 2), ...numbered("while", 3), ...here.heard.slice(5)]);
      expect(here.heard.slice(5).toSorted()).toEqual([...numbered("after", 2), ...numbered("again", 2)]);
      expect(of("before", there).concat(of("while", there), of("after", there))).toEqual([
        ...numbered("before", 2),
        ...numbered("after", 2),
      ]);
      expect([here.ends, there.ends]).toEqual([1, 1]);
      expect(here.logged.filter((line) => line.includes("could not publish"))).toHaveLength(1);
      await here.logs("publishes to the other processes again; 3 events were not");
    });

    it.skipIf(redisBinary === undefined)("outlives the server: stopped and started, it goes on", async () => {
      const channel = freshChannel();
      const own = await RedisServer.start();
      const both = await Promise.all([start("node", channel, own.url), start("bun", channel, own.url)]);
      const [here, there] = both;
      for (let round = 0; round < 2; round++) {
        here.do(`publish before${round} 3`);
        await there.hears(`before${round} 2`);
        await own.stop();
        for (const process of both) await process.logs("a relay lost its connection", round + 1);
        here.do(`publish while${round} 3`);
        await here.hears(`while${round} 2`);
        await own.start();
        for (const process of both) {
          await process.logs("a relay has a connection again", round + 1);
          await process.until(() => process.ends > round);
        }
        here.do(`publish after${round} 3`);
        await there.hears(`after${round} 2`);
      }
      const rounds = [0, 1];
      const all = ["before", "while", "after"].flatMap((what) => rounds.flatMap((n) => numbered(`${what}${n}`, 3)));
      expect(here.heard.toSorted()).toEqual(all.toSorted());
      // What was published meanwhile is not brought later, and nothing comes twice.
      expect(there.heard.toSorted()).toEqual(all.filter((text) => !text.startsWith("while")).toSorted());
    });

    it("is closed with what was published sent, and leaves its process to end", async () => {
      const channel = freshChannel();
      const [here, there] = await Promise.all([start("node", channel), start("bun", channel)]);
      here.do("publish last 200");
      here.do("close");
      expect(await here.ended).toBe(0);
      expect(here.told.at(-1)).toBe("closed");
      await there.hears("last 199");
      expect(of("last", there)).toEqual(numbered("last", 200));
      there.do("close");
      expect(await there.ended).toBe(0);
    });

    it.each(["node", "bun", "deno"] as const)("keeps no process from ending: %s", async (runtime) => {
      const process = await start(runtime, freshChannel());
      process.do("leave");
      expect(await process.ended).toBeTypeOf("number");
      expect(process.logged).toEqual([]);
    });

    it("is not opened where there is no server, nor where there is no answer", async () => {
      const wire = await Wire.to(1);
      await expect(relay(`redis://127.0.0.1:${wire.port}`, { channel: "c" })).rejects.toThrow();
      wire.cut();
      await expect(relay(`redis://127.0.0.1:${wire.port}`, { channel: "c" })).rejects.toThrow();
      await expect(relay(url.replace("redis://", "redis://nobody:wrong@"), { channel: "c" })).rejects.toThrow();
      await expect(relay("http://127.0.0.1", { channel: "c" })).rejects.toThrow();
    });
  },
);
