/**
 * An event listener of a runtime throws, which no known input causes: the connection is closed or answered 500, an error line
 * has its kind and its place but no message, and the process continues. On Node: node/last-net.test.ts.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { SpawnedServer, shared } from "../support/spawned/server.ts";
import type { RawClient } from "../support/raw-client.ts";

const opening = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];
const denoFlags = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt"];
const listeners = {
  bun: () => [runtimes.bun()] as const,
  deno: () => [runtimes.deno(), ...denoFlags, "--allow-net", "--allow-read", "--allow-write"] as const,
};
/** A close that names no code. */
const closing = "\u0088\u0080\0\0\0\0";
type Runtime = keyof typeof listeners;

function start(runtime: Runtime): Promise<SpawnedServer> {
  return SpawnedServer.start(listeners[runtime](), join(import.meta.dirname, runtime, "raising-program.ts"));
}

// What raises does so once.
const startShared = shared(start);

async function breaks(server: SpawnedServer, place: string, how = "raises"): Promise<void> {
  expect(await server.asks(`POST /break?place=${encodeURIComponent(place)}&how=${how}`)).toBe("soon");
  await server.tells(`broken: ${place}`);
}

/** It is logged in one line, and the process continues. */
async function isTold(server: SpawnedServer): Promise<void> {
  const line = JSON.parse(await server.logs('"error.kind"')) as { readonly [field: string]: string };
  expect(line).toMatchObject({
    level: "error",
    "error.kind": "TypeError",
    "error.stack": expect.stringMatching(/^at /),
  });
  expect(await server.asks("GET /ok")).toBe("ok");
  expect(server.written.join("\n")).not.toContain("secret");
}

async function opened(server: SpawnedServer): Promise<RawClient> {
  const client = await server.client();
  expect((await client.ask("GET /socket", opening).answer()).status).toBe(101);
  return client;
}

describe.each(Object.keys(listeners) as Runtime[])("an exception in an event listener, on %s", (runtime) => {
  it.each(["raises", "rejects"])("is a 500 when the app %s, and nothing stays in flight", async (how) => {
    const server = await start(runtime);
    await breaks(server, "the app's answer", how);
    expect((await (await server.client()).ask("GET /later").answer()).status).toBe(500);
    await isTold(server);
    server.child.kill("SIGTERM");
    await server.logs('"stopped"');
    expect(await server.ended).toBe(0);
  });

  const frames: readonly (readonly [place: string, frame: string, on: readonly Runtime[]])[] = [
    ["a socket's message", "\u0081\u0080\0\0\0\0", ["bun", "deno"]],
    // Deno does not report pings.
    ["a socket's ping", "\u0089\u0080\0\0\0\0", ["bun"]],
    ["a socket's close", "\u0088\u0082\0\0\0\0\u0003\u00e8", ["bun", "deno"]],
    // A frame with an undefined opcode.
    ["a socket's loss", "\u008f\u0080\0\0\0\0", ["bun", "deno"]],
  ];
  it.each(frames.filter(([, , on]) => on.includes(runtime)))("ends only one connection: %s", async (place, frame) => {
    const server = await startShared(runtime);
    const [client, other] = [await opened(server), await opened(server)];
    await breaks(server, place);
    // Deno closes a connection by a close frame, which its client answers.
    await client.send(frame).send(closing).closed();
    await isTold(server);
    other.send("\u0081\u0081\0\0\0\0x");
    expect(await other.bytes(3)).toBe("\u0081\u0001x");
  });

  it.each(["raises", "rejects"])("ends only one connection: a socket's opening %s", async (how) => {
    const server = await startShared(runtime);
    await breaks(server, "a socket's opening", how);
    const client = await opened(server);
    await client.send(closing).closed();
    await isTold(server);
  });

  it("ends nothing more: the end of a stream", async () => {
    const server = await startShared(runtime);
    const client = (await server.client()).ask("GET /ticks");
    await client.sees("tick");
    await breaks(server, "the end of a stream");
    client.leave();
    await isTold(server);
  });

  it("ends nothing more: a disconnect", async () => {
    const server = await startShared(runtime);
    const client = (await server.client()).ask("GET /never");
    await server.tells("never: false");
    await breaks(server, "a departure");
    client.leave();
    await isTold(server);
  });

  it("ends nothing: a signal", async () => {
    const server = await start(runtime);
    await breaks(server, "the stop of sockets");
    server.child.kill("SIGTERM");
    await server.logs('"error.kind":"TypeError"');
    expect(server.written.join("\n")).not.toContain("secret");
  });
});

it("is a 500 when the end of an answer throws, on deno", async () => {
  const server = await startShared("deno");
  await breaks(server, "the end of an answer");
  expect((await (await server.client()).ask("GET /later").answer()).status).toBe(500);
  await isTold(server);
});
