/** The cross-origin check against CSRF (contract 5.7; facts 12.1; rows XO, FM-09, BS-15, WS-13). */
import { describe, expect, it } from "vitest";
import {
  Answer,
  App,
  Codec,
  Dep,
  Form,
  Path,
  Proxies,
  Returns,
  Socket,
  Test,
  body,
  get,
  post,
  request,
  route,
} from "usher-http";
import type { AppOptions } from "usher-http";
import { messages } from "../support/logs.ts";
import { notFound, notImplemented } from "../support/refusals.ts";

const refused = '{"error":"cross_origin","message":"That request came from another site, so it was not carried out."}';
let carriedOut = 0;
const act = Path.of("act");
const handler = (): string => {
  carriedOut++;
  return "done";
};
const acts = ["POST", "PUT", "PATCH", "DELETE", "PURGE", "GET", "OPTIONS"] as const;
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const socket = get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async () => {});
const routes = [...acts.map((method) => route(method, act, { returns: Returns.text }, handler)), socket];

type Headers = readonly (readonly [name: string, value: string])[];
interface Asking extends AppOptions {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  readonly peer?: string;
}

const evil = ["origin", "https://evil.example"] as const;
const site = (word: string) => ["sec-fetch-site", word] as const;
const own = ["origin", "https://example.com"] as const;

async function ask(headers: Headers, asking: Asking = {}): Promise<readonly [status: number, body: string]> {
  const { method = "POST", target = "/act", host = "example.com", peer = "192.0.2.1", ...options } = asking;
  const lines = [["host", host] as const, ...headers];
  const { status, body } = await Test.call(Test.app(routes, options), method, target, { headers: lines, peer });
  return [status, body];
}

describe("a host with a default port, as some proxies write it", () => {
  it.each<readonly [host: string, origin: string, isOwn: boolean]>([
    ["shop.example:443", "https://shop.example", true],
    ["shop.example:443", "https://shop.example:443", true],
    ["SHOP.example:443", "https://Shop.example", true],
    ["shop.example:80", "http://shop.example", true],
    ["[::1]:443", "https://[::1]", true],
    ["shop.example:443", "http://shop.example", false],
    ["shop.example:80", "https://shop.example", false],
    ["shop.example:8443", "https://shop.example", false],
    ["shop.example:443", "https://shop.example:8443", false],
    ["shop.example:443", "https://evil.example", false],
    ["evil.example:443", "https://shop.example", false],
    [":443", "https://", false],
  ])("%s is that of %s: %s", async (host, origin, isOwn) => {
    const [status] = await ask([["origin", origin]], { host });
    const handshake = await ask(
      [
        ["origin", origin],
        ["upgrade", "websocket"],
      ],
      { host, method: "POST" },
    );
    expect([status, handshake[0]]).toEqual(isOwn ? [200, 200] : [403, 403]);
    const forwarded = { trustedProxies: Proxies.make(["192.0.2.1"]), host: "inner.example" };
    const [behind] = await ask(
      [
        ["origin", origin],
        ["x-forwarded-host", host],
      ],
      forwarded,
    );
    expect(behind).toBe(isOwn ? 200 : 403);
  });

  it("an origin that is listed may be sent with it", async () => {
    const trustedOrigins = ["https://other.example"];
    for (const [origin, status] of [
      ["https://other.example:443", 200],
      ["https://other.example:80", 403],
      ["http://other.example:443", 403],
    ] as const) {
      expect([origin, (await ask([["origin", origin]], { trustedOrigins }))[0]]).toEqual([origin, status]);
    }
  });
});

