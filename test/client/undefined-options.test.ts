/** An option that is undefined is as one that is left out: what it is made of may be missing. */
import { expect, it } from "vitest";
import { App, Client, HttpClient, Path, Returns, Test, get } from "usher-http";
import { start } from "../support/node-server.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");
const app = App.make([hello]);
const none = undefined;

it("of a client", async () => {
  const limits = { maxBody: none, maxLine: none, maxEvent: none, minReconnectMs: none };
  const others = { headers: none, readRefusal: none, webSocket: none, maxSocketBuffer: none, openTimeoutMs: none };
  const api = Client.of<readonly [typeof hello]>({ baseUrl: "http://h", fetch: app.fetch, ...limits, ...others });
  expect(await api["GET /hello"]({ signal: none })).toMatchObject({ ok: true, value: "hi" });
  const read = (): { readonly error: string; readonly message: string; readonly problems: undefined } => {
    return { error: "no", message: "No.", problems: none };
  };
  const refusing = Client.of<readonly [typeof hello]>({
    baseUrl: "http://h",
    fetch: async () => new Response("", { status: 404 }),
    readRefusal: read,
  });
  expect(await refusing["GET /hello"]()).toMatchObject({ error: "no", problems: [] });
});

it("of a client whose fetch is the platform's", async () => {
  const { url } = await start([hello]);
  const api = Client.of<readonly [typeof hello]>({ baseUrl: url, fetch: none });
  expect(await api["GET /hello"]()).toMatchObject({ ok: true, value: "hi" });
  const client = HttpClient.make({ baseUrl: none, timeoutMs: none, maxBody: none, headers: none });
  expect(await (await client.fetch(`${url}/hello`, { timeoutMs: none })).text()).toBe("hi");
});

it("of a call of a test", async () => {
  const options = { headers: none, body: none, peer: none, peerCertificate: none, now: none, gone: none };
  expect((await Test.call(Test.app([hello]), "GET", "/hello", options)).body).toBe("hi");
});
