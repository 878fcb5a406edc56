/** One connection never affects another one. Deno gives the parser of a refused connection to the next one. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../../support/certificates.ts";
import { atSomeSpeed } from "../../support/eventually.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { secureSocket, untilEnd } from "../../support/secure-client.ts";
import { shared } from "../../support/spawned/server.ts";
import type { SpawnedServer } from "../../support/spawned/server.ts";
import { starts } from "./spawned.ts";

const held = "GET /held HTTP/1.1\r\nhost: h\r\n\r\n";
const tooLong = `GET /hello HTTP/1.1\r\nhost: h\r\nx: ${"x".repeat(3000)}`;
const noChunk = "POST /size HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";

/** Requests that are refused. After a pending answer, the connection stays open until that answer is written. */
const refused: { readonly [what: string]: string } = {
  "no request": "no request\r\n\r\n",
  "no request, behind another": `${held}no request\r\n\r\n`,
  "a field past the limit": tooLong,
  "a field past the limit, behind another": held + tooLong,
  "a chunk that is none": noChunk,
  "a chunk that is none, behind another": held + noChunk,
};
const unended = `${held}GET /hello HTTP/1.1\r\nho`;

/** By then the server has read the bytes that other connections sent before. */
async function turns(clock: RawClient): Promise<void> {
  for (let i = 0; i < 5; i++) expect((await clock.ask("GET /hello").answer()).body).toBe("hi");
}

/** Waits until a head that begins now, and one that began before, has exceeded its time limit. */
async function headTimesOut(client: RawClient): Promise<void> {
  expect((await client.send("GET /hello HTTP/1.1\r\nho").answer()).status).toBe(408);
}

/** A server that answers some clients, while a connection that was refused sends one of its own requests. */
async function targetsBeside(server: SpawnedServer, text: string, isRefused?: () => Promise<void>): Promise<unknown> {
  const clock = await server.client();
  await turns(clock);
  const other = (await server.client()).send(text);
  if (text.startsWith(held)) await server.tells("held: asked");
  await isRefused?.();
  await turns(clock);
  const targets: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    const client = await server.client();
    // It has its parser from now on.
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    other.ask("GET /of/another");
    await turns(clock);
    targets.push(JSON.parse((await client.ask(`GET /own/${i}`).answer()).body));
  }
  return targets;
}
const own = [0, 1, 2].map((i) => expect.objectContaining({ target: `/own/${i}` }) as unknown);

describe.each(starts)("%s: bytes after a refused request reach no other client", (runtime, start) => {
  const startShared = shared(start);

  it.each(Object.entries(refused))("%s", async (_what, text) => {
    expect(await targetsBeside(await startShared({ maxHeaderBytes: 2000 }), text)).toEqual(own);
  });

  // On Bun this time limit would also expire for the other clients, until they send a request.
  it.skipIf(runtime === "bun")("a head that does not end, behind another", async () => {
    const server = await start({ headTimeoutMs: 300 });
    const isRefused = async () => headTimesOut(await server.client());
    expect(await targetsBeside(server, unended, isRefused)).toEqual(own);
  });
});

// Bun cannot tell a connection without a byte from half a head, and answers 408.
const others = starts.filter(([runtime]) => runtime !== "bun");
describe.each(others)("%s: the time limit of a head starts at its first byte", (_runtime, start) => {
  const startShared = shared(start);
  const connectedBefore = async (): Promise<readonly [SpawnedServer, RawClient]> => {
    const server = await startShared({ headTimeoutMs: 200 });
    const [client, late] = [await server.client(), await server.client()];
    await headTimesOut(late);
    await turns(await server.client());
    return [server, client];
  };

  it("a client may connect long before its request", async () => {
    const [server, client] = await connectedBefore();
    const next = await server.client();
    for (const asking of [client, next, client]) expect((await asking.ask("GET /hello").answer()).body).toBe("hi");
  });

  it("its bytes reach no client that connects later", async () => {
    const [server, client] = await connectedBefore();
    const next = await server.client();
    client.ask("GET /of/another");
    expect((await client.answer()).body).toContain('"/of/another"');
    expect((await next.ask("GET /own").answer()).body).toContain('"/own"');
  });

  it("half a head is a 408 then", async () => {
    const [, client] = await connectedBefore();
    await headTimesOut(client);
    expect(await client.rest()).toBe("");
  });

  it("a client that ends its side without a byte is closed, and the server continues", async () => {
    const server = await start();
    const client = await server.client();
    expect(await client.halfClose().rest()).toBe("");
    expect(await server.asks("GET /hello")).toBe("hi");
  });

  it("also over TLS", async () => {
    const { cert, key } = makeCertificate({ name: "localhost", hosts: ["127.0.0.1"] });
    // A handshake has this time limit too.
    await atSomeSpeed(async (factor) => {
      const { port } = await start({ headTimeoutMs: 200 * factor, tls: { cert, key } });
      const options = { ca: cert, ALPNProtocols: ["http/1.1"] };
      const [client, late] = [await secureSocket(port, options), await secureSocket(port, options)];
      late.write("GET /hello HTTP/1.1\r\nho");
      expect(await untilEnd(late)).toMatch(/^HTTP\/1.1 408 /);
      client.write("GET /hello HTTP/1.1\r\nhost: h\r\n\r\n");
      const [part] = (await once(client, "data")) as [Buffer];
      expect(String(part)).toMatch(/^HTTP\/1.1 200 /);
    });
  });
});
