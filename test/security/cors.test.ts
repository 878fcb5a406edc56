/** Cross-origin requests, CORS (facts 12.2; rows CO). */
import { describe, expect, it } from "vitest";
import { Answer, App, Cors, Path, Refusal, Returns, Test, del, get, param, post, refuse, route } from "usher-http";
import type { AppOptions, PeerCertificate } from "usher-http";
import "../support/logs.ts";

const item = Path.of("api", "item");
const of = (name: string) => () => name;
const getItem = get(item, { returns: Returns.response }, () => Answer.make("item", { headers: [["vary", "Accept"]] }));
const postItem = post(item, { returns: Returns.text }, of("posted"));
const optionsItem = route("OPTIONS", item, { returns: Returns.text }, of("options"));
const varying = get(Path.of("api", "varying"), { returns: Returns.response }, () =>
  Answer.make("x", { headers: [["vary", "accept, origin"]] }),
);
const postPage = post(Path.of("page"), { returns: Returns.text }, of("page"));
const api = [getItem, postItem, optionsItem, varying];
const routes = [...api, postPage];

const origin = "https://app.example.com";
const policy = Cors.make({ origins: [origin], credentials: true, routes: api });
const policyOfAll = Cors.make({ origins: [origin] });
const any = Cors.make({ origins: "any" });
const cross = [
  ["host", "api.example.com"],
  ["origin", origin],
  ["sec-fetch-site", "cross-site"],
] as const;
const evil = [
  ["host", "api.example.com"],
  ["origin", "https://evil.example"],
  ["sec-fetch-site", "cross-site"],
] as const;

type Headers = readonly (readonly [name: string, value: string])[];

/** The status, the body, and the CORS headers. */
async function ask(method: string, target: string, headers: Headers, options: AppOptions = { cors: policy }) {
  const answered = await Test.call(Test.app(routes, options), method, target, { headers });
  const told = [...answered.headers].filter(([name]) => name === "vary" || name.startsWith("access-control-"));
  return { status: answered.status, body: answered.body, ...Object.fromEntries(told) };
}

const asking = (...headers: Headers): Headers => [
  ...cross.slice(0, 2),
  ["access-control-request-method", "POST"],
  ...headers,
];

describe("a CORS preflight", () => {
  it("CO-01 is answered by the framework, before the application's own OPTIONS route", async () => {
    const headers = asking(["access-control-request-headers", "Content-Type, X-Unlisted"]);
    expect(await ask("OPTIONS", "/api/item", headers)).toEqual({
      status: 204,
      body: "",
      vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, POST, OPTIONS, HEAD",
      "access-control-allow-headers": "content-type",
      "access-control-allow-credentials": "true",
      "access-control-max-age": "600",
    });
  });

  it("CO of another origin gets only Vary", async () => {
    const headers = [...evil.slice(0, 2), ["access-control-request-method", "POST"]] as const;
    expect(await ask("OPTIONS", "/api/item", headers)).toEqual({
      status: 204,
      body: "",
      vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    });
  });
});

describe("a CORS preflight: the headers that it asks for", () => {
  it("CO may name no header, or only headers that are not allowed", async () => {
    const none = { status: 204, "access-control-allow-origin": origin };
    for (const headers of [asking(), asking(["access-control-request-headers", "x-unlisted"])]) {
      const answered = await ask("OPTIONS", "/api/item", headers);
      expect(answered).toMatchObject(none);
      expect(answered).not.toHaveProperty("access-control-allow-headers");
    }
  });

  it("CO may be on several lines, and name one header twice", async () => {
    const lines = ["AUTHORIZATION", "content-type,authorization"];
    const headers = asking(...lines.map((line) => ["access-control-request-headers", line] as const));
    expect(await ask("OPTIONS", "/api/item", headers)).toMatchObject({
      "access-control-allow-headers": "authorization, content-type",
    });
  });

  it("CO may name Last-Event-ID, which every policy allows", async () => {
    const headers = [...cross.slice(0, 2), ["access-control-request-method", "GET"]] as const;
    const resumed = [...headers, ["access-control-request-headers", "last-event-id,x-unlisted"]] as const;
    for (const own of [{}, { headers: ["x-mine"] }]) {
      const cors = Cors.make({ origins: [origin], ...own });
      const answered = await ask("OPTIONS", "/api/item", resumed, { cors });
      expect(answered).toMatchObject({ "access-control-allow-headers": "last-event-id" });
    }
  });
});

