/** Calls to other servers (contract 2.12, 2.13, 8; facts 11.3, 16; rows LG-12, TR-10, TR-13, TR-15, TR-16, TR-18, TR-21). */
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as v from "valibot";
import {
  Client,
  Codec,
  Dep,
  Header,
  HttpClient,
  Path,
  Query,
  Returns,
  Test,
  get,
  json,
  post,
  request,
} from "usher-http";
import type { Trace } from "usher-http";
import { serverOfTest } from "../support/http-server.ts";
import { lines, logWith, logged } from "../support/logs.ts";
import { start } from "../support/node-server.ts";
import { kept, named, registered } from "../telemetry/kept-spans.ts";

const text = { returns: Returns.text };
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const caller = "00f067aa0ba902b7";
const idOf = (span: ReadableSpan) => span.spanContext().spanId;

/** Another server, and the requests that it received. */
async function other(answer: RequestListener = (_request, response) => void response.end("fine")) {
  const heads: IncomingHttpHeaders[] = [];
  const { url, close } = await serverOfTest((request, response) => {
    heads.push(request.headers);
    answer(request, response);
  });
  return { heads, url, close };
}

const upstream = Dep.ofResource<HttpClient>("upstream");

/** Calls the client from a handler. */
async function callFrom(
  client: HttpClient,
  path: string,
  options: {
    readonly headers?: { readonly [name: string]: string };
    readonly trace?: Trace.Exporter;
    readonly init?: HttpClient.HttpClientInit;
  } = {},
) {
  const front = get(Path.of("front"), { inputs: { upstream }, ...text }, async ({ upstream }) =>
    (await upstream.fetch(path, options.init)).text(),
  );
  const resources = [Dep.resource(upstream, client)];
  const app = Test.app([front], options.trace === undefined ? { resources } : { resources, trace: options.trace });
  return Test.call(app, "GET", "/front", { headers: options.headers ?? {} });
}

