/** `maxConnections`: a connection above it is closed at once, and a warning has their number, at most once a minute. */
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, get } from "usher-http";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";

const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");
const minute = 60_000;
const said = (count: number, most = 2): string => `connections closed past maxConnections (${most}): ${count}`;

async function kept(port: number, host?: string): Promise<RawClient> {
  const client = await RawClient.to(port, host);
  expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  return client;
}

async function closed(port: number, host?: string): Promise<void> {
  expect(await (await RawClient.to(port, host)).rest()).toBe("");
}

describe("maxConnections: the limit", () => {
  it("closes a connection above it, and accepts others when one has ended", async () => {
    const { port } = await start([ok], { maxConnections: 2 });
    const first = await kept(port);
    const second = await kept(port);
    await closed(port);
    expect((await first.ask("GET /ok").answer()).body).toBe("ok");
    second.leave();
    await eventually(() => kept(port));
    await closed(port);
  });

  it("is available again when all connections have ended, however they ended", async () => {
    const { port } = await start([ok], { maxConnections: 3 });
    const fill = () =>
      eventually(async () => {
        const clients = await Promise.all([0, 1, 2].map(() => RawClient.to(port)));
        try {
          for (const client of clients) await client.ask("GET /ok").answer();
        } catch (error) {
          // The server may not have noticed every disconnect yet: none of these blocks the next one.
          for (const client of clients) client.leave();
          throw error;
        }
        return clients;
      });
    for (const leave of ["leave", "close", "halfClose", "leave"] as const) {
      const clients = await fill();
      for (let i = 0; i < 2; i++) await closed(port);
      for (const client of clients) client[leave]();
    }
  });

  it("counts the connections of all addresses together", async () => {
    const { port } = await start([ok], { host: "localhost", maxConnections: 2 });
    await kept(port, "127.0.0.1");
    await kept(port, "::1");
    await closed(port, "127.0.0.1");
    await closed(port, "::1");
    expect(messages("warn")).toEqual([said(1)]);
  });
});

describe("maxConnections: its log line", () => {
  it("is written at once, and then once a minute, with the number of closed connections", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { port } = await start([ok], { maxConnections: 2 });
    await kept(port);
    await kept(port);
    expect(messages("warn")).toEqual([]);
    await closed(port);
    expect(messages("warn")).toEqual([said(1)]);
    for (let i = 0; i < 3; i++) await closed(port);
    vi.advanceTimersByTime(minute - 1);
    expect(messages("warn")).toEqual([said(1)]);
    vi.advanceTimersByTime(1);
    expect(messages("warn")).toEqual([said(1), said(3)]);
    await closed(port);
    expect(messages("warn")).toHaveLength(2);
    vi.advanceTimersByTime(minute);
    expect(messages("warn")).toEqual([said(1), said(3), said(1)]);
    // After a quiet minute the next one is logged at once.
    vi.advanceTimersByTime(minute);
    expect(messages("warn")).toHaveLength(3);
    await closed(port);
    expect(messages("warn")).toHaveLength(4);
  });

  it("is written for the last ones when the server stops, and not after that", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const server = await start([ok], { maxConnections: 2 });
    const clients = [await kept(server.port), await kept(server.port)];
    for (let i = 0; i < 3; i++) await closed(server.port);
    const stopped = server.stop();
    for (const client of clients) client.leave();
    await stopped;
    vi.advanceTimersByTime(minute);
    expect(messages("warn")).toEqual([said(1), said(2)]);
  });

  it("the default is far more than 600", async () => {
    const { port } = await start([ok]);
    const clients = await Promise.all(Array.from({ length: 600 }, () => RawClient.to(port)));
    for (const client of clients) client.ask("GET /ok");
    for (const client of clients) expect((await client.answer()).body).toBe("ok");
    expect(messages("warn")).toEqual([]);
  });
});