describe("a CORS preflight: the routes of a policy", () => {
  it("CO is answered only with the routes of the policy", async () => {
    const answered = await ask("OPTIONS", "/api/item", asking(), {
      cors: Cors.make({ origins: [origin], routes: [getItem], maxAgeMs: 0 }),
    });
    expect(answered).toMatchObject({ "access-control-allow-methods": "GET, HEAD", "access-control-max-age": "0" });
    expect(answered).not.toHaveProperty("access-control-allow-credentials");
  });

  it.each([
    ["CO-03 with an origin alone", cross.slice(0, 2)],
    ["CO-03 with a method alone", [cross[0], ["access-control-request-method", "POST"]] as const],
  ])("%s it is not a preflight: the application's own OPTIONS route answers", async (_id, headers) => {
    expect(await ask("OPTIONS", "/api/item", headers)).toMatchObject({ status: 200, body: "options" });
  });

  it("CO-04 on a path without the policy is an ordinary OPTIONS", async () => {
    const answered = await Test.call(Test.app(routes, { cors: policy }), "OPTIONS", "/page", { headers: asking() });
    expect([answered.status, answered.headers.get("allow"), answered.headers.get("vary")]).toEqual([204, "POST", null]);
  });

  it("CO-04 lists no method whose route at that path is another one", async () => {
    const id = Path.str("id");
    const one = del(Path.of("items", id), { inputs: { id: param(id) }, returns: Returns.text }, of("one"));
    const readOne = get(Path.of("items", id), { inputs: { id: param(id) }, returns: Returns.text }, of("one"));
    const all = del(Path.of("items", "all"), { returns: Returns.text }, of("all"));
    const app = Test.app([one, readOne, all], { cors: Cors.make({ origins: [origin], routes: [one, readOne] }) });
    const methodsAt = async (target: string) => {
      const { headers } = await Test.call(app, "OPTIONS", target, { headers: asking() });
      return headers.get("access-control-allow-methods");
    };
    expect([await methodsAt("/items/7"), await methodsAt("/items/all")]).toEqual(["DELETE, GET, HEAD", "GET, HEAD"]);
  });

  it("CO on a path without a route is a 404", async () => {
    expect(await ask("OPTIONS", "/nowhere", asking(), { cors: any })).toEqual({
      status: 404,
      body: '{"error":"not_found","message":"There is nothing here."}',
    });
  });

  it("CO is answered before middleware", async () => {
    const middleware = [() => Answer.refusal(refuse(Refusal.notFound))];
    expect((await ask("OPTIONS", "/api/item", asking(), { cors: policy, middleware })).status).toBe(204);
  });
});

