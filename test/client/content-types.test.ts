/** The typed client distinguishes a stream, a text and other bodies by the media type, with any parameters. */
import { expect, it } from "vitest";
import { Answer, Client, Path, Returns, get } from "usher-http";
import { start } from "../support/node-server.ts";
import { isEventStream } from "../../src/app/exchange.ts";

const feed = get(Path.of("feed"), { returns: Returns.text }, () => "");

function kindOf(value: unknown): string {
  if (value instanceof Response) return "response";
  if (typeof value === "string") return "text";
  return Symbol.asyncIterator in (value as object) ? "stream" : "unknown";
}

it.each([
  "application/json",
  "Application/JSON ; charset=utf-8",
  "application/vnd.example+json",
  "application/vnd.example+json;v=1",
])("%s is JSON", async (type) => {
  const fetch = async () => new Response("7", { headers: { "content-type": type } });
  const got = await Client.of<[typeof feed]>({ baseUrl: "http://localhost", fetch })["GET /feed"]();
  expect(got).toMatchObject({ ok: true, value: 7 });
});

it.each([
  ["text/event-stream", "stream"],
  ["TEXT/Event-Stream ;charset=utf-8", "stream"],
  ["text/event-stream-foo", "text"],
  ["text/event-stream.foo; charset=utf-8", "text"],
  ["application/jsonl", "stream"],
  ["application/x-ndjson ; a=b", "stream"],
  ["application/jsonl-foo", "response"],
  ["application/json-seq", "response"],
  ["application/json5; a=b", "response"],
  ["application/vnd.example+json-seq", "response"],
])("%s is a %s", async (type, expected) => {
  const fetch = async () => new Response("", { headers: { "content-type": type } });
  const got = await Client.of<[typeof feed]>({ baseUrl: "http://localhost", fetch })["GET /feed"]();
  expect(kindOf(got.ok ? got.value : got)).toBe(expected);
  const isEvents = isEventStream({ status: 200, head: ["content-type", type], body: undefined, closes: false });
  expect(isEvents).toBe(/event-stream *(;|$)/i.test(type));
});

it("a response is of the kind that its route's content types say, over a connection", async () => {
  const bytes = new Uint8Array([37, 80, 68, 70]);
  const pdf = get(
    Path.of("pdf"),
    { returns: Returns.responses({ 200: { doc: "", contentTypes: ["application/pdf"] } }) },
    () => Answer.make(bytes, { contentType: "application/pdf" }),
  );
  const returns = Returns.responses({ 200: { doc: "", contentTypes: ["text/csv"] } });
  const csv = get(Path.of("csv"), { returns }, () => Answer.make("a,b", { contentType: "text/csv" }));
  const { port } = await start([pdf, csv]);
  const api = Client.of<readonly [typeof pdf, typeof csv]>({ baseUrl: `http://127.0.0.1:${port}` });
  const file = await api["GET /pdf"]();
  const text = await api["GET /csv"]({ signal: undefined });
  expect(file.ok && file.value instanceof Response && new Uint8Array(await file.value.arrayBuffer())).toEqual(bytes);
  expect(text.ok && (text.value satisfies string)).toBe("a,b");
});

it.each([
  "application/json",
  "text/plain; charset=utf-8",
  "text/event-stream",
  "application/x-ndjson",
  "image/png",
  "",
])("the member response of a call has the Response, unread, of %j", async (type) => {
  const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
  const fetch = async () => new Response(new TextEncoder().encode('{"a":1}'), { headers });
  // What is read whole has a limit; this is for the caller to read.
  const api = Client.of<[typeof feed]>({ baseUrl: "http://localhost", fetch, maxBody: 3 });
  for (const signal of [undefined, new AbortController().signal]) {
    const got = await api["GET /feed"].response({ signal });
    expect(got.ok && [got.value.headers.get("content-type") ?? "", await got.value.text()]).toEqual([type, '{"a":1}']);
  }
});

it("the member response of a call has no body of a 204, and a refusal where there is one", async () => {
  const answers = [
    new Response(null, { status: 204 }),
    Response.json({ error: "not_found", message: "No." }, { status: 404 }),
    new Response("<html>", { status: 502 }),
  ];
  const api = Client.of<[typeof feed]>({ baseUrl: "http://localhost", fetch: async () => answers.shift() as Response });
  const none = await api["GET /feed"].response();
  expect(none.ok && [none.status, none.value.body]).toEqual([204, null]);
  expect(await api["GET /feed"].response()).toMatchObject({ ok: false, error: "not_found", message: "No." });
  expect(await api["GET /feed"].response()).toMatchObject({ ok: false, status: 502, error: "unreachable" });
});

it("a file of any type is the Response that was sent, over a connection, and ends with its signal", async () => {
  const bytes = new TextEncoder().encode('["a user\'s own JSON"]');
  const file = get(Path.of("file"), { returns: Returns.response }, () =>
    Answer.make(bytes, { contentType: "application/json" }),
  );
  async function* zeros() {
    for (;;) yield new Uint8Array(1024);
  }
  const endless = get(Path.of("endless"), { returns: Returns.response }, () =>
    Answer.stream(zeros(), { contentType: "text/plain" }),
  );
  const { port } = await start([file, endless]);
  const api = Client.of<readonly [typeof file, typeof endless]>({ baseUrl: `http://127.0.0.1:${port}` });
  const got = await api["GET /file"].response();
  expect(got.ok && new Uint8Array(await got.value.arrayBuffer())).toEqual(bytes);
  const stopping = new AbortController();
  const begun = await api["GET /endless"].response({ signal: stopping.signal });
  const reader = begun.ok ? begun.value.body?.getReader() : undefined;
  expect((await reader?.read())?.done).toBe(false);
  stopping.abort();
  const rest = async (): Promise<void> => {
    while ((await reader?.read())?.done === false);
  };
  await expect(rest()).rejects.toThrow(/abort/i);
});
