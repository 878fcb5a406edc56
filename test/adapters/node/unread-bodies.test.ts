/** Bodies that nobody reads, and those a client holds back until it is asked (facts 8.2; rows WR-03, WR-04, WR-07 to WR-10). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Path, Returns, body, get, json, post } from "usher-http";
import type { Awaitable, Route } from "usher-http";
import { clientOf } from "../../support/node-server.ts";
import { header } from "../../support/raw-client.ts";
import { notAllowed, notFound } from "../../support/refusals.ts";

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength));
const item = post(
  Path.of("item"),
  { inputs: { item: json(v.object({ name: v.string() })) }, returns: Returns.text },
  ({ item }) => item.name,
);
const ignores = (path: string, handler: () => Awaitable<string>): Route =>
  post(Path.of(path), { returns: Returns.text }, handler);
const routes = [
  size,
  item,
  ignores("now", () => "now"),
  ignores("later", async () => "later"),
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
];
const chunked = "transfer-encoding: chunked";
const post1 = (path: string, ...headers: readonly string[]) => [`POST ${path} HTTP/1.1`, "host: h", ...headers, "", ""];

describe("a body that nobody reads", () => {
  const smuggled = "GET /ok HTTP/1.1\r\nhost: h\r\n\r\n";

  it.each([
    ["/now", 200, "now"],
    ["/later", 200, "later"],
    ["/nowhere", 404, notFound],
    ["/ok", 405, notAllowed],
  ])("WR-03 of %s is never taken for a request", async (path, status, body) => {
    for (const [framing, sent] of [
      [`content-length: ${smuggled.length}`, [smuggled]],
      [chunked, [smuggled.length.toString(16), smuggled, "0", "", ""]],
    ] as const) {
      const client = await clientOf(routes);
      client.send([...post1(path, framing).slice(0, -1), sent.join("\r\n")].join("\r\n"));
      const answered = await client.answer();
      expect([answered.status, answered.body]).toEqual([status, body]);
      if (header(answered, "connection") !== "close") {
        expect((await client.ask("POST /size", [], "four").answer()).body).toBe("4");
        client.socket.end();
      }
      expect(await client.rest()).toBe("");
    }
  });

  it.each(["/now", "/later", "/nowhere"])(
    "WR-04 past 64 KiB is never read: %s is answered, and closed",
    async (path) => {
      const client = await clientOf(routes);
      const body = Buffer.alloc(4 * 1024 * 1024);
      client.send(...post1(path, `content-length: ${body.length}`));
      client.socket.write(body);
      const answered = await client.answer();
      expect([answered.status < 500, header(answered, "connection")]).toEqual([true, "close"]);
      await client.closed();
    },
  );
});

describe("Expect: 100-continue", () => {
  const expects = (path: string, length: number) => post1(path, "expect: 100-continue", `content-length: ${length}`);

  it("WR-07 is told to go on where the body is read", async () => {
    const client = await clientOf(routes);
    expect(await client.send(...expects("/size", 4)).answer()).toMatchObject({ status: 100, head: [] });
    expect((await client.send("four").answer()).body).toBe("4");
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("WR-07 is answered and closed, without that word, where the body is not read", async () => {
    const unread = [
      ["/now", {}, 200],
      ["/nowhere", {}, 404],
      ["/size", { maxBody: 3 }, 413],
      // SV-15
      ["/size", { bodyBudget: 3 }, 503],
    ] as const;
    await Promise.all(
      unread.map(async ([path, options, status]) => {
        const client = await clientOf(routes, options);
        const answered = await client.send(...expects(path, 4)).answer();
        expect([answered.status, header(answered, "connection")]).toEqual([status, "close"]);
        await client.closed();
      }),
    );
  });

  it("WR-07 nor where the content type is refused before", async () => {
    const client = await clientOf(routes);
    const answered = await client
      .send(...post1("/item", "expect: 100-continue", "content-length: 4", "content-type: text/plain"))
      .answer();
    expect([answered.status, header(answered, "connection")]).toEqual([415, "close"]);
  });

  it("WR-09 with no body is answered, and kept", async () => {
    const client = await clientOf(routes);
    const answered = await client.ask("GET /ok", ["expect: 100-continue"]).answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([200, "ok", undefined]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("WR-10 on HTTP/1.0 has no such word", async () => {
    const client = await clientOf(routes);
    const answered = await client
      .send("POST /size HTTP/1.0", "expect: 100-continue", "content-length: 4", "", "four")
      .answer();
    expect([answered.status, answered.body]).toEqual([200, "4"]);
  });
});