describe("headers that HttpClient passes on", () => {
  const joined = { traceparent: `00-${traceId}-${caller}-01` };

  it.each([
    ["TR-13 with its own span", joined, "01", undefined],
    ["TR-10 in version 00", { traceparent: `cc-${traceId}-${caller}-03-what-next` }, "01", undefined],
    ["TR of a trace whose id is random", { traceparent: `00-${traceId}-${caller}-02` }, "02", undefined],
    ["TR of a recorded trace whose id is random", { traceparent: `00-${traceId}-${caller}-03` }, "03", undefined],
    ["TR without flags that nobody knows", { traceparent: `00-${traceId}-${caller}-fc` }, "00", undefined],
    ["TR of a trace its caller does not record", { traceparent: `00-${traceId}-${caller}-00` }, "00", undefined],
    ["TR-16 with its state", { ...joined, tracestate: "a=1,b=2" }, "01", "a=1,b=2"],
    ["TR-16 with one of 512", { ...joined, tracestate: `a=${"x".repeat(510)}` }, "01", `a=${"x".repeat(510)}`],
    ["TR-16 without a longer one", { ...joined, tracestate: `a=${"x".repeat(511)}` }, "01", undefined],
    ["TR-16 without an empty one", { ...joined, tracestate: " " }, "01", undefined],
  ])("%s", async (_what, headers, flags, state) => {
    const { heads, url } = await other();
    const { headers: answered, body } = await callFrom(HttpClient.make({ baseUrl: url }), "/x", { headers });
    expect(body).toBe("fine");
    const [head] = heads;
    expect(head?.["traceparent"]).toMatch(new RegExp(`^00-${traceId}-(?!0{16}|${caller})[0-9a-f]{16}-${flags}$`));
    expect(head?.["tracestate"]).toBe(state);
    expect(head?.["x-request-id"]).toBe(answered.get("x-request-id"));
  });

  it("TR-16 sends a state of two lines, both", async () => {
    const { heads, url } = await other();
    const client = HttpClient.make({ baseUrl: url });
    const front = get(Path.of("front"), text, async () => (await client.fetch("/")).text());
    const headers = [
      ["traceparent", joined.traceparent],
      ["tracestate", "a=1"],
      ["tracestate", "b=2"],
    ] as const;
    await Test.call(Test.app([front]), "GET", "/front", { headers });
    expect(heads[0]?.["tracestate"]).toBe("a=1,b=2");
  });

  it("TR-16 sends no state without its trace; and a trace that begins here is not marked as recorded", async () => {
    const { heads, url } = await other();
    const client = HttpClient.make({ baseUrl: url });
    await callFrom(client, "/x", { headers: { tracestate: "a=1", traceparent: "none" } });
    const init = { headers: { traceparent: `00-${"1".repeat(32)}-${caller}-01` } };
    await callFrom(client, "/x", { headers: { ...joined, tracestate: "a=1" }, init });
    expect(heads.map((head) => head["tracestate"])).toEqual([undefined, undefined]);
    expect(heads[0]?.["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(heads[0]?.["traceparent"]).toContain(String(lines()[0]?.["trace_id"]));
  });

  it("TR-15 sends nothing outside of a request", async () => {
    const { heads, url } = await other();
    await (await HttpClient.make().fetch(url)).text();
    for (const name of ["traceparent", "tracestate", "x-request-id"]) expect(heads[0]).not.toHaveProperty(name);
  });

  it("the caller's headers have priority, and then those that the client always sends", async () => {
    const { heads, url } = await other();
    const client = HttpClient.make({ baseUrl: url, headers: { "X-Key": "always", "x-b": "b", tracestate: "mine" } });
    const init = { headers: { "x-key": "own", Traceparent: "own", "X-Request-Id": "own" } };
    await callFrom(client, "/x", { init, headers: { ...joined, tracestate: "a=1" } });
    expect(heads[0]).toMatchObject({
      "x-key": "own",
      "x-b": "b",
      tracestate: "mine",
      traceparent: "own",
      "x-request-id": "own",
    });
  });

  it("LG-12 everything is sent with every source of logs off", async () => {
    logWith({ level: undefined });
    const { heads, url } = await other();
    const { headers } = await callFrom(HttpClient.make({ baseUrl: url }), "/x", { headers: joined });
    expect(heads[0]?.["x-request-id"]).toBe(headers.get("x-request-id"));
    expect(heads[0]?.["traceparent"]).toContain(traceId);
  });
});

describe("the span of a call", () => {
  it.each([
    ["an exporter", () => kept()],
    ["a registered provider", () => ({ ...registered(), trace: undefined })],
  ])("TR-18 has the kind of %s", async (_way, begin) => {
    const { trace, spans } = begin();
    const { heads, url } = await other();
    const { port } = new URL(url);
    await callFrom(HttpClient.make({ baseUrl: url }), "/stock/pens?code=secret", trace === undefined ? {} : { trace });
    const [span, front] = [named(spans(), "GET"), named(spans(), "GET /front")];
    expect([span.kind, span.parentSpanContext?.spanId, span.status.code]).toEqual([
      SpanKind.CLIENT,
      idOf(front),
      SpanStatusCode.UNSET,
    ]);
    expect(span.attributes).toEqual({
      "http.request.method": "GET",
      "server.address": "127.0.0.1",
      "server.port": Number(port),
      "url.scheme": "http",
      "url.path": "/stock/pens",
      "http.response.status_code": 200,
    });
    expect(heads[0]?.["traceparent"]).toBe(`00-${span.spanContext().traceId}-${idOf(span)}-01`);
  });

  it.each([
    ["404", (status: number) => status, 404],
    ["500", (status: number) => status, 500],
  ])("of a %s has failed", async (said, _of, status) => {
    const { trace, spans } = kept();
    const { url } = await other((_request, response) => void response.writeHead(status).end("no"));
    const { body } = await callFrom(HttpClient.make({ baseUrl: url }), "/", { trace });
    expect(body).toBe("no");
    expect(named(spans(), "GET").status).toEqual({ code: SpanStatusCode.ERROR, message: said });
  });

  it("of a custom method is named HTTP", async () => {
    const { trace, spans } = kept();
    const { url } = await other();
    await callFrom(HttpClient.make({ baseUrl: url }), "/", { trace, init: { method: "PURGE" } });
    expect(named(spans(), "HTTP").attributes).toMatchObject({
      "http.request.method": "_OTHER",
      "http.request.method_original": "PURGE",
    });
  });

  it("TR-21 a server that calls itself: one trace, each span the child of the one before", async () => {
    const front = kept();
    const back = kept();
    const { url } = await start([get(Path.of("back"), text, () => "back")], { trace: back.trace });
    expect((await callFrom(HttpClient.make({ baseUrl: url }), "/back", { trace: front.trace })).body).toBe("back");
    const [asked, call] = [named(front.spans(), "GET /front"), named(front.spans(), "GET")];
    const answered = named(back.spans(), "GET /back");
    expect(new Set([asked, call, answered].map((span) => span.spanContext().traceId)).size).toBe(1);
    expect([call, answered].map((span) => span.parentSpanContext?.spanId)).toEqual([idOf(asked), idOf(call)]);
  });
});

describe("the log line of a call", () => {
  it("LG-12 is at debug, with the request's ids, and has no header, query or body", async () => {
    logWith({ level: "debug" });
    const { url } = await other(
      (_request, response) => void response.writeHead(202, { "x-secret": "s3cret" }).end("s3cret"),
    );
    const client = HttpClient.make({ baseUrl: url, headers: { authorization: "Bearer s3cret" } });
    const init = { method: "POST", body: "s3cret" };
    const { headers } = await callFrom(client, "/stock/pens?code=s3cret#s3cret", { init });
    const [line, ...others] = lines().filter((line) => line["logger.name"] === "framework.client");
    const { timestamp: _t, trace_id: _i, span_id: _s, duration, ...rest } = line ?? {};
    expect(others).toEqual([]);
    expect(rest).toEqual({
      level: "debug",
      "logger.name": "framework.client",
      message: "POST 127.0.0.1/stock/pens 202",
      request_id: headers.get("x-request-id"),
      "http.request.method": "POST",
      "server.address": "127.0.0.1",
      "url.path": "/stock/pens",
      "http.response.status_code": 202,
    });
    expect(duration).toSatisfy(Number.isSafeInteger);
    expect(logged().join("\n")).not.toContain("s3cret");
  });

  it("has the reason of a failed call, like the span", async () => {
    logWith({ level: "debug" });
    const hangs = await other(() => {});
    const gone = await other();
    const { trace, spans } = kept();
    await gone.close();
    for (const [url, init] of [
      [gone.url, {}],
      [hangs.url, { timeoutMs: 20 }],
      [hangs.url, { signal: AbortSignal.abort() }],
      [hangs.url, { signal: AbortSignal.abort(new Error("enough")) }],
      [hangs.url, { signal: AbortSignal.abort("enough") }],
      [hangs.url, { signal: AbortSignal.timeout(20) }],
      [hangs.url, { headers: { "x-bad": "a\nb" } }],
    ] as const) {
      expect((await callFrom(HttpClient.make(), url, { trace, init })).status).toBe(500);
    }
    const types = ["unreachable", "timeout", "cancelled", "cancelled", "cancelled", "timeout", "unreachable"];
    const said = lines().filter((line) => line["logger.name"] === "framework.client");
    expect(said.map((line) => line["error.type"])).toEqual(types);
    const failed = spans().filter(({ name }) => name === "GET");
    expect(failed.map(({ status }) => status.message)).toEqual(types);
  });
});

describe("a limit of HttpClient", () => {
  it("of time applies to the head", async () => {
    const { url } = await other(() => {});
    await expect(HttpClient.make({ timeoutMs: 20 }).fetch(url)).rejects.toMatchObject({ name: "TimeoutError" });
    await expect(HttpClient.make().fetch(url, { timeoutMs: 20 })).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("of time applies to the body too", async () => {
    const { url } = await other((_request, response) => void response.write("some"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const response = await HttpClient.make({ timeoutMs: 200 }).fetch(url);
    const body = response.text();
    vi.advanceTimersByTime(200);
    await expect(body).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("of time does not replace the caller's own signal", async () => {
    const { url } = await other(() => {});
    const own = new AbortController();
    const called = HttpClient.make().fetch(url, { signal: own.signal });
    own.abort(new Error("enough"));
    await expect(called).rejects.toThrow("enough");
  });

  it.each([
    [9, true],
    [10, true],
    [11, false],
  ])("of 10 bytes: a body of %d", async (length, fits) => {
    const { url } = await other((_request, response) => {
      response.write("x".repeat(length - 1));
      setImmediate(() => response.end("x"));
    });
    const response = await HttpClient.make({ maxBody: 10 }).fetch(url);
    if (fits) expect(await response.text()).toHaveLength(length);
    else await expect(response.text()).rejects.toThrow("the answer's body is longer than 10 bytes");
  });

  it.each([{ timeoutMs: 0 }, { timeoutMs: Number.NaN }, { timeoutMs: 2 ** 31 }, { maxBody: -1 }, { maxBody: 1.5 }])(
    "that is invalid is refused: %j",
    (options) => {
      expect(() => HttpClient.make(options)).toThrow(RangeError);
    },
  );
});

describe("the address of a call", () => {
  it.each(["https://elsewhere.example/x", "//elsewhere.example/x", "/\\elsewhere.example", "data:,x"])(
    "of another origin than the base's is refused, and its request is not sent: %s",
    async (address) => {
      const client = HttpClient.make({ baseUrl: "http://127.0.0.1:9/" });
      await expect(client.fetch(address)).rejects.toThrow(
        /^HttpClient\.fetch: the URL is not of http:\/\/127\.0\.0\.1:9$/,
      );
    },
  );

  it.each(["", "x", "http://", "ftp://x/"])("with an invalid base is refused: %j", (baseUrl) => {
    expect(() => HttpClient.make({ baseUrl })).toThrow("HttpClient.make: baseUrl must be an http or https URL");
  });

  it("is relative to the base's path", async () => {
    const paths: (string | undefined)[] = [];
    const { url } = await other((request, response) => (paths.push(request.url), void response.end()));
    const client = HttpClient.make({ baseUrl: `${url}/api/` });
    for (const path of ["v1/x?y=1", "/root", `${url}/whole`]) await (await client.fetch(path)).text();
    expect(paths).toEqual(["/api/v1/x?y=1", "/root", "/whole"]);
  });
});

it("an answer is the platform's Response: its status, headers, address, JSON; a redirect is one", async () => {
  const { url } = await start([
    get(Path.of("moved"), { returns: Returns.empty({ status: 204 }) }, () => undefined),
    get(
      Path.of("json"),
      { inputs: { request, q: Query.required("q", Codec.string) }, returns: Returns.json(v.object({ q: v.string() })) },
      ({ q }) => ({ q }),
    ),
  ]);
  const client = HttpClient.make({ baseUrl: url });
  const answered = await client.fetch("/json?q=1");
  expect([answered.status, answered.url, answered.headers.get("content-type"), await answered.json()]).toEqual([
    200,
    `${url}/json?q=1`,
    "application/json",
    { q: "1" },
  ]);
  expect([(await client.fetch("/moved")).status, (await client.fetch("/json?q=1", { method: "HEAD" })).status]).toEqual(
    [204, 200],
  );
  const { url: redirecting } = await other(
    (_request, response) => void response.writeHead(302, { location: "/x" }).end(),
  );
  expect((await HttpClient.make().fetch(redirecting)).status).toBe(302);
});

describe("a Request", () => {
  const echo = () =>
    other((request, response) => {
      response.setHeader("x-got", `${request.method} ${request.url} ${request.headers["x-a"]}`);
      request.pipe(response);
    });
  const got = async (response: Response) => [response.headers.get("x-got"), await response.text()];
  const sent = (url: string) => new Request(`${url}/x`, { method: "POST", headers: { "x-a": "1" }, body: "whole" });
  const nothing: object = { method: undefined, headers: undefined, body: undefined, signal: undefined };

  it("is sent whole, as the input of a call or as its options", async () => {
    const { url } = await echo();
    const client = HttpClient.make({ baseUrl: url });
    expect(await got(await client.fetch(sent(url)))).toEqual(["POST /x 1", "whole"]);
    expect(await got(await client.fetch("/y", sent(url)))).toEqual(["POST /y 1", "whole"]);
    expect(await got(await client.fetch(sent(url), { headers: { "x-a": "2" } }))).toEqual(["POST /x 2", "whole"]);
    expect(await got(await client.fetch(sent(url), nothing))).toEqual(["POST /x 1", "whole"]);
  });

  it("of another origin is refused, and one that was aborted is not sent", async () => {
    const { url, heads } = await echo();
    const client = HttpClient.make({ baseUrl: url });
    await expect(client.fetch(new Request("http://elsewhere.example/"))).rejects.toThrow("the URL is not of");
    const aborted = new Request(url, { signal: AbortSignal.abort(new Error("enough")) });
    for (const options of [{}, nothing]) await expect(client.fetch(aborted, options)).rejects.toThrow("enough");
    expect(heads).toEqual([]);
  });

  it("of a typed client has the id of the request that calls", async () => {
    const Ids = v.array(v.string());
    const ids = post(
      Path.of("ids"),
      {
        inputs: { id: Header.default("x-request-id", Codec.string, ""), given: json(Ids) },
        returns: Returns.json(Ids),
      },
      ({ id, given }) => [...given, id],
    );
    const { url } = await start([ids]);
    const client = HttpClient.make();
    const api = Client.of<readonly [typeof ids]>({ baseUrl: url, fetch: (request) => client.fetch(request) });
    const front = get(Path.of("front"), text, async () => {
      const called = await api["POST /ids"]({ json: ["a"] });
      return called.ok ? called.value.join() : called.error;
    });
    const answered = await Test.call(Test.app([front]), "GET", "/front", {
      headers: { "x-request-id": "b".repeat(20) },
    });
    expect(answered.body).toBe(`a,${answered.headers.get("x-request-id")}`);
  });
});

it("a body is streamed to the other server", async () => {
  const { url } = await other((request, response) => void request.pipe(response));
  const body = new Blob(["streamed"]).stream();
  expect(await (await HttpClient.make().fetch(url, { method: "POST", body })).text()).toBe("streamed");
});
