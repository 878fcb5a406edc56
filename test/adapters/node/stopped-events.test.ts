/** Event streams of a server that stops: each ends whole, in any coding and protocol, and a client that reads nothing does not delay the stop. */
import { gunzipSync } from "node:zlib";
import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { App, Event, Path, Returns, clientGone, get } from "usher-http";
import { Compress } from "usher-http/compress";
import { listener } from "usher-http/node";
import { gate } from "../../support/gate.ts";
import { http2Ask, http2Client } from "../../support/http2-client.ts";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

/** Longer than any test runs: a stop that ends earlier did not wait for it. */
const drainMs = 600_000;
const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

/** A stream that sends one comment and then waits for its client to go. */
function waitingFeed(bytes = 0) {
  const began = gate();
  const left = gate<string>();
  const route = get(Path.of("feed"), { inputs: { clientGone }, returns: Returns.events([]) }, ({ clientGone }) => {
    return async (send) => {
      await send(Event.comment("one"));
      began.open();
      // What no socket holds on the way.
      for (let i = 0; i < bytes / 1_000_000; i++) {
        if (!(await send(Event.comment("x".repeat(1_000_000)))).ok) break;
      }
      if (!clientGone.aborted) await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
      const sent = await send(Event.comment("two"));
      left.open(sent.ok ? "sent" : sent.error);
    };
  });
  return { route, began: began.passed, left: left.passed };
}

const ended = "stream on /feed ended: server stopped";
const body = ": one\n\n: stopping\n\n";
const gzip = ["accept-encoding: gzip"];

describe.each([
  ["as it is", [], (text: string) => text],
  ["by gzip", gzip, (text: string) => gunzipSync(Buffer.from(text, "latin1")).toString()],
] as const)("an event stream %s, when the server stops", (_coding, headers, read) => {
  it("EV-15 ends whole over HTTP/1.1, and says why", async () => {
    const { route, began, left } = waitingFeed();
    const server = await start([route], { drainMs, middleware: [Compress.make()] });
    const client = (await RawClient.to(server.port)).ask("GET /feed", headers);
    const fetched = await fetch(`${server.url}/feed`, {
      headers: { "accept-encoding": headers === gzip ? "gzip" : "identity" },
    });
    expect(fetched.headers.get("content-encoding")).toBe(headers === gzip ? "gzip" : null);
    await began;
    expect(await server.stop()).toBe(0);
    // It rejects where the response, or its coding, is cut.
    expect(await fetched.text()).toBe(body);
    expect((await client.answer()).status).toBe(200);
    await client.closed();
    expect(await left).toBe("gone");
    expect([messages("info").includes(ended), messages("error")]).toEqual([true, []]);
  });

  it("EV-15 ends whole over HTTP/2", async () => {
    const { route, began, left } = waitingFeed();
    const server = await start([route], { drainMs, http2: true, middleware: [Compress.make()] });
    const session = await http2Client(server.url);
    const stream = session.request({ ":path": "/feed", ...(headers === gzip ? { "accept-encoding": "gzip" } : {}) });
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    const over = new Promise<number>((resolve, reject) => {
      stream.on("end", () => resolve(stream.rstCode)).on("error", reject);
    });
    await began;
    expect(await server.stop()).toBe(0);
    expect(await over).toBe(0);
    expect(read(Buffer.concat(parts).toString("latin1"))).toBe(body);
    expect(await left).toBe("gone");
    expect([messages("info").includes(ended), messages("error")]).toEqual([true, []]);
  });

  it("EV-15 does not delay the stop where its client reads nothing", async () => {
    const { route, began, left } = waitingFeed(64_000_000);
    const server = await start([route], { drainMs, middleware: [Compress.make()] });
    const client = await RawClient.to(server.port);
    client.socket.pause();
    client.ask("GET /feed", headers);
    await began;
    expect(await server.stop()).toBe(0);
    expect(await left).toBe("gone");
    expect([messages("info").includes(ended), messages("error")]).toEqual([true, []]);
  });
});

it("EV-15 does not delay the stop where its client of HTTP/2 reads nothing", async () => {
  const { route, began, left } = waitingFeed(64_000_000);
  const server = await start([route], { drainMs, http2: true });
  const session = await http2Client(server.url);
  const stream = session.request({ ":path": "/feed" });
  // Its window fills.
  stream.on("error", () => {}).pause();
  await began;
  expect(await server.stop()).toBe(0);
  expect(await left).toBe("gone");
  expect([messages("info").includes(ended), messages("error")]).toEqual([true, []]);
});

it("EV-15 sends what its client has not taken yet, and then the end", async () => {
  const { route, began } = waitingFeed(4_000_000);
  const server = await start([route], { drainMs });
  const client = await RawClient.to(server.port);
  client.socket.pause();
  client.ask("GET /feed");
  await began;
  const stopped = server.stop();
  client.socket.resume();
  expect((await client.answer()).body).toMatch(/^: one\n\n(?:: x{1000000}\n\n)*: stopping\n\n$/);
  expect(await stopped).toBe(0);
});

it("an app that stops in another server ends it, and leaves the connection to the next request", async () => {
  const { route, began } = waitingFeed();
  const app = App.make([route, hello]);
  const server = createServer(listener(app));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const client = await RawClient.to((server.address() as { port: number }).port);
  client.ask("GET /feed");
  await began;
  app.drain();
  expect((await client.answer()).body).toBe(body);
  expect((await client.ask("GET /hello").answer()).body).toBe("hi");
});

it("a stream that follows the head after the stop began says it at once", async () => {
  const asked = gate();
  const letGo = gate();
  const late = get(Path.of("late"), { returns: Returns.events([]) }, async () => {
    asked.open();
    await letGo.passed;
    return async (send) => void (await send(Event.comment("one")));
  });
  const server = await start([late], { drainMs, http2: true });
  const session = await http2Client(server.url);
  const answer = http2Ask(session, { ":path": "/late" });
  await asked.passed;
  const stopped = server.stop();
  letGo.open();
  expect((await answer).body).toMatch(/: stopping\n\n$/);
  expect(await stopped).toBe(0);
});