describe("the origin of a POST", () => {
  it.each<readonly [id: string, headers: Headers]>([
    ["XO-01", [evil]],
    ["XO-01 a browser's own word", [site("cross-site"), evil]],
    ["XO-03", [site("same-site"), ["origin", "https://shop.example.com"]]],
    ["XO-03 with no origin", [site("same-site")]],
    ["XO-03 in any case", [site("Cross-Site")]],
    ["XO a word nobody knows", [site("elsewhere")]],
    ["XO no word at all", [site("")]],
    ["XO the browser's word goes before the origin", [site("cross-site"), own]],
    ["XO one word of several", [site("same-origin"), site("cross-site")]],
    ["XO several words as one line", [site("same-origin, cross-site")]],
    ["XO-04", [["origin", "null"]]],
    ["XO another port", [["origin", "https://example.com:8443"]]],
    ["XO the default port of the other scheme", [["origin", "https://example.com:80"]]],
    ["XO the default port of the other scheme", [["origin", "http://example.com:443"]]],
    ["XO the default port twice", [["origin", "https://example.com:443:443"]]],
    ["XO a port that ends alike", [["origin", "https://example.com:1443"]]],
    ["XO a default port and no host", [["origin", "https://:443"]]],
    ["XO a host that ends alike", [["origin", "https://evilexample.com"]]],
    ["XO a host that begins alike", [["origin", "https://example.com.evil.example"]]],
    ["XO a user before the host", [["origin", "https://example.com@evil.example"]]],
    ["XO no origin: a path", [["origin", "https://example.com/"]]],
    ["XO no origin: no scheme", [["origin", "example.com"]]],
    ["XO no origin: an empty scheme", [["origin", "://example.com"]]],
    ["XO no origin: nothing", [["origin", ""]]],
    ["XO two origins", [own, evil]],
    ["XO two origins as one line", [["origin", "https://example.com, https://evil.example"]]],
  ])("%s %j is refused", async (_id, headers) => {
    const before = carriedOut;
    expect(await ask(headers)).toEqual([403, refused]);
    expect(carriedOut).toBe(before);
  });

  it.each<readonly [id: string, headers: Headers]>([
    ["XO-06", [site("same-origin"), own]],
    ["XO-06 in any case", [site("Same-Origin")]],
    ["XO the person asked: an address typed, a bookmark", [site("none")]],
    ["XO the browser's word goes before the origin", [site("same-origin"), evil]],
    ["XO-07", [own]],
    ["XO-07 the default port is no other", [["origin", "https://example.com:443"]]],
    ["XO-07 the default port of HTTP is no other", [["origin", "http://example.com:80"]]],
    ["XO-07 the scheme is a proxy's to change", [["origin", "http://example.com"]]],
    ["XO-07 in any case", [["origin", "HTTPS://EXAMPLE.com"]]],
    ["XO-12", []],
  ])("%s %j is accepted", async (_id, headers) => {
    expect(await ask(headers)).toEqual([200, "done"]);
  });

  it.each([
    ["XO-09", "[::1]:8443", "https://[::1]:8443", 200],
    ["XO-10", "[::1]:8443", "https://[::1]:9443", 403],
    ["XO the host in any case", "Example.COM:8080", "http://example.com:8080", 200],
    ["XO an empty host", "", "https://", 403],
  ])("%s Host %s, from %s: %d", async (_id, host, origin, status) => {
    expect((await ask([["origin", origin]], { host }))[0]).toBe(status);
  });

  it("XO without Host is refused", async () => {
    const { answer } = App.make(routes);
    const exchange = {
      method: "POST",
      target: "/act",
      peer: "",
      body: undefined,
      gone: new AbortController().signal,
      lines: (name: string) => (name === "origin" ? ["https://example.com"] : []),
      headers: () => [],
      byteLength: (text: string) => text.length,
      decode: () => undefined,
    };
    expect((await answer(exchange)).status).toBe(403);
  });

  it("XO is compared with the host of the URL in app.fetch", async () => {
    const { fetch } = App.make(routes);
    const post = (origin: string) =>
      fetch(new Request("https://example.com/act", { method: "POST", headers: { origin } }));
    expect((await post("https://example.com")).status).toBe(200);
    expect((await post("https://evil.example")).status).toBe(403);
  });
});

