/** The request that an application's own reader gets: `request` and `Dep.ofRequest` (contract 4.4; facts 9.1). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Codec, Dep, Path, Proxies, Query, Refusal, Returns, Test, get, refuse, request } from "usher-http";
import type { RequestRecord } from "usher-http";
import { invalid } from "../support/refusals.ts";
import "../support/logs.ts";

async function seen<A>(look: (request: RequestRecord) => A, target = "/x", options: Test.CallOptions = {}): Promise<A> {
  let looked: A | undefined;
  const route = get(
    Path.of("x"),
    { inputs: { request }, returns: Returns.text },
    ({ request }) => ((looked = look(request)), ""),
  );
  expect((await Test.call(Test.app([route]), "GET", target, options)).status).toBe(200);
  return looked as A;
}

describe("the request record", () => {
  it("has the parts of the request line, as they were sent", async () => {
    const line = await seen(({ method, target, rawPath }) => [method, target, rawPath], "/%78?q=%20");
    expect(line).toEqual(["GET", "/%78?q=%20", "/%78"]);
  });

  it("reads queries as the inputs do", async () => {
    const query = (name: string) =>
      seen((request) => [request.query(name), ...request.queries(name)], "/x?a=1&a=+2&b=%ff&b=3&c");
    expect(await query("a")).toEqual(["1", "1", " 2"]);
    expect(await query("b")).toEqual([undefined, "3"]);
    expect(await query("c")).toEqual(["", ""]);
    expect(await query("d")).toEqual([undefined]);
  });

  it("reads headers case-insensitively, with lines joined, and lists them in the order of sending in lower case", async () => {
    const headers = [
      ["X-One", " 1 "],
      ["x-two", "a"],
      ["X-TWO", "b"],
      ["Host", "EXAMPLE.com"],
    ] as const;
    const told = await seen(
      (request) => [request.header("x-ONE"), request.header("X-Two"), request.header("none"), request.host],
      "/x",
      { headers },
    );
    expect(told).toEqual(["1", "a, b", undefined, "example.com"]);
    const listed = await seen((request) => [...request.headers].map(([name, value]) => `${name}=${value}`), "/x", {
      headers,
    });
    expect(listed.slice(0, 4)).toEqual(["x-one= 1 ", "x-two=a", "x-two=b", "host=EXAMPLE.com"]);
  });

  it("reads cookies as the inputs do", async () => {
    const headers = [
      ["cookie", "a=1; b=2"],
      ["cookie", "b=3"],
    ] as const;
    expect(
      await seen((request) => [request.cookie("a"), request.cookie("b"), request.cookie("c")], "/x", { headers }),
    ).toEqual(["1", "2", undefined]);
  });

  it("has one id and one time", async () => {
    const [record, ...read] = await seen((request) => [request, request.id, request.now] as const, "/x", {
      now: new Date(7),
    });
    expect([record.id, record.now]).toEqual(read);
    expect(record.now).toEqual(new Date(7));
  });

  it("has `secure`, by what the connection or a trusted proxy says, whatever the host", async () => {
    const app = Test.app(
      [get(Path.root, { inputs: { request }, returns: Returns.text }, ({ request }) => String(request.secure))],
      { trustedProxies: Proxies.make(["10.0.0.1"]) },
    );
    const rows = [
      ["192.0.2.1", undefined, "false"],
      ["192.0.2.1", "https", "false"],
      ["10.0.0.1", undefined, "false"],
      ["10.0.0.1", "http", "false"],
      ["10.0.0.1", "https", "true"],
      ["10.0.0.1", "https, http", "false"],
    ] as const;
    for (const host of ["localhost", "127.0.0.1", "shop.example", "[::1]:8080"]) {
      for (const [peer, proto, expected] of rows) {
        const headers = { host, ...(proto === undefined ? {} : { "x-forwarded-proto": proto }) };
        const { body } = await Test.call(app, "GET", "/", { headers, peer });
        expect([host, peer, proto, body]).toEqual([host, peer, proto, expected]);
      }
    }
    const { fetch } = App.make([
      get(Path.root, { inputs: { request }, returns: Returns.text }, ({ request }) => String(request.secure)),
    ]);
    const by = async (url: string) => (await fetch(new Request(url))).text();
    expect([await by("https://shop.example/"), await by("http://shop.example/")]).toEqual(["true", "false"]);
  });

  it("has `secureCookies`, as cookies are sent", async () => {
    const secure = (host: string) => seen(({ secureCookies }) => secureCookies, "/x", { headers: { host } });
    expect(await Promise.all(["localhost", "127.0.0.1:80", "[::1]:8080", "LOCALHOST:1"].map(secure))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(
      await Promise.all(["example.com", "localhost.example.com", "127.0.0.1.example.com", "xlocalhost"].map(secure)),
    ).toEqual([true, true, true, true]);
  });
});

describe("Dep.ofRequest", () => {
  const denied = Refusal.code("denied", { status: 403, doc: "No." });

  it("returns a value, a refusal or a problem, also as a promise", async () => {
    const q = Query.required("q", Codec.int);
    const by = Dep.ofRequest(
      async (request) => {
        const word = request.query("word");
        if (word === "no") return refuse(denied);
        return word ?? Dep.problem({ at: "query.word", code: "required", message: "Say a word." });
      },
      { refuses: [denied], needs: [{ in: "query", name: "word" }] },
    );
    const route = get(Path.root, { inputs: { q, by }, returns: Returns.text }, ({ q, by }) => `${q} ${by}`);
    const at = async (target: string) => (await Test.call(Test.app([route]), "GET", target)).body;
    expect(await at("/?q=1&word=yes")).toBe("1 yes");
    expect(await at("/?word=no")).toBe('{"error":"denied","message":"No."}');
    expect(await at("/")).toBe(
      invalid(["query.q", "required", "This is required."], ["query.word", "required", "Say a word."]),
    );
  });

  it("sees what a standard Request shows", async () => {
    const by = Dep.ofRequest((request) => [
      request.host ?? "-",
      request.target,
      request.peer,
      request.header("x-a") ?? "-",
    ]);
    const { fetch } = App.make([
      get(Path.of("a"), { inputs: { by }, returns: Returns.json(v.array(v.string())) }, ({ by }) => by),
    ]);
    const response = await fetch(
      new Request("http://Example.com:81/a?b=%20", {
        headers: [
          ["x-a", "1"],
          ["x-a", "2"],
        ],
      }),
      { peer: "192.0.2.9" },
    );
    expect(await response.json()).toEqual(["example.com:81", "/a?b=%20", "192.0.2.9", "1, 2"]);
  });
});
