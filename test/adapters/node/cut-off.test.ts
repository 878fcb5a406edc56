/** What a server that stops cuts off: neither a line nor an input says that the client did it. */
import { describe, expect, it } from "vitest";
import { Answer, Body, Dep, Path, Returns, Route, body, bodyStream, clientGone, get, post } from "usher-http";
import type { RequestEnd } from "usher-http";
import { eventually } from "../../support/eventually.ts";
import { http2Client } from "../../support/http2-client.ts";
import { lines } from "../../support/logs.ts";
import { gate, start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

interface Case {
  readonly what: string;
  readonly method: "GET" | "POST";
  /** The route of `/x`. `letGo` resolves after the stop. */
  readonly route: (letGo: Promise<unknown>, held: Dep<void>) => Route;
  readonly logged: readonly string[];
  /** How the request ended, for what it acquired; nothing where it acquired nothing yet. */
  readonly how: readonly RequestEnd["how"][];
}

const upload = bodyStream({ max: 1000 });
const bodyLines = ["POST /x: busy: the server stopped before the body had arrived", "POST /x 503"];

const cases: readonly Case[] = [
  {
    what: "a body that is read whole",
    method: "POST",
    route: (_letGo, held) => post(Path.of("x"), { inputs: { held, body }, returns: Returns.text }, () => "whole"),
    logged: bodyLines,
    how: [],
  },
  {
    what: "a body whose reader waits for it",
    method: "POST",
    route: (_letGo, held) =>
      post(Path.of("x"), { inputs: { held, upload }, returns: Returns.text }, async ({ upload }) => {
        return lengthOf(upload);
      }),
    logged: bodyLines,
    how: ["refused"],
  },
  {
    what: "a body that is read on after the stop",
    method: "POST",
    route: (letGo, held) =>
      post(Path.of("x"), { inputs: { held, upload }, returns: Returns.text }, async ({ upload }) => {
        await upload.read();
        await letGo;
        const next = await upload.read();
        return next.ok ? "whole" : Body.refusal(next.error);
      }),
    logged: bodyLines,
    how: ["refused"],
  },
  {
    what: "a body that is read after the stop",
    method: "POST",
    route: (letGo, held) =>
      post(Path.of("x"), { inputs: { held, upload }, returns: Returns.text }, async ({ upload }) => {
        await letGo;
        return lengthOf(upload);
      }),
    logged: bodyLines,
    how: ["refused"],
  },
  {
    what: "a body that a mount reads",
    method: "POST",
    route: (_letGo, held) =>
      Route.mount(Path.root, async (request) => new Response(await request.text()), { inputs: { held } }),
    logged: bodyLines,
    how: ["refused"],
  },
  {
    what: "a body that a mount sends back",
    method: "POST",
    route: (_letGo, held) => Route.mount(Path.root, ({ body }) => new Response(body), { inputs: { held } }),
    logged: ["POST /x 200", "stream on /x ended: server stopped"],
    how: ["stopped"],
  },
  {
    what: "a call that got clientGone",
    method: "GET",
    route: (_letGo, held) =>
      get(Path.of("x"), { inputs: { held, clientGone }, returns: Returns.text }, ({ clientGone }) => {
        return new Promise((_resolve, reject) => {
          clientGone.addEventListener("abort", () => reject(clientGone.reason as Error));
        });
      }),
    logged: ["GET /x: busy: the server stopped before its answer was made", "GET /x 503"],
    how: ["stopped"],
  },
  {
    what: "a stream that begins after the stop",
    method: "GET",
    route: (letGo, held) =>
      get(Path.of("x"), { inputs: { held }, returns: Returns.response }, async () => {
        await letGo;
        return Answer.stream(listed("x"));
      }),
    logged: ["GET /x 200", "stream on /x ended: server stopped"],
    how: ["stopped"],
  },
];

async function lengthOf(parts: AsyncIterable<Uint8Array>): Promise<string> {
  let length = 0;
  for await (const part of parts) length += part.byteLength;
  return String(length);
}

async function* listed(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

describe.each([
  ["HTTP/1.1", false],
  ["HTTP/2", true],
])("a server that stops cuts off, over %s,", (_protocol, http2) => {
  it.each(cases)("$what", async ({ method, route, logged, how }) => {
    const ends: RequestEnd["how"][] = [];
    const after = gate();
    const held = Dep.scoped(
      {},
      () => undefined,
      (_value, end) => void ends.push(end.how),
    );
    const server = await start([hello, route(after.passed, held)], { drainMs: 50, http2 });
    if (http2) {
      const client = await http2Client(server.url);
      const stream = client.request({ ":method": method, ":path": "/x" }, { endStream: method === "GET" });
      stream.on("error", () => {}).resume();
      if (method === "POST") stream.write("abc");
    } else {
      const client = await RawClient.to(server.port);
      if (method === "GET") client.ask("GET /x");
      else client.send("POST /x HTTP/1.1", "host: h", "content-length: 10", "", "abc");
    }
    // It is with the server by the time that it has answered another one.
    expect((await (await RawClient.to(server.port)).ask("GET /hello", ["connection: close"]).answer()).body).toBe("hi");
    expect(await server.stop()).toBe(1);
    after.open();
    const ofRequest = (): readonly unknown[] =>
      lines().flatMap(({ message }) => (/ \/x\b/.test(String(message)) ? [message] : []));
    await eventually(() => expect([ofRequest(), ends]).toEqual([logged, how]));
  });
});
