/** An upgrade that no route accepts is ignored, and its connection stays open in the same state, any number of times. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { Answer, Path, Returns, body, get, post } from "usher-http";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const routes = [
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
  get(Path.of("later"), { returns: Returns.text }, async () => "later"),
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.byteLength} bytes`),
  get(Path.of("built"), { returns: Returns.response }, () => Answer.make("built")),
];
const offer = ["connection: upgrade, http2-settings", "upgrade: h2c"];

/** The number of listeners on a server's socket. */
function listeners(socket: Socket): number {
  return socket.eventNames().reduce((count, event) => count + socket.listenerCount(event), 0);
}

describe("an upgrade that the server ignores", () => {
  it.each([
    ["one after the other", 1],
    ["several in one packet", 5],
  ])("leaves nothing on its connection: %s", async (_what, together) => {
    const sockets: Socket[] = [];
    const taken = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
    subscribe("net.server.socket", taken);
    onTestFinished(() => void unsubscribe("net.server.socket", taken));
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    const counts: number[] = [];
    for (let i = 0; i < 20; i++) {
      for (let n = 0; n < together; n++) client.ask("GET /ok", offer).ask("POST /size", offer, "hello");
      for (let n = 0; n < together; n++) {
        expect((await client.answer()).body).toBe("ok");
        expect((await client.answer()).body).toBe("5 bytes");
      }
      counts.push(listeners(sockets[0] as Socket));
    }
    expect(sockets).toHaveLength(1);
    expect(counts.at(-1)).toBe(counts[1]);
  });

  it("after a pending answer is answered once, whatever follows it", async () => {
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    for (let i = 0; i < 3; i++) {
      client.ask("GET /later").ask("GET /ok", offer);
      expect([(await client.answer()).body, (await client.answer()).body]).toEqual(["later", "ok"]);
      client.ask("GET /later");
      expect((await client.answer()).body).toBe("later");
    }
  });
});