describe("an answer with CORS", () => {
  it("CO-05 may be read by an allowed origin", async () => {
    expect(await ask("GET", "/api/item", cross)).toEqual({
      status: 200,
      body: "item",
      vary: "Accept, Origin",
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
    });
  });

  it("CO-06 may not be read by another origin", async () => {
    expect(await ask("GET", "/api/item", evil)).toEqual({ status: 200, body: "item", vary: "Accept, Origin" });
  });

  it("CO-06 to a client without Origin has Vary only", async () => {
    expect(await ask("GET", "/api/item", [])).toEqual({ status: 200, body: "item", vary: "Accept, Origin" });
    expect(await ask("GET", "/api/varying", [])).toEqual({ status: 200, body: "x", vary: "accept, origin" });
  });

  it("CO lists the response headers that a page may read", async () => {
    const cors = Cors.make({ origins: [origin], expose: ["ETag", "x-total"] });
    expect(await ask("GET", "/api/item", cross, { cors })).toMatchObject({
      "access-control-expose-headers": "ETag, x-total",
    });
  });

  it("CO-07 of middleware has the policy of the route", async () => {
    const middleware = [() => Answer.refusal(refuse(Refusal.notFound))];
    expect(await ask("GET", "/api/item", cross, { cors: policy, middleware })).toMatchObject({
      status: 404,
      "access-control-allow-origin": origin,
    });
  });

  it("CO of a failure may be read like any other answer", async () => {
    const broken = get(Path.root, { returns: Returns.response }, () =>
      Answer.make("x", { headers: [["x-broken", "a\r\nb"]] }),
    );
    const raising = get(Path.of("raises"), { returns: Returns.text }, () => {
      throw new Error("x");
    });
    const app = Test.app([broken, raising], { cors: policyOfAll });
    for (const target of ["/", "/raises"]) {
      const { status, headers } = await Test.call(app, "GET", target, { headers: cross });
      expect([status, headers.get("access-control-allow-origin")]).toEqual([500, origin]);
    }
  });

  it.each([
    ["of a route the policy is not for", "POST", "/page"],
    ["of no route", "GET", "/nowhere"],
    ["of a method no route has", "DELETE", "/api/item"],
  ])("CO %s has no CORS header", async (_id, method, target) => {
    const headers = [
      ["host", "app.example.com"],
      ["origin", origin],
    ] as const;
    const answered = await ask(method, target, headers);
    expect(Object.keys(answered)).toEqual(["status", "body"]);
  });

  it("CO to HEAD has the same headers as to GET", async () => {
    expect(await ask("HEAD", "/api/item", cross)).toMatchObject({ status: 200, "access-control-allow-origin": origin });
  });

  it.each([
    ["another port", "https://app.example.com:8443"],
    ["another scheme", "http://app.example.com"],
    ["a name that ends alike", "https://evil-app.example.com"],
    ["a name that begins alike", "https://app.example.com.evil.example"],
    ["no origin at all", "null"],
  ])("CO origins are compared as a whole: %s", async (_id, origin) => {
    expect(await ask("GET", "/api/item", [["origin", origin]])).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("an answer with a CORS header of its own", () => {
  it("CO has only its own header, since two make the answer unreadable", async () => {
    const open = get(Path.of("font"), { returns: Returns.response }, () =>
      Answer.make("font", { headers: [["Access-Control-Allow-Origin", "*"]] }),
    );
    const answered = await Test.call(Test.app([open], { cors: policyOfAll }), "GET", "/font", { headers: cross });
    expect(answered.headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("a cross-origin request that changes state", () => {
  const cookie = ["cookie", "session=x"] as const;
  it.each<readonly [id: string, headers: Headers, cors: Cors, status: number]>([
    ["CO-09 from an allowed origin, with a cookie", [...cross, cookie], policy, 200],
    ["CO-10 from another", evil, policy, 403],
    ["CO-10 from another, with a cookie", [...evil, cookie], policy, 403],
    ["CO-12 from any, without a cookie", evil, any, 200],
    ["CO-13 from any, with a cookie", [...evil, cookie], any, 403],
    ["CO from any, with a token that a script set", [...evil, ["authorization", "Bearer abc"]], any, 200],
    ["CO from any, with a login that the browser remembers", [...evil, ["authorization", "Basic YTpi"]], any, 403],
    ["CO from any, with such a login in lower case", [...evil, ["authorization", "digest username=a"]], any, 403],
    ["CO from any, with a Windows login", [...evil, ["authorization", "Negotiate YTpi"]], any, 403],
    ["CO from any, with an older Windows login", [...evil, ["authorization", "NTLM YTpi"]], any, 403],
    ["CO from an allowed origin, with a login", [...cross, ["authorization", "Basic YTpi"]], policy, 200],
    ["CO from an origin that hides", [evil[0], ["origin", "null"]], any, 403],
    ["CO with no origin", [evil[0], ["sec-fetch-site", "cross-site"]], any, 403],
  ])("%s: %d", async (_id, headers, cors, status) => {
    expect((await ask("POST", "/api/item", headers, { cors })).status).toBe(status);
  });

  it("CO of any allowed origin may send the browser's client certificate", async () => {
    const peerCertificate = { authorized: true, commonName: "ada" } as PeerCertificate;
    const app = Test.app(routes, { cors: any });
    const { status } = await Test.call(app, "POST", "/api/item", { headers: evil, peerCertificate });
    expect(status).toBe(403);
  });

  it("CO-12 may be read by any origin if the policy allows any", async () => {
    expect(await ask("POST", "/api/item", evil, { cors: any })).toMatchObject({
      body: "posted",
      vary: "Origin",
      "access-control-allow-origin": "*",
    });
  });

  it("CO has no CORS header if its route is not part of a policy", async () => {
    expect((await ask("POST", "/page", cross)).status).toBe(403);
    expect((await ask("POST", "/nowhere", cross, { cors: any })).status).toBe(403);
  });

  it("CO-10 cannot be read either when it is refused", async () => {
    expect(await ask("POST", "/api/item", evil)).toMatchObject({ status: 403, vary: "Origin" });
  });
});

describe("options that make no CORS policy", () => {
  it.each([
    [
      { origins: "any", credentials: true },
      "Cors.make: origins any with credentials would let every site act as its visitors: list the origins",
    ],
    [{ origins: ["*"] }, 'Cors.make: "*" is not an origin: for every site, write origins: "any"'],
    [
      { origins: ["null"] },
      'Cors.make: the origin "null" is sent by every page that hides its origin, and is never trusted',
    ],
    [
      { origins: ["https://a.example/"] },
      'Cors.make: the origin "https://a.example/" is not an origin as a browser writes it: write "https://a.example"',
    ],
    [{ origins: [], headers: ["a b"] }, 'Cors.make: "a b" is not a header\'s name'],
    [{ origins: [], headers: ["*"] }, 'Cors.make: "*" is not a header\'s name'],
    [{ origins: [], expose: ["x:"] }, 'Cors.make: "x:" is not a header\'s name'],
    [{ origins: [], maxAgeMs: -1 }, "Cors.make: maxAgeMs must be milliseconds, 0 or more, not -1"],
  ] as const)("ST %j", (options, why) => {
    expect(() => Cors.make(options)).toThrow(why);
  });

  it("ST a route that is not in the app is refused", () => {
    const stray = del(item, { returns: Returns.text }, of("x"));
    const cors = Cors.make({ origins: [origin], routes: [getItem, stray] });
    expect(() => App.make(routes, { cors })).toThrow("cors is for DELETE /api/item, which is no route of the app");
  });

  it("CO the policy has the options that it was made with", () => {
    expect(policy).toMatchObject({
      origins: [origin],
      credentials: true,
      headers: ["authorization", "content-type"],
      expose: [],
      maxAgeMs: 600_000,
      routes: api,
    });
  });
});
