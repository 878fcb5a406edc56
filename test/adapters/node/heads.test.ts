/** Heads that are no request (facts 1.6; rows HD, LG-25): answered bare, logged, and closed. */
import { getActiveResourcesInfo } from "node:process";
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, get } from "usher-http";
import { logged, messages } from "../../support/logs.ts";
import { clientOf, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import type { RawAnswer } from "../../support/raw-client.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

/** It is bare: no body, no id, nothing but its framing and the date; and nothing follows it. */
async function refuses(client: RawClient, status: number): Promise<RawAnswer> {
  const answered = await client.answer();
  expect([answered.status, answered.body, header(answered, "connection")]).toEqual([status, "", "close"]);
  expect([header(answered, "x-request-id"), header(answered, "content-type")]).toEqual([undefined, undefined]);
  expect(await client.rest()).toBe("");
  return answered;
}

describe("a malformed head is a 400", () => {
  const get1 = "GET /hello HTTP/1.1";
  const malformed: readonly (readonly [id: string, what: string, head: readonly string[]])[] = [
    ["HD-15", "a bare CR in the request line", ["GET /hel\rlo HTTP/1.1", "host: h"]],
    ["HD", "no version", ["GET /hello HTTP", "host: h"]],
    ["HD-25", "a version in lower case", ["GET /hello http/1.1", "host: h"]],
    ["HD-22", "a method that is no token", ["GE(T /hello HTTP/1.1", "host: h"]],
    ["HD", "a method in lower case", ["get /hello HTTP/1.1", "host: h"]],
    ["HD", "a target with a tab", ["GET /a\tb HTTP/1.1", "host: h"]],
    ["HD", "a target with a byte past ASCII", ["GET /\u00e9 HTTP/1.1", "host: h"]],
    ["HD", "a target with a backslash before it", ["GET \\\\elsewhere.example/hello HTTP/1.1", "host: h"]],
    ["HD-16", "a blank before the colon", [get1, "host: h", "x : y"]],
    ["HD-18", "a name that is no token", [get1, "host: h", "x(y: z"]],
    ["HD", "a name that is empty", [get1, "host: h", ": z"]],
    ["HD", "a field with no colon", [get1, "host: h", "xyz"]],
    ["HD", "a folded field", [get1, "host: h", "x: a", " b"]],
    ["HD-19", "NUL in a value", [get1, "host: h", "x: a\u0000b"]],
    ["HD", "a control character in a value", [get1, "host: h", "x: a\u0001b"]],
    ["HD-21", "DEL in a value", [get1, "host: h", "x: a\u007fb"]],
    ["HD", "a bare CR in a value", [get1, "host: h", "x: a\rb"]],
    ["HD", "no Host", [get1, "x: y"]],
    ["HD", "the first bytes of TLS", ["\u0016\u0003\u0001\u0002\u0000\u0001\u0000"]],
    ["BD-12", "two lengths", ["POST /hello HTTP/1.1", "host: h", "content-length: 5", "content-length: 6"]],
    ["BD", "a length below 0", ["POST /hello HTTP/1.1", "host: h", "content-length: -5"]],
    ["BD-15", "two framings", ["POST /hello HTTP/1.1", "host: h", "content-length: 5", "transfer-encoding: chunked"]],
    ["BD-18", "chunked twice", ["POST /hello HTTP/1.1", "host: h", "transfer-encoding: chunked, chunked"]],
  ];
  it.each(malformed)("%s %s", async (_id, _what, head) => {
    const server = await start([hello]);
    const client = await RawClient.to(server.port);
    await refuses(client.send(...head, "", ""), 400);
    expect(messages("info").filter((message) => String(message).startsWith("GET "))).toEqual([]);
    const other = await RawClient.to(server.port);
    expect((await other.ask("GET /hello").answer()).body).toBe("hi");
  });

  it("LG-25 is an info line of its own, and no access line", async () => {
    await refuses((await clientOf([hello])).send("no request", "", ""), 400);
    const [listening, refused, ...more] = messages("info");
    expect([listening, more]).toEqual([expect.stringMatching(/^listening on /), []]);
    expect(refused).toMatch(/^refused a request head: 400 \S/);
    expect(logged().join("\n")).not.toContain("no request");
  });

  it("WR-15 the answer reaches a client that is still sending", async () => {
    const { port } = await start([hello]);
    const client = await RawClient.to(port);
    const reset = vi.fn();
    client.socket.on("error", reset);
    await refuses(client.send("no request", "", "x".repeat(32_768)), 400);
    // It was told that nothing more comes, and that is no reset: up to 64 KiB of what it sends is dropped.
    client.send("x".repeat(16_384));
    await turns(port);
    client.socket.end("x".repeat(16_000));
    await new Promise((resolve) => client.socket.once("close", resolve));
    expect(reset).not.toHaveBeenCalled();
  });

  it.each([
    ["goes on and on", (client: RawClient) => client.socket.write(Buffer.alloc(1 << 20))],
    ["says nothing more, for a second", () => vi.advanceTimersByTime(2000)],
  ])("WR-15 a client that %s is cut off", async (_what, act) => {
    const sockets = () => getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    await vi.waitFor(() => expect(sockets()).toBe(0));
    holdClock();
    const client = await clientOf([hello]);
    await refuses(client.send("no request", "", ""), 400);
    expect(sockets()).toBe(2);
    act(client);
    await vi.waitFor(() => expect(sockets()).toBeLessThan(2));
  });

  it("behind a good request it ends the connection, and the good one is answered", async () => {
    const client = await clientOf([hello]);
    client.ask("GET /hello");
    expect((await client.answer()).body).toBe("hi");
    await refuses(client.send("no request", "", ""), 400);
  });
});

describe("a head that takes too long is a 408", () => {
  it.each([
    ["the first word", "GET"],
    ["half a head", "GET /hello HTTP/1.1\r\nhost: h\r\nx: "],
  ])("%s", async (_what, text) => {
    await refuses((await clientOf([hello], { headTimeoutMs: 100 })).send(text), 408);
    expect(messages("info").at(-1)).toMatch(/^refused a request head: 408 /);
  });

  it("the second of a connection, too", async () => {
    const client = await clientOf([hello], { headTimeoutMs: 100 });
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    await refuses(client.send("GET /hello HTTP/1.1\r\nhost"), 408);
  });

  it("a client that waits with its next one has done no wrong: it is closed without a word", async () => {
    const client = await clientOf([hello], { headTimeoutMs: 50, idleTimeoutMs: 200 });
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    expect(await client.rest()).toBe("");
  });
});

describe("a head that is too long is a 431", () => {
  it.each([
    ["one field", ["GET /hello HTTP/1.1", "host: h", `x: ${"a".repeat(2000)}`]],
    ["many fields", ["GET /hello HTTP/1.1", "host: h", ...Array.from({ length: 200 }, (_, i) => `x-${i}: 1`)]],
    ["its line", [`GET /${"a".repeat(2000)} HTTP/1.1`, "host: h"]],
    ["one field that never ends", ["GET /hello HTTP/1.1", "host: h", `x: ${"a".repeat(100_000)}`]],
  ])("%s", async (_what, head) => {
    await refuses((await clientOf([hello], { maxHeaderBytes: 1024 })).send(...head, "", ""), 431);
    expect(messages("info").at(-1)).toMatch(/^refused a request head: 431 /);
  });

  it("up to the limit it is read, and no field of it dropped", async () => {
    const fields = Array.from({ length: 1500 }, (_, i) => `x-${i}: 1`);
    const client = await clientOf([hello], { maxHeaderBytes: 65_536 });
    expect((await client.ask("GET /hello", [...fields, "x-last: 1"]).answer()).status).toBe(200);
  });
});
