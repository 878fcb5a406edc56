/** The access line (contract 2.12; rows LG-04 to LG-09, LG-11, LG-24). */
import { describe, expect, it } from "vitest";
import { Answer, Meta, Path, Refusal, Returns, Test, get, json, param, post, refuse } from "usher-http";
import * as v from "valibot";
import { lines, logWith, logged } from "../support/logs.ts";
import { isMeasured } from "../../src/telemetry/measure.ts";

const name = Path.str("name");
const status = Path.int("status");
const gone = Refusal.code("gone", { status: 410, doc: "It went." });
const hello = get(Path.of("hello", name), { returns: Returns.text }, () => "héllo");
const text = { returns: Returns.text };
const routes = [
  hello,
  get(Path.of("gone"), { ...text, refuses: [gone] }, () => refuse(gone)),
  get(Path.of("empty"), { returns: Returns.empty() }, () => undefined),
  get(Path.of("raises"), text, () => {
    throw new Error("no");
  }),
  get(Path.of("framed"), { returns: Returns.response }, () => Answer.make("x", { headers: [["connection", "x"]] })),
  get(Path.of("status", status), { inputs: { status: param(status) }, returns: Returns.response }, ({ status }) =>
    Answer.make("text", { status }),
  ),
  get(Path.of("bodiless", status), { inputs: { status: param(status) }, returns: Returns.response }, ({ status }) =>
    Answer.stream(new Blob(["text"]).stream() as ReadableStream<Uint8Array>, { status, length: 4 }),
  ),
  get(Path.of("stream"), { returns: Returns.response }, () =>
    Answer.stream(new Blob(["abc"]).stream() as ReadableStream<Uint8Array>),
  ),
  get(Path.of("framed-stream"), { returns: Returns.response }, () =>
    Answer.stream(new Blob(["abc"]).stream() as ReadableStream<Uint8Array>, { length: 3 }),
  ),
  post(Path.of("json"), { inputs: { x: json(v.object({})) }, returns: Returns.text }, () => ""),
];
const app = Test.app(routes, { trailingSlash: "redirect" });

/** The access line of a call, without its varying members. */
async function access(method: string, target: string, options: Test.CallOptions = {}) {
  await Test.call(app, method, target, options);
  // After the access line of a stream there is a line about its end.
  const line = lines().findLast((line) => "http.response.status_code" in line) ?? {};
  const { timestamp: _t, request_id: _r, trace_id: _i, span_id: _s, duration, ...rest } = line;
  expect(duration).toSatisfy(Number.isSafeInteger);
  return rest;
}

describe("the access line: members", () => {
  it("LG-04 are in a fixed order", async () => {
    await Test.call(app, "GET", "/hello/kim?q=1");
    expect(Object.keys(lines()[0] ?? {})).toEqual([
      "timestamp",
      "level",
      "logger.name",
      "message",
      "request_id",
      "trace_id",
      "span_id",
      "http.request.method",
      "url.path",
      "url.scheme",
      "http.response.status_code",
      "duration",
      "http.response.body.size",
      "http.route",
    ]);
    await Test.call(app, "GET", "/gone");
    expect(Object.keys(lines()[1] ?? {}).slice(-2)).toEqual(["http.route", "framework.refusal.code"]);
    expect(logged()).toHaveLength(2);
  });

  const told = (method: string, path: string, status: number, size: number, more: object) => ({
    level: "info",
    "logger.name": "framework.http",
    message: `${method} ${path} ${status}`,
    "http.request.method": method,
    "url.path": path,
    "url.scheme": "http",
    "http.response.status_code": status,
    "http.response.body.size": size,
    ...more,
  });
  it.each([
    ["LG-04", "GET", "/hello/kim?q=1", told("GET", "/hello/kim", 200, 6, { "http.route": "/hello/{name}" })],
    ["LG-04", "GET", "/hello/k%20m", told("GET", "/hello/k%20m", 200, 6, { "http.route": "/hello/{name}" })],
    ["LG-04", "HEAD", "/hello/kim", told("HEAD", "/hello/kim", 200, 0, { "http.route": "/hello/{name}" })],
    ["LG", "GET", "/gone", told("GET", "/gone", 410, 37, { "http.route": "/gone", "framework.refusal.code": "gone" })],
    ["LG", "GET", "/empty", told("GET", "/empty", 204, 0, { "http.route": "/empty" })],
    ["LG", "GET", "/stream", told("GET", "/stream", 200, 0, { "http.route": "/stream" })],
    ["LG", "GET", "/framed-stream", told("GET", "/framed-stream", 200, 3, { "http.route": "/framed-stream" })],
    ["LG-06", "GET", "/nowhere", told("GET", "/nowhere", 404, 56, { "framework.refusal.code": "not_found" })],
    [
      "LG-06",
      "POST",
      "/hello/kim",
      told("POST", "/hello/kim", 405, 81, { "framework.refusal.code": "method_not_allowed" }),
    ],
    [
      "LG-06",
      "PROPFIND",
      "/hello/kim",
      told("PROPFIND", "/hello/kim", 501, 79, { "framework.refusal.code": "not_implemented" }),
    ],
    ["LG-06", "GET", "/hello/kim/", told("GET", "/hello/kim/", 308, 0, {})],
    ["LG-06", "OPTIONS", "/hello/kim", told("OPTIONS", "/hello/kim", 204, 0, {})],
    ["LG-06", "OPTIONS", "*", told("OPTIONS", "*", 204, 0, {})],
    [
      "LG-07",
      "GET",
      "/framed",
      told("GET", "/framed", 500, 83, { "http.route": "/framed", "framework.refusal.code": "internal" }),
    ],
    [
      "LG-11",
      "GET",
      "/raises",
      told("GET", "/raises", 500, 83, { "http.route": "/raises", "framework.refusal.code": "internal" }),
    ],
  ])("%s %s %s", async (_id, method, target, expected) => {
    expect(await access(method, target)).toEqual(expected);
  });
});

