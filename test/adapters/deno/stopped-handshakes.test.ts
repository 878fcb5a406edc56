/** A server that is stopped while the 101 of a handshake waits for Deno to look at its client. */
import { expect, it } from "vitest";
import { start } from "./start.ts";

const opening = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

it("opens it, and closes it as every socket of a server that stops", async () => {
  const server = await start();
  const client = await server.client();
  const stopping = await server.client();
  client.ask("GET /socket", opening);
  stopping.ask("POST /stop");
  expect((await client.answer()).status).toBe(101);
  expect(await client.frame()).toMatchObject({ first: 0x88, payload: expect.stringMatching(/^\u0003\u00e9/) });
  await client.send("\u0088\u0082\0\0\0\0\u0003\u00e9").closed();
  await server.tells("ended: 0");
});
