/** HTTP/2 on Deno, which speaks it with each client that begins so: a request has no `Host`, and its body need not have a length. */
import { describe, expect, it } from "vitest";
import { http2Ask, http2Client } from "../../support/http2-client.ts";
import { start } from "./start.ts";

describe("a request of HTTP/2", () => {
  it.each([
    ["in one part", "hello", "5 bytes"],
    ["in several parts", ["he", "", "llo"], "5 bytes"],
    ["of nothing", "", "0 bytes"],
    ["that does not begin", undefined, "0 bytes"],
  ] as const)("has its body read without a length: %s", async (_, body, text) => {
    const session = await http2Client((await start()).url);
    const answer = await http2Ask(session, { ":method": "POST", ":path": "/size" }, body);
    expect([answer.status, answer.body]).toEqual([200, text]);
  });

  it("has its body read with a length", async () => {
    const session = await http2Client((await start()).url);
    const headers = { ":method": "POST", ":path": "/size", "content-length": "5" };
    expect((await http2Ask(session, headers, "hello")).body).toBe("5 bytes");
  });

  it("with a body past the limit, and without its length, is a 413", async () => {
    const session = await http2Client((await start({ maxBody: 4 })).url);
    expect((await http2Ask(session, { ":method": "POST", ":path": "/size" }, "hello")).status).toBe(413);
  });

  it("is for the host of its authority, without TLS too", async () => {
    const session = await http2Client((await start()).url);
    const answer = await http2Ask(session, { ":path": "/no/where", ":authority": "shop.example:81" });
    expect(JSON.parse(answer.body)).toEqual({ method: "GET", target: "/no/where", host: "shop.example:81" });
  });

  it("from a page of its own host is of the same origin (row XO-07)", async () => {
    const session = await http2Client((await start()).url);
    const headers = { ":method": "POST", ":path": "/size", ":authority": "shop.example" };
    expect((await http2Ask(session, { ...headers, origin: "https://shop.example" }, "a")).status).toBe(200);
    expect((await http2Ask(session, { ...headers, origin: "https://other.example" }, "a")).status).toBe(403);
  });
});

describe("a request of HTTP/1.0 without Host", () => {
  it("is for no host, and not for the address of the listener", async () => {
    const client = await (await start()).client();
    client.send("GET /no/where HTTP/1.0", "", "");
    expect(JSON.parse((await client.answer()).body)).toEqual({ method: "GET", target: "/no/where" });
  });
});