describe("the access line: size and status", () => {
  it.each([
    ["GET", "/status/200", 4],
    ["HEAD", "/status/200", 0],
    ["HEAD", "/gone", 0],
    ["HEAD", "/framed-stream", 0],
    ...[204, 205, 304].flatMap((status) =>
      ["GET", "HEAD"].flatMap((method) => [
        [method, `/status/${status}`, 0] as const,
        [method, `/bodiless/${status}`, 0] as const,
      ]),
    ),
  ] as const)("LG the size of the answer to %s %s is %i", async (method, target, size) => {
    expect((await access(method, target))["http.response.body.size"]).toBe(size);
  });

  it("LG a 400 and a 415 have the name of the route", async () => {
    expect(await access("POST", "/json", { body: "x" })).toMatchObject({
      message: "POST /json 400",
      "http.route": "/json",
      "framework.refusal.code": "invalid",
    });
    expect(await access("POST", "/json", { headers: { "content-type": "a/b" } })).toMatchObject({
      message: "POST /json 415",
      "framework.refusal.code": "unsupported_media_type",
    });
  });

  it("LG the application's not-found answer has no route", async () => {
    const own = Test.app([], { notFound: () => Answer.make("page", { status: 404 }) });
    await Test.call(own, "GET", "/nowhere");
    expect(lines()[0]).toMatchObject({ message: "GET /nowhere 404", "http.response.body.size": 4 });
    expect(lines()[0]).not.toHaveProperty("http.route");
    expect(lines()[0]).not.toHaveProperty("framework.refusal.code");
  });
});

describe("the access line: duration and exceptions", () => {
  it("LG-09 the duration is in nanoseconds, and jumps of the clock do not change it", async () => {
    let hour = 0;
    const jumping = Test.app([hello], { now: () => new Date(3_600_000 * hour++) });
    await Test.call(jumping, "GET", "/hello/kim");
    const duration = Number(lines()[0]?.["duration"]);
    expect(duration).toBeGreaterThan(0);
    expect(duration).toBeLessThan(5e9);
  });

  it.each(["json", "pretty"] as const)(
    "no duration is known of a request that began with every source off: %s",
    async (format) => {
      const late = get(Path.of("late"), { returns: Returns.text }, () => (logWith({ format }), ""));
      logWith({ level: undefined });
      await Test.call(Test.app([late]), "GET", "/late");
      expect(logged()).toHaveLength(1);
      // Another file of this process may have served metrics: each request is timed then.
      const isTimed = isMeasured(undefined);
      const duration = isTimed ? expect.any(Number) : null;
      if (format === "json") expect(lines()[0]).toMatchObject({ message: "GET /late 200", duration });
      else expect(logged()[0]?.includes("duration")).toBe(isTimed);
    },
  );

  it("LG-11 an exception has a line of its own, before it", async () => {
    await Test.call(app, "GET", "/raises");
    const [raised, accessed] = lines();
    expect(accessed).toMatchObject({ message: "GET /raises 500" });
    expect(Object.keys(raised ?? {}).slice(7)).toEqual([
      "http.request.method",
      "url.path",
      "framework.refusal.code",
      "http.route",
      "error.kind",
      "error.at",
      "error.stack",
      "error.hint",
    ]);
    expect([raised?.["level"], raised?.["error.kind"], raised?.["request_id"]]).toEqual([
      "error",
      "Error",
      accessed?.["request_id"],
    ]);
    expect(logged()[0]).not.toContain("error.message");
  });
});

describe("the level of the access line", () => {
  it("LG-24 is the one in the metadata of its route", async () => {
    const quiet = get(Path.of("quiet"), { ...text, meta: Meta.empty.add(Meta.access, "debug") }, () => "");
    const loud = get(
      Path.of("loud"),
      { ...text, meta: Meta.empty.add(Meta.access, "debug").add(Meta.access, "warn") },
      () => "",
    );
    const levels = Test.app([quiet, loud, hello]);
    const call = async () => {
      for (const path of ["/quiet", "/loud", "/hello/kim"]) await Test.call(levels, "GET", path);
      return lines().map(({ level, message }) => `${level} ${message}`);
    };
    expect(await call()).toEqual(["warn GET /loud 200", "info GET /hello/kim 200"]);
    logWith({ level: "debug" });
    expect(await call()).toEqual(["debug GET /quiet 200", "warn GET /loud 200", "info GET /hello/kim 200"]);
    logWith({ levels: { "framework.http": undefined } });
    expect(await call()).toEqual([]);
  });

  it("LG-24 has a key of the application's own next to it, with its value unchanged", () => {
    const owner = Meta.key<string>("owner");
    const other = Meta.key<string>("owner");
    const meta = Meta.empty.add(owner, "kim").add(owner, "lee");
    expect([meta.find(owner), meta.find(other), meta.find(Meta.access), Meta.empty.find(owner)]).toEqual([
      "lee",
      undefined,
      undefined,
      undefined,
    ]);
  });
});
