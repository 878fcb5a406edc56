/** An app behind `@whatwg-node/server` in a server of `node:http2`. */
import { expect, it } from "vitest";
import { Codec, Header, Path, Returns, Socket, bodyStream, clientGone, get, json, post } from "usher-http";
import * as v from "valibot";
import { http2Ask } from "../../support/http2-client.ts";
import { http2ClientOf } from "./adapted.ts";

const chat = Socket.protocol({ client: Socket.text, server: Socket.text });
const signals: AbortSignal[] = [];
const upload = bodyStream({ max: 8_000_000 });
const routes = [
  get(Path.of("chat"), { returns: Returns.websocket(chat) }, () => async () => {}),
  post(Path.of("json"), { inputs: { item: json(v.string()) }, returns: Returns.text }, ({ item }) => item),
  get(Path.of("kept"), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => {
    signals.push(clientGone);
    return "kept";
  }),
  get(
    Path.of("cookies"),
    { inputs: { cookies: Header.required("cookie", Codec.string) }, returns: Returns.text },
    ({ cookies }) => cookies,
  ),
  post(Path.of("begun"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
    await upload.read();
    return "begun";
  }),
];

it("a route of WebSockets refuses over HTTP/2 without the header that HTTP/2 lacks", async () => {
  const session = await http2ClientOf(routes);
  const { status, headers } = await http2Ask(session, { ":path": "/chat" });
  expect([status, headers.upgrade]).toEqual([426, undefined]);
});

it("cookies that a client splits over HTTP/2 are one header", async () => {
  const session = await http2ClientOf(routes);
  const answer = await http2Ask(session, { ":path": "/cookies", cookie: ["a=1", "b=2"] });
  expect([answer.status, answer.body]).toEqual([200, "a=1; b=2"]);
});

it("a body over HTTP/2 is read, and its client is not gone after the answer", async () => {
  const session = await http2ClientOf(routes);
  const head = { ":path": "/json", ":method": "POST", "content-type": "application/json" };
  expect((await http2Ask(session, head, '"a"')).body).toBe("a");
  expect((await http2Ask(session, { ":path": "/kept" })).body).toBe("kept");
  expect((await http2Ask(session, { ":path": "/kept" })).body).toBe("kept");
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
});

it.each([
  ["/begun", 200],
  ["/json", 413],
])("a body over HTTP/2 that %s reads a part of leaves no stream open", async (path, status) => {
  const session = await http2ClientOf(routes);
  const head = { ":path": path, ":method": "POST", "content-type": "application/json" };
  // More than the window of a stream holds.
  const answer = await http2Ask(session, head, Buffer.alloc(4_000_000, "1"));
  expect(answer.status).toBe(status);
});
