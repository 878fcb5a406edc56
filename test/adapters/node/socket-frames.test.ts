/** The frames that a WebSocket sends (RFC 6455 §5.2): every length format, text and bytes, in the order of the sends. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { Path, Returns, Socket, get } from "usher-http";
import { start } from "../../support/node-server.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const bytes = Socket.protocol({ client: Socket.binary, server: Socket.binary });
const most = { maxMessage: 1_000_000 };
const routes = [
  get(Path.of("texts"), { returns: Returns.websocket(texts, most) }, () => async (socket) => {
    for await (const text of socket) await socket.send(text);
  }),
  get(Path.of("bytes"), { returns: Returns.websocket(bytes, most) }, () => async (socket) => {
    for await (const part of socket) await socket.send(part);
  }),
  get(Path.of("wrong"), { returns: Returns.websocket(texts) }, () => async (socket) => {
    await socket.send("a\ud800b");
  }),
];

/** Sends messages concurrently, and returns the received frames. */
async function echoed(port: number, path: string, sent: readonly (string | Buffer)[]): Promise<unknown[]> {
  const client = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  const heard: unknown[] = [];
  await new Promise((resolve) => client.once("open", resolve));
  const all = new Promise<void>((resolve, reject) => {
    client.once("close", (code) => reject(new Error(`closed with ${code}`)));
    client.on("message", (data, isBinary) => {
      heard.push(isBinary ? data : String(data));
      if (heard.length === sent.length) resolve();
    });
  });
  for (const message of sent) client.send(message);
  await all;
  client.terminate();
  return heard;
}

const lengths = [0, 1, 125, 126, 127, 4095, 4096, 4097, 65_535, 65_536, 200_000];

it("carry text in every length format", async () => {
  const { port } = await start(routes);
  const sent = lengths.flatMap((length) => [..."xé€😀"].map((letter) => letter.repeat(length)));
  const fits = sent.filter((text) => Buffer.byteLength(text) <= most.maxMessage);
  expect(await echoed(port, "/texts", fits)).toEqual(fits);
});

it("carry bytes in every length format", async () => {
  const { port } = await start(routes);
  const sent = lengths.map((length) => Buffer.alloc(length, "abc\u00ff\0"));
  const heard = await echoed(port, "/bytes", sent);
  // As texts, because Vitest compares bytes one by one.
  const textOf = (bytes: unknown) => Buffer.isBuffer(bytes) && bytes.toString("latin1");
  expect(heard.map(textOf)).toEqual(sent.map(textOf));
});

it("carry any text, in order", async () => {
  const { port } = await start(routes);
  const messages = fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { minLength: 1, maxLength: 20 });
  const areEchoed = async (sent: string[]): Promise<void> => {
    expect(await echoed(port, "/texts", sent)).toEqual(sent);
  };
  await fc.assert(fc.asyncProperty(messages, areEchoed), { numRuns: 30 });
});

it("have a replacement character for a lone surrogate", async () => {
  const { port } = await start(routes);
  const client = new WebSocket(`ws://127.0.0.1:${port}/wrong`);
  const [heard, code] = await Promise.all([
    new Promise((resolve) => client.once("message", (data) => resolve(String(data)))),
    new Promise((resolve) => client.once("close", resolve)),
  ]);
  expect([heard, code]).toEqual(["a\ufffdb", 1000]);
});
