import { waitMs } from "../../support/patience.ts";
/**
 * Clients of event streams that misbehave, many of them and repeatedly (issue 5): after each, every producer has ended,
 * and the subscriptions, the timers, the connections and the memory are back where they were.
 */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Broadcast, Event, Path, Returns, clientGone, get } from "usher-http";
import type { Hub } from "usher-http";
import { lines, logWith, messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient, leaveAll } from "../../support/raw-client.ts";
import { Wire } from "../../support/wire.ts";
import { eventually } from "../../support/eventually.ts";
import { active, keepsNothing, sockets, turn } from "../../support/memory.ts";

const aWhile = () => new Promise((resolve) => setTimeout(resolve, 5));

let hub: Hub<never>;
let running = 0;
beforeEach(() => {
  hub = Broadcast.create({ depth: 4 });
  running = 0;
});

/** Counts a producer while it runs. */
const counted =
  <A>(produce: (send: A) => Promise<void>) =>
  async (send: A): Promise<void> => {
    running++;
    try {
      await produce(send);
    } finally {
      running--;
    }
  };
const flooding = Event.comment("x".repeat(65_536));
const large = Event.comment("x".repeat(1_000_000));
const returns = Returns.events([], { keepAliveMs: 50 });
const routes = [
  get(Path.of("feed"), { inputs: { clientGone }, returns }, ({ clientGone }) =>
    counted(async (send) => {
      const subscription = hub.subscribe("t");
      for (;;) {
        const event = await subscription.next({ until: clientGone });
        if (event === undefined || !(await send(event)).ok) break;
      }
      subscription.unsubscribe();
    }),
  ),
  // Notices a disconnect by the results of its sends only.
  get(Path.of("ticks"), { returns }, () =>
    counted(async (send) => {
      while ((await send(Event.comment("tick"))).ok) await aWhile();
    }),
  ),
  get(Path.of("flood"), { returns }, () =>
    counted(async (send) => {
      while ((await send(flooding)).ok);
    }),
  ),
  get(Path.of("raises"), { returns }, () =>
    counted(async (send) => {
      await send(Event.comment("one"));
      throw new Error("secret");
    }),
  ),
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
];

/** The actions of one client; it ends when the bytes that it waits for have arrived. */
const faults: { readonly [what: string]: (client: RawClient, port: number) => Promise<unknown> } = {
  "leaves a quiet stream": async (client) => {
    client.ask("GET /feed");
    await client.sees("\r\n\r\n");
    client.leave();
  },
  "closes a quiet stream": async (client) => {
    client.ask("GET /feed");
    await client.sees(": keep-alive");
    client.close();
  },
  "leaves one that goes on": async (client) => {
    client.ask("GET /ticks");
    await client.sees(": tick");
    client.leave();
  },
  "ends its side, reads on, and leaves": async (client) => {
    client.ask("GET /ticks").halfClose();
    await client.sees(": tick");
    client.leave();
  },
  "leaves before the head": async (client) => {
    client.ask("GET /feed");
    client.leave();
  },
  "leaves with others asked for behind it": async (client) => {
    for (let i = 0; i < 10; i++) client.ask("GET /feed").ask("GET /ok");
    await client.sees(": keep-alive");
    client.leave();
  },
  "takes nothing of one that goes on": async (client) => {
    client.socket.pause();
    client.ask("GET /flood");
    // Until the server has disconnected it.
    await eventually(() => expect(messages("info")).toContainEqual(expect.stringMatching(/^closed a connection/)));
  },
  "takes nothing of what is published": async (client) => {
    client.socket.pause();
    client.ask("GET /feed");
    for (let i = 0; i < 20; i++) {
      hub.publish("t", large);
      await turn();
    }
  },
  "is a wire's end that is cut": async (_client, port) => {
    const wire = await Wire.to(port);
    const client = await RawClient.to(wire.port);
    client.ask("GET /feed");
    await client.sees(": keep-alive");
    wire.end();
  },
  "asks for one that raises": async (client) => {
    await client.ask("GET /raises").closed();
  },
};

describe("a client of an event stream that", () => {
  it.each(Object.entries(faults))("%s leaves nothing behind", async (_what, act) => {
    await eventually(() => expect(sockets()).toBe(0));
    const { port } = await start(routes, { sendTimeoutMs: 100 });
    const timers = active("Timeout");
    const round = async () => {
      logWith({});
      await Promise.all(Array.from({ length: 20 }, async () => act(await RawClient.to(port), port)));
      leaveAll();
      await vi.waitFor(() => expect([sockets(), running, hub.topics()]).toEqual([0, 0, []]), { timeout: waitMs() });
      await vi.waitFor(() => expect(active("Timeout")).toBeLessThanOrEqual(timers), { timeout: waitMs() });
      expect(JSON.stringify(lines())).not.toContain("secret");
      logWith({ level: undefined });
    };
    await keepsNothing(round);
    expect((await (await RawClient.to(port)).ask("GET /ok").answer()).body).toBe("ok");
  });

  it("reads while its server stops: its producer ends, and nothing is left running", async () => {
    const server = await start(routes, { drainMs: 600_000 });
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.to(server.port)));
    for (const [i, client] of clients.entries()) client.ask(i % 2 === 0 ? "GET /feed" : "GET /ticks");
    await eventually(() => expect(running).toBe(20));
    expect(await server.stop()).toBe(0);
    for (const client of clients) await client.closed();
    await eventually(() => expect([running, hub.topics()]).toEqual([0, []]));
  });
});
