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