describe("the origin check by method", () => {
  it.each(["PUT", "PATCH", "DELETE", "PURGE"])("XO %s is checked", async (method) => {
    expect(await ask([evil], { method })).toEqual([403, refused]);
    expect(await ask([own], { method })).toEqual([200, "done"]);
  });

  it.each(["GET", "HEAD", "OPTIONS"])("XO-13 %s is not checked", async (method) => {
    expect((await ask([site("cross-site"), evil], { method }))[0]).toBe(200);
  });

  it.each([
    ["XO-18 an unknown path", "POST", "/nowhere", [404, notFound]],
    ["XO-18 a path of other methods", "PROPFIND", "/act", [501, notImplemented]],
    ["XO-18 a method nobody knows", "PROPFIND", "/nowhere", [501, notImplemented]],
    ["XO-18 no path at all", "POST", "*", [404, notFound]],
  ])("%s is a 403 before any other answer", async (_id, method, target, otherwise) => {
    expect(await ask([evil], { method, target })).toEqual([403, refused]);
    expect(await ask([own], { method, target })).toEqual(otherwise);
  });

  it("XO-18 a request is not redirected before, and does not learn which routes exist", async () => {
    const [status] = await ask([evil], { target: "/act/", trailingSlash: "redirect" });
    expect(status).toBe(403);
    let asked = 0;
    const notFound = () => {
      asked++;
      return Answer.empty();
    };
    expect((await ask([evil], { target: "/nowhere", notFound }))[0]).toBe(403);
    expect(asked).toBe(0);
  });
});

describe("the origin of a WebSocket", () => {
  const opening = [
    ["connection", "Upgrade"],
    ["upgrade", "websocket"],
    ["sec-websocket-version", "13"],
    ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
  ] as const;
  const open = (...headers: Headers) => ask([...opening, ...headers], { method: "GET", target: "/socket" });

  it("XO-19, WS-13 of another site is refused", async () => {
    expect(await open(site("cross-site"), ["origin", "https://elsewhere.example"])).toEqual([403, refused]);
    expect(await open(["origin", "https://elsewhere.example"])).toEqual([403, refused]);
    expect(await open(["origin", "null"])).toEqual([403, refused]);
  });

  it("XO-19 is checked before its handshake", async () => {
    expect(await ask([evil], { method: "GET", target: "/socket" })).toEqual([403, refused]);
  });

  it("XO-19 of its own site is accepted, and of a client that is no browser", async () => {
    expect((await open(own))[0]).toBe(101);
    expect((await open())[0]).toBe(101);
  });

  it("XO-19 is checked on a route that answers with a WebSocket of its own too", async () => {
    const own = get(Path.of("own"), { returns: Returns.response }, () => Answer.empty());
    const app = Test.app([own]);
    const call = async (headers: Headers) => (await Test.call(app, "GET", "/own", { headers })).status;
    expect(await call([...opening, evil])).toBe(403);
    expect(await call([evil])).toBe(204);
  });
});

