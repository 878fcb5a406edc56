/** Bodies of requests to a Worker (contract 2.7, 4.5; facts 8.2). */
import { beforeAll, describe, expect, it } from "vitest";
import { invalid, tooLarge } from "../../support/refusals.ts";
import { bundle, start } from "./running.ts";
import type { Running } from "./running.ts";

let worker: Running;
beforeAll(async () => {
  worker = await start(await bundle({ file: "program.ts" }), { bindings: { WORD: "hello" } });
});

const typed = (type: string): readonly string[] => [`content-type: ${type}`];
const parts = [
  "--b",
  'content-disposition: form-data; name="name"',
  "",
  "é",
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
    [
      "/json",
      "application/json",
      '{"name":1}',
      400,
      invalid(["body.name", "unexpected_type", "This must be text, not a number."]),
    ],
    ["/json", "application/json", '{"name', 400, invalid(["body", "malformed", "This is not JSON."])],
    ["/form", "application/x-www-form-urlencoded", "name=a+b", 200, "a b -"],
    ["/form", "multipart/form-data; boundary=b", Buffer.from(parts).toString("latin1"), 200, "é 5"],
    ["/upload", "a/b", "x".repeat(3_000), 200, "3000"],
  ])("to %s of %s is read", async (path, type, body, status, told) => {
    const client = await worker.client();
    const answered = await client.ask(`POST ${path}`, typed(type), body).answer();
    expect([answered.status, answered.body]).toEqual([status, told]);
  });

  it("that is chunked is read as well", async () => {
    const client = await worker.client();
    client.ask("POST /upload", [...typed("a/b"), "transfer-encoding: chunked"]);
    for (const size of [1, 5000, 20_000]) client.send(size.toString(16), "x".repeat(size), "");
    expect((await client.send("0", "", "").answer()).body).toBe("25001");
  });

  it("that is absent is empty", async () => {
    const client = await worker.client();
    expect((await client.ask("POST /upload", typed("a/b")).answer()).body).toBe("0");
  });

  it("longer than the limit is 413, by its length or by its chunks", async () => {
    const client = await worker.client();
    expect((await client.ask("POST /form", ["content-length: 100001", ...typed("a/b")]).answer()).status).toBe(415);
    const long = await worker.client();
    long.ask("POST /json", ["content-length: 100001", ...typed("application/json")]);
    expect((await long.answer()).body).toBe(tooLarge);
    const chunked = await worker.client();
    chunked.ask("POST /json", ["transfer-encoding: chunked", ...typed("application/json")]);
    chunked.send((100_001).toString(16), "x".repeat(100_001), "");
    expect((await chunked.answer()).body).toBe(tooLarge);
  });
});

describe("a client that disconnects in the middle of its body", () => {
  it.each([["by closing"], ["by a reset"]])("%s leaves no bytes held", async (how) => {
    // The budget has room for one of these. If one were left held, the next would be busy, and not unreadable.
    for (let i = 0; i < 4; i++) {
      const client = await worker.client();
      client.ask("POST /json", ["content-length: 99000", ...typed("application/json")]).send("x".repeat(90_000));
      const other = await worker.client();
      for (let turn = 0; turn < 5; turn++) await other.ask("GET /").answer();
      if (how === "by closing") client.socket.end();
      else client.leave();
      await worker.line("POST /json: unreadable: the body ended early");
    }
    const client = await worker.client();
    const body = `{"name":"${"x".repeat(90_000)}"}`;
    expect((await client.ask("POST /json", typed("application/json"), body).answer()).status).toBe(200);
  });
});
