/** Clients of `usher-http/bun` that read nothing, on a real bun. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SpawnOptions } from "../../support/spawned/options.ts";
import { eventually } from "../../support/eventually.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { runtimes } from "../../support/runtimes.ts";
import { describeUnread, mute, said, wholeLength } from "../../support/spawned/unread.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";

const start = (options: SpawnOptions): Promise<SpawnedServer> =>
  SpawnedServer.start([runtimes.bun()], join(import.meta.dirname, "unread-program.ts"), options);

// Of a long whole response Bun holds the rest, which nothing but its client frees: it has tests of its own.
describeUnread(start, ["stream", "socket"]);

/** How a response is framed, by its head: its body is not read. */
async function framingOf(client: RawClient): Promise<string> {
  const { head } = await client.answer({ toHead: true });
  return head.find(([name]) => /^(content-length|transfer-encoding)$/i.test(name))?.[1] ?? "none";
}

async function framing(server: SpawnedServer): Promise<string> {
  const client = await server.client();
  const framed = await framingOf(client.ask("GET /whole"));
  client.leave();
  return framed;
}

describe("long whole responses, which Bun holds until they are sent", () => {
  const sendBudget = 4 * wholeLength;

  it("have Content-Length up to half of the budget, and then come in pieces", async () => {
    const server = await start({ sendBudget, sendShare: sendBudget });
    const clients = [await mute(server, "whole"), await mute(server, "whole"), await mute(server, "whole")];
    const framed = [];
    for (const client of clients) framed.push(await framingOf(client));
    expect(framed).toEqual([String(wholeLength), String(wholeLength), "chunked"]);
    for (const client of clients) client.leave();
    await eventually(async () => expect(await framing(server)).toBe(String(wholeLength)));
  });

  it("make room when they are sent: clients that read get Content-Length each time", async () => {
    const server = await start({ sendBudget, sendShare: sendBudget });
    const client = await server.client();
    for (let i = 0; i < 20; i++) {
      const { head, body } = await client.ask("GET /whole").answer();
      expect([head.some(([name]) => name === "Content-Length"), body.length]).toEqual([true, wholeLength]);
    }
    expect(server.errors).toEqual([]);
  });

  it("in pieces: clients that read nothing are disconnected past sendBudget, and one that reads gets all", async () => {
    const small = 1024 * 1024;
    const server = await start({ sendBudget: small, sendShare: small });
    const first = await mute(server, "whole");
    const second = await mute(server, "whole");
    await eventually(async () => {
      await mute(server, "whole");
      expect(server.logged.join()).toContain(said);
    });
    expect(await framingOf(second)).toBe("chunked");
    second.socket.resume();
    expect((await second.rest()).length).toBeLessThan(wholeLength);
    expect((await server.asks("GET /whole")).length).toBe(wholeLength);
    first.socket.resume();
    expect((await first.answer()).body.length).toBe(wholeLength);
    expect(server.errors).toEqual([]);
  });

  it("are given up where their client reads nothing for sendTimeoutMs", async () => {
    const server = await start({ sendTimeoutMs: 500, sendBudget: 1024, sendShare: 1024 });
    await mute(server, "whole");
    expect(await framing(server)).toBe("chunked");
    await eventually(async () => expect(await framing(server)).toBe(String(wholeLength)));
  });
});

it.skipIf(process.platform !== "linux")(
  "the connections of clients that were disconnected are closed, though they read nothing",
  async () => {
    const sendBudget = 1024 * 1024;
    const server = await start({ sendBudget, sendShare: sendBudget });
    const before = server.descriptors;
    for (let i = 0; i < 30; i++) await mute(server, "stream");
    expect(server.descriptors).toBeGreaterThanOrEqual(before + 30);
    // What stays is within the budget: the parts of a few.
    await eventually(() => expect(server.descriptors).toBeLessThan(before + 15));
  },
);