describe("hosts and origins that the check trusts", () => {
  const trustedOrigins = ["https://shop.example", "http://localhost:5173", "chrome-extension://abcdef"];

  it.each<readonly [headers: Headers, status: number]>([
    [[["origin", "https://shop.example"]], 200],
    [[site("cross-site"), ["origin", "https://shop.example"]], 200],
    [[site("same-site"), ["origin", "http://localhost:5173"]], 200],
    [[["origin", "chrome-extension://abcdef"]], 200],
    [[["origin", "http://shop.example"]], 403],
    [[["origin", "https://shop.example:443"]], 200],
    [[["origin", "chrome-extension://abcdef:80"]], 403],
    [[["origin", "https://SHOP.example"]], 403],
    [[["origin", "https://shop.example"], evil], 403],
    [[site("cross-site")], 403],
    [[["origin", "null"]], 403],
  ])("XO %j: %d", async (headers, status) => {
    expect((await ask(headers, { trustedOrigins }))[0]).toBe(status);
  });

  it.each([
    ["null", "is sent by every page that hides its origin, and is never trusted"],
    ["https://shop.example/", 'is not an origin as a browser writes it: write "https://shop.example"'],
    ["https://shop.example:443", 'is not an origin as a browser writes it: write "https://shop.example"'],
    ["https://Shop.example", 'is not an origin as a browser writes it: write "https://shop.example"'],
    ["https://grüße.example", 'is not an origin as a browser writes it: write "https://xn--gre-6ka8l.example"'],
    ["https://*.example", "is not an origin as a browser writes it: a scheme and a host in lower case"],
    ["shop.example", "is not an origin as a browser writes it: a scheme and a host in lower case"],
    ["chrome-extension://a/b", "is not an origin as a browser writes it: a scheme and a host in lower case"],
    ["", "is not an origin as a browser writes it: a scheme and a host in lower case"],
  ])("ST App.make refuses the trusted origin %j", (origin, why) => {
    const said = `App.make: trusted origin ${JSON.stringify(origin)} ${why}`;
    expect(() => App.make([], { trustedOrigins: [origin] })).toThrow(said);
  });

  it("XO-15, XO-16 the host is read from a trusted proxy's header only", async () => {
    const headers = [["x-forwarded-host", "example.com"], own] as const;
    const behind = { host: "10.0.0.5:8080", peer: "10.0.0.1" };
    expect(await ask(headers, { ...behind, trustedProxies: Proxies.make(["10.0.0.0/8"]) })).toEqual([200, "done"]);
    expect(await ask(headers, { ...behind, trustedProxies: Proxies.make(["10.9.0.0/16"]) })).toEqual([403, refused]);
    expect(await ask(headers, behind)).toEqual([403, refused]);
  });

  it("XO checkOrigin: false disables the check, also for WebSockets", async () => {
    expect(await ask([evil], { checkOrigin: false })).toEqual([200, "done"]);
    expect((await ask([evil], { checkOrigin: false, method: "GET", target: "/socket" }))[0]).toBe(426);
  });
});

describe("a request of another origin that is refused", () => {
  it("FM-09, BS-15 does not run its route, and no byte of its body is read", async () => {
    let read = 0;
    const form = post(
      Path.of("form"),
      { inputs: { name: Form.required("name", Codec.string) }, returns: Returns.text },
      handler,
    );
    const whole = post(Path.of("whole"), { inputs: { body }, returns: Returns.text }, handler);
    const inputs = Dep.map(request, () => read++);
    const looking = post(Path.of("looking"), { inputs: { inputs }, returns: Returns.text }, handler);
    const { answer } = App.make([form, whole, looking]);
    const source = { length: 3, read: () => fail(), whole: () => fail() };
    const fail = (): never => {
      read++;
      throw new Error("read");
    };
    const before = carriedOut;
    for (const target of ["/form", "/whole", "/looking", "/nowhere"]) {
      const exchange = {
        method: "POST",
        target,
        peer: "",
        body: source,
        gone: new AbortController().signal,
        lines: (name: string) => (name === "origin" ? ["https://evil.example"] : []),
        headers: () => [],
        byteLength: (text: string) => text.length,
        decode: () => undefined,
      };
      expect((await answer(exchange)).status).toBe(403);
    }
    expect([read, carriedOut]).toEqual([0, before]);
  });

  it("XO is logged with the options that would allow it, without the origin", async () => {
    await ask([evil]);
    expect(messages("warn")).toEqual([
      "POST /act: cross_origin: it came from a page of another origin: list that origin in trustedOrigins, or in cors if the page also reads the answer",
    ]);
  });

  it("XO is logged by its code, without the origin", async () => {
    await ask([evil]);
    expect(messages("info")).toEqual(["POST /act 403"]);
    expect(messages("error")).toEqual([]);
  });
});
