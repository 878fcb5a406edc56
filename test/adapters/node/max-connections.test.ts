/** `maxConnections`: what is past it is closed at once, and a warn line says how many that were, one a minute at the most. */
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
  it("closes what is past it, and takes others once there is room", async () => {
    const { port } = await start([ok], { maxConnections: 2 });
    const first = await kept(port);
    const second = await kept(port);
    await closed(port);
    expect((await first.ask("GET /ok").answer()).body).toBe("ok");
    second.leave();
    await eventually(() => kept(port));
    await closed(port);
  });

  it("is there whole again each time that all have gone, however they went", async () => {
    const { port } = await start([ok], { maxConnections: 3 });
    const fill = () =>
      eventually(async () => {
        const clients = await Promise.all([0, 1, 2].map(() => RawClient.to(port)));
        try {
          for (const client of clients) await client.ask("GET /ok").answer();
        } catch (error) {
          // Those that left are not all seen to have gone: none of these stays in the way of the next.
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

  it("counts every address together", async () => {
    const { port } = await start([ok], { host: "localhost", maxConnections: 2 });
    await kept(port, "127.0.0.1");
    await kept(port, "::1");
    await closed(port, "127.0.0.1");
    await closed(port, "::1");
    expect(messages("warn")).toEqual([said(1)]);
  });
});

describe("maxConnections: its line", () => {
  it("is told at once, and then once a minute, with how many there were", async () => {
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
    // A minute of peace, and the next is told at once.
    vi.advanceTimersByTime(minute);
    expect(messages("warn")).toHaveLength(3);
    await closed(port);
    expect(messages("warn")).toHaveLength(4);
  });

  it("is told of the last ones where the server stops, and no more then", async () => {
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

  it("is far more than 600 unless it is set", async () => {
    const { port } = await start([ok]);
    const clients = await Promise.all(Array.from({ length: 600 }, () => RawClient.to(port)));
    for (const client of clients) client.ask("GET /ok");
    for (const client of clients) expect((await client.answer()).body).toBe("ok");
    expect(messages("warn")).toEqual([]);
  });
});
