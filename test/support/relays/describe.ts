/** What every relay does, over a real server and between real processes of three runtimes (issue 5; contract 2.9, 6.8). */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { Need } from "../needs.ts";
import { Wire } from "../wire.ts";
import { RelayProcess } from "./process.ts";
import type { Runtime } from "./process.ts";

/** A server of a test's own. */
export interface OwnServer {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** An engine whose relay is tried. */
export interface RelayEngine {
  /** Opens a relay and follows it. */
  readonly program: string;
  /** Where the tests' server is, by itself or by another port of this machine. */
  url(port?: number): string;
  freshChannel(): string;
  /** Ends the sessions of every relay, as an administrator does. */
  endSessions(): Promise<void>;
  /** A server of a test's own, where it takes something of the machine. */
  readonly ownServer?: Need;
  /** How a server can end, and one that ends so. */
  readonly endings: { readonly [how: string]: () => Promise<OwnServer> };
}

const runtimes = ["node", "bun", "deno"] as const;
const numbered = (what: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${what} ${i}`);
const of = (what: string, { heard }: RelayProcess): string[] => heard.filter((text) => text.startsWith(what));

/** The cases of a relay, each of which may take a minute. */
export function describeRelay(engine: RelayEngine): void {
  const start = (runtime: Runtime, channel: string, url = engine.url()): Promise<RelayProcess> =>
    RelayProcess.start(runtime, engine.program, url, channel);

  /** A process whose way to the server can be cut, and one that has another. */
  async function apart() {
    const channel = engine.freshChannel();
    const wire = await Wire.to(Number(new URL(engine.url()).port));
    const [here, there] = await Promise.all([start("node", channel, engine.url(wire.port)), start("deno", channel)]);
    return { channel, wire, here, there };
  }

  describe("between processes: delivery", () => {
    it.each(runtimes)("delivers the events of other processes once and in order: Node and %s", async (runtime) => {
      const channel = engine.freshChannel();
      const [here, there] = await Promise.all([start("node", channel), start(runtime, channel)]);
      here.do("publish here 500");
      there.do("publish there 500");
      for (const process of [here, there]) {
        await process.hears("here 499");
        await process.hears("there 499");
        expect(of("here", process)).toEqual(numbered("here", 500));
        expect(of("there", process)).toEqual(numbered("there", 500));
      }
    });

    it.each(runtimes)("sends the events of a process that publishes, closes and ends: %s", async (runtime) => {
      const channel = engine.freshChannel();
      const [here, there] = await Promise.all([start(runtime, channel), start("node", channel)]);
      here.do("finish last 500");
      expect(await here.ended).toBe(0);
      expect(here.told).toContain("closed");
      await there.hears("last 499");
      expect(of("last", there)).toEqual(numbered("last", 500));
    });

    it("carries large events, and delivers a topic's events only to its subscribers", async () => {
      const channel = engine.freshChannel();
      const [here, there] = await Promise.all([start("node", channel), start("bun", channel)]);
      here.do("elsewhere no");
      here.do("large é 1000000");
      await there.hears("é".repeat(100));
      expect(there.heard).toHaveLength(1);
    });
  });

  describe("between processes: lost connections", () => {
    it("logs a lost connection, and ends subscriptions with a gap", async () => {
      const { channel, wire, here, there } = await apart();
      const bystander = await start("node", channel);
      here.do("publish before 2");
      await there.hears("before 1");
      await here.settles();
      wire.cut();
      await here.logs("a relay lost its connection");
      here.do("publish while 3");
      there.do("publish other 3");
      await here.hears("while 2");
      await here.logs("could not publish to the other processes");
      // The server has received them, before the other relay is notified.
      await bystander.hears("other 2");
      wire.mend();
      await here.logs("a relay has a connection again");
      // One has missed what the other published, and the other what this one did.
      for (const process of [here, there]) {
        await process.until(() => process.ends > 0);
        await process.logs("may have missed events of the other processes");
      }
      here.do("publish after 2");
      there.do("publish again 2");
      await there.hears("after 1");
      await here.hears("again 1");
      expect(here.heard.slice(0, 5)).toEqual([...numbered("before", 2), ...numbered("while", 3)]);
      expect(here.heard.slice(5).toSorted()).toEqual([...numbered("after", 2), ...numbered("again", 2)]);
      expect(there.heard.filter((text) => /before|while|after/.test(text))).toEqual([
        ...numbered("before", 2),
        ...numbered("after", 2),
      ]);
      expect([here.ends, there.ends]).toEqual([1, 1]);
      expect(here.logged.filter((line) => line.includes("could not publish"))).toHaveLength(1);
      await here.logs("publishes to the other processes again; 3 events may not have reached them");
    });

    it("counts events that the server received, and did not confirm in time, as possibly lost", async () => {
      const { wire, here, there } = await apart();
      await here.settles();
      wire.holdAnswers();
      here.do("publish before 1");
      await there.hears("before 0");
      wire.cut();
      await here.logs("a relay lost its connection");
      here.do("publish while 3");
      await here.hears("while 2");
      wire.mend();
      // It has missed some, and subscribes again.
      await there.until(() => there.ends === 1);
      here.do("publish after 1");
      await there.hears("after 0");
      await here.logs("publishes to the other processes again; 4 events may not have reached them");
      expect(of("before", there)).toEqual(["before 0"]);
    });

    it("notices that the server ended its session", async () => {
      const channel = engine.freshChannel();
      const both = await Promise.all([start("node", channel), start("bun", channel)]);
      const [here, there] = both;
      await engine.endSessions();
      for (const process of both) {
        await process.logs("a relay has a connection again");
        await process.until(() => process.ends > 0);
      }
      here.do("publish last 2");
      await there.hears("last 1");
      expect(of("last", there)).toEqual(numbered("last", 2));
    });
  });

  describe("between processes: servers that end", () => {
    const { isSkipped = false, why = "" } = engine.ownServer ?? {};
    const endings = Object.entries(engine.endings);
    it.skipIf(isSkipped).each(endings)(
      `outlives a server that is stopped, %s, and started${why}`,
      async (_how, own) => {
        const channel = engine.freshChannel();
        const server = await own();
        const both = await Promise.all([start("node", channel, server.url), start("bun", channel, server.url)]);
        const [here, there] = both;
        for (let round = 0; round < 2; round++) {
          here.do(`publish before${round} 3`);
          await there.hears(`before${round} 2`);
          await server.stop();
          for (const process of both) await process.logs("a relay lost its connection", round + 1);
          here.do(`publish while${round} 3`);
          await here.hears(`while${round} 2`);
          await server.start();
          for (const process of both) {
            await process.logs("a relay has a connection again", round + 1);
            await process.until(() => process.ends > round);
          }
          here.do(`publish after${round} 3`);
          here.do(`large ${round} 20000`);
          await there.hears(String(round).repeat(100));
        }
        const all = [0, 1].flatMap((round) => [
          ...["before", "while", "after"].flatMap((what) => numbered(`${what}${round}`, 3)),
          String(round).repeat(100),
        ]);
        expect(here.heard.toSorted()).toEqual(all.toSorted());
        // What was published meanwhile is not brought later, and nothing comes twice.
        expect(there.heard).toEqual(all.filter((text) => !text.startsWith("while")));
        for (const process of both) {
          process.do("close");
          expect(await process.ended).toBe(0);
        }
      },
    );

    it("sends the published events when it is closed, and lets its process end", async () => {
      const channel = engine.freshChannel();
      const [here, there] = await Promise.all([start("node", channel), start("bun", channel)]);
      here.do("publish last 200");
      here.do("close");
      expect(await here.ended).toBe(0);
      expect(here.told).toContain("closed");
      await there.hears("last 199");
      expect(of("last", there)).toEqual(numbered("last", 200));
      there.do("close");
      expect(await there.ended).toBe(0);
    });
  });

  describe("between processes: a process that ends", () => {
    it.each(runtimes)("does not keep the process alive: %s", async (runtime) => {
      const process = await start(runtime, engine.freshChannel());
      process.do("leave");
      expect(await process.ended).toBeTypeOf("number");
      expect(process.logged).toEqual([]);
    });

    it.each(runtimes)(
      "does not keep the process alive while it connects to a server that does not answer: %s",
      async (runtime) => {
        const silent = createServer(() => connected());
        let connected = (): void => {};
        const isConnected = new Promise<void>((resolve) => (connected = resolve));
        await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
        const wire = await Wire.to(Number(new URL(engine.url()).port));
        const process = await start(runtime, engine.freshChannel(), engine.url(wire.port));
        await process.settles();
        wire.leadTo((silent.address() as AddressInfo).port);
        wire.cut();
        wire.mend();
        await isConnected;
        const at = performance.now();
        process.do("leave");
        expect(await process.ended).toBeTypeOf("number");
        // A relay gives such a connection up after 5 s, or later.
        expect(performance.now() - at).toBeLessThan(4000);
        silent.close();
      },
    );
  });
}
