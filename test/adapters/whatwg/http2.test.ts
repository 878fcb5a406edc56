/** An app behind `@whatwg-node/server` in a server of `node:http2`. */
import { expect, it } from "vitest";
import { Path, Returns, Socket, clientGone, get, json, post } from "usher-http";
import * as v from "valibot";
import { http2Ask } from "../../support/http2-client.ts";
import { http2ClientOf } from "./adapted.ts";

const chat = Socket.protocol({ client: Socket.text, server: Socket.text });
const signals: AbortSignal[] = [];
const routes = [
  get(Path.of("chat"), { returns: Returns.websocket(chat) }, () => async () => {}),
  post(Path.of("json"), { inputs: { item: json(v.string()) }, returns: Returns.text }, ({ item }) => item),
  get(Path.of("kept"), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => {
    signals.push(clientGone);
    return "kept";
  }),
];

it("a route of WebSockets refuses over HTTP/2 without the header that HTTP/2 lacks", async () => {
  const session = await http2ClientOf(routes);
  const { status, headers } = await http2Ask(session, { ":path": "/chat" });
  expect([status, headers.upgrade]).toEqual([426, undefined]);
});

it("a body over HTTP/2 is read, and its client is not gone after the answer", async () => {
  const session = await http2ClientOf(routes);
  const head = { ":path": "/json", ":method": "POST", "content-type": "application/json" };
  expect((await http2Ask(session, head, '"a"')).body).toBe("a");
  expect((await http2Ask(session, { ":path": "/kept" })).body).toBe("kept");
  expect((await http2Ask(session, { ":path": "/kept" })).body).toBe("kept");
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
});
