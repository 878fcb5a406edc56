/** Bodies of requests that come through `@whatwg-node/server` (contract 2.7, 4.5; facts 8.2). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Codec, Form, Path, Returns, bodyStream, json, post } from "usher-http";
import { messages } from "../../support/logs.ts";
import { header, turns } from "../../support/raw-client.ts";
import { tooLarge, unsupported } from "../../support/refusals.ts";
import { clientOf, clientTo, adapterOf, serving } from "./adapted.ts";
import { eventually } from "../../support/eventually.ts";

const Item = v.object({ name: v.string() });
const routes = [
  post(Path.of("json"), { inputs: { item: json(Item) }, returns: Returns.json(Item) }, ({ item }) => item),
  post(
    Path.of("form"),
    { inputs: { name: Form.required("name", Codec.string), file: Form.File.optional("file") }, returns: Returns.text },
    ({ name, file }) => `${name} ${file?.content.byteLength ?? "-"}`,
  ),
  post(
    Path.of("upload"),
    { inputs: { upload: bodyStream({ max: 1e9 }) }, returns: Returns.text },
    async ({ upload }) => {
      let length = 0;
      for await (const part of upload) length += part.byteLength;
      return String(length);
    },
  ),
];

const parts = [
  "--b",
  'content-disposition: form-data; name="name"',
  "",
  "a",
  "--b",
  'content-disposition: form-data; name="file"; filename="a.txt"',
  "",
  "12345",
  "--b--",
  "",
].join("\r\n");

describe("a body", () => {
  it.each([
    ["/json", "application/json", '{"name":"a","more":1}', 200, '{"name":"a"}'],
    ["/json", "text/plain", "{}", 415, unsupported],
    ["/form", "application/x-www-form-urlencoded", "name=a+b", 200, "a b -"],
    ["/form", "multipart/form-data; boundary=b", parts, 200, "a 5"],
    ["/upload", "a/b", "x".repeat(300_000), 200, "300000"],
  ])("to %s of %s is read", async (path, type, body, status, told) => {
    const client = await clientOf(routes);
    const answered = await client.ask(`POST ${path}`, [`content-type: ${type}`], body).answer();
    expect([answered.status, answered.body]).toEqual([status, told]);
    expect((await client.ask(`POST ${path}`, [`content-type: ${type}`], body).answer()).status).toBe(status);
  });

  it("that is chunked is read as well", async () => {
    const client = await clientOf(routes);
    client.ask("POST /upload", ["transfer-encoding: chunked"]).send("5", "hello", "6", " world", "0", "", "");
    expect((await client.answer()).body).toBe("11");
  });

  it("longer than the limit is 413, by Content-Length or by its chunks, and the connection stays open", async () => {
    const client = await clientOf(routes, { maxBody: 1000 });
    const type = "content-type: application/json";
    expect((await client.ask("POST /json", [type], "x".repeat(1001)).answer()).body).toBe(tooLarge);
    client.ask("POST /json", [type, "transfer-encoding: chunked"]);
    client.send((1001).toString(16), "x".repeat(1001), "0", "", "");
    expect((await client.answer()).body).toBe(tooLarge);
    expect((await client.ask("POST /json", [type], '{"name":"a"}').answer()).body).toBe('{"name":"a"}');
  });

  it("that the handler does not read ends the connection above 64 KiB, and a client that still sends gets its answer", async () => {
    for (const [framing, bytes] of [
      ["content-length: 4000000", "x".repeat(300_000)],
      ["transfer-encoding: chunked", `100000\r\n${"x".repeat(300_000)}`],
      ["transfer-encoding: chunked", "1\r\na\r\n"],
    ] as const) {
      const client = await clientOf(routes);
      client.send("POST /json HTTP/1.1", "host: h", "content-type: text/plain", framing, "", bytes);
      const answered = await client.answer();
      expect([answered.status, header(answered, "connection")]).toEqual([415, "close"]);
      await client.closed();
    }
  });

  it("whose client disconnects in the middle leaves no bytes held", async () => {
    const adapter = adapterOf(routes, { maxBody: 100_000, bodyBudget: 100_000 });
    const server = await serving((request, response) => void adapter(request, response));
    for (let i = 0; i < 3; i++) {
      const client = await clientTo(server);
      client.ask("POST /json", ["content-type: application/json", "content-length: 99000"]).send("x".repeat(90_000));
      await turns(client.socket.remotePort as number);
      client.leave();
      await eventually(() => {
        const unreadable = messages("warn").filter((text) => text === "POST /json: unreadable: the body ended early");
        expect(unreadable).toHaveLength(i + 1);
      });
    }
    const client = await clientTo(server);
    const body = `{"name":"${"x".repeat(90_000)}"}`;
    expect((await client.ask("POST /json", ["content-type: application/json"], body).answer()).status).toBe(200);
  });
});
