/** `onError` receives the errors of an application, and cannot break a request. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { Answer, App, Dep, Event, Log, Path, Refusal, Returns, Socket, Test, Trace, get, refuse } from "usher-http";
import type { AppOptions, FailedRequest, Middleware, OnError, Route } from "usher-http";
import { serve } from "usher-http/node";
import { DatabaseError } from "usher-http/postgres";
import { worker } from "usher-http/workers";
import { eventually } from "../support/eventually.ts";
import { lines, messages } from "../support/logs.ts";
import { internal } from "../support/refusals.ts";
import { kept, named } from "../telemetry/kept-spans.ts";

class StoreError extends Error {}
const raise = (): never => {
  throw new StoreError("password s3cret", { cause: new Error("behind it") });
};
const text = { returns: Returns.text };
const failing = get(Path.of("x"), text, raise);

interface Told {
  readonly error: unknown;
  readonly request: FailedRequest;
}

/** An `onError` that records its arguments. */
function keeping(): { readonly told: Told[]; readonly onError: OnError } {
  const told: Told[] = [];
  return { told, onError: (error, request) => void told.push({ error, request }) };
}

/** The fields of the log line of the error. */
function told(): { readonly [field: string]: unknown } {
  const [line, ...others] = lines().filter((one) => "error.kind" in one);
  expect(others).toEqual([]);
  return line ?? {};
}

describe("onError receives the error and its request", () => {
  it("for a handler: the error itself, and the request fields of its log line", async () => {
    const { told: all, onError } = keeping();
    await Test.call(Test.app([failing], { onError }), "GET", "/x?secret=1");
    const line = told();
    const [first] = all;
    expect(all).toHaveLength(1);
    expect(first?.error).toEqual(new StoreError("password s3cret"));
    expect((first as Told & { error: Error }).error.cause).toEqual(new Error("behind it"));
    expect(first?.request).toEqual({
      id: line["request_id"],
      method: "GET",
      rawPath: "/x",
      route: failing,
      traceId: line["trace_id"],
      spanId: line["span_id"],
      during: "answer",
    });
    expect(first?.request.traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  const outer: Middleware = async (_request, next) => {
    await next();
    return raise();
  };
  const asked = { inputs: { x: Dep.ofRequest(async () => raise()) }, ...text };
  const conflict = new DatabaseError({ kind: "conflict", constraint: "orders_key" });
  const row = (routes: readonly Route[], options: AppOptions = {}, route: Route | undefined = routes[0]) =>
    [routes, options, route] as const;
  it.each([
    ["a handler, later", ...row([get(Path.of("x"), text, async () => raise())])],
    ["a dependency", ...row([get(Path.of("x"), asked, () => "")])],
    ["middleware", ...row([get(Path.of("x"), text, () => "")], { middleware: [outer] })],
    ["the not-found answer", ...row([], { notFound: raise })],
    ["a database that nobody handles", ...row([get(Path.of("x"), text, () => Promise.reject(conflict))])],
  ])("for %s, once", async (_what, routes, options, route) => {
    const { told: all, onError } = keeping();
    expect((await Test.call(Test.app(routes, { ...options, onError }), "GET", "/x")).status).toBe(500);
    expect(all.map(({ request }) => [request.during, request.route, request.id])).toEqual([
      ["answer", route, told()["request_id"]],
    ]);
  });
});

describe("onError receives errors after the answer", () => {
  const word = Event.text("word");
  const streams = {
    "a producer of events": get(Path.of("x"), { returns: Returns.events([word]) }, () => async (send) => {
      await send(Event.make(word, "one"));
      raise();
    }),
    "a body in parts": get(Path.of("x"), { returns: Returns.response }, () =>
      Answer.stream(
        (async function* () {
          yield new TextEncoder().encode("one");
          raise();
        })(),
      ),
    ),
  };
  it.each(Object.entries(streams))("for %s", async (_what, route) => {
    const { told: all, onError } = keeping();
    const response = await App.make([route], { onError }).fetch(new Request("http://h/x"));
    await expect(response.text()).rejects.toThrow("the stream failed");
    expect(all).toMatchObject([
      { error: new StoreError("password s3cret"), request: { during: "stream", rawPath: "/x" } },
    ]);
    expect(all[0]?.request.id).toBe(told()["request_id"]);
  });

  it("for a WebSocket", async () => {
    const { told: all, onError } = keeping();
    const words = Socket.protocol({ server: Socket.text, client: Socket.text });
    const app = Test.app([get(Path.of("x"), { returns: Returns.websocket(words) }, () => raise)], { onError });
    await Test.websocket(app, words, "/x", (socket) => socket.receive());
    expect(all).toMatchObject([{ error: new StoreError("password s3cret"), request: { during: "socket" } }]);
  });

  it("for a connection that was taken over", async () => {
    const { told: all, onError } = keeping();
    const route = get(Path.of("x"), { returns: Returns.response }, () => Answer.takeover("echo", raise));
    const server = await serve([route], { port: 0, host: "127.0.0.1", signals: false, onError });
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET /x HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n");
    await eventually(() => expect(all).toHaveLength(1));
    socket.destroy();
    await server.stop();
    expect(all).toMatchObject([{ error: new StoreError("password s3cret"), request: { during: "takeover" } }]);
  });

  it("in the context of the request: its log lines have the id", async () => {
    const log = Log.source("tracker");
    const onError = async (): Promise<void> => {
      await Promise.resolve();
      log.info("sent");
    };
    const { headers } = await Test.call(Test.app([failing], { onError }), "GET", "/x");
    await eventually(() => expect(messages("info")).toContain("sent"));
    expect(lines().find(({ message }) => message === "sent")?.["request_id"]).toBe(headers.get("x-request-id"));
  });
});

it("in the context of the work that threw, which that work keeps: its tags and its span", async () => {
  const shop = Log.source("shop");
  const { trace, spans } = kept();
  const all: FailedRequest[] = [];
  const tagging: Middleware = (_request, next) =>
    Log.tags({ "shop.tenant": 7 }, () =>
      Trace.span("tenant", async () => {
        const answer = next();
        shop.info("running");
        await answer;
        shop.info("later");
        return answer;
      }),
    );
  const onError: OnError = (_error, request) => (all.push(request), shop.info("reported"));
  const options = { port: 0, host: "127.0.0.1", signals: false, onError, middleware: [tagging], trace };
  const server = await serve([failing], options);
  expect((await fetch(`${server.url}/x`)).status).toBe(500);
  await server.stop();
  const { spanId } = named(spans(), "tenant").spanContext();
  const inside = lines().filter((line) => line["logger.name"] === "shop" || line["level"] === "error");
  expect(inside.map((line) => [line["message"], line["shop.tenant"], line["span_id"]])).toEqual(
    ["GET /x: internal: it raised", "reported", "running", "later"].map((message) => [message, 7, spanId]),
  );
  expect(all.map((request) => request.spanId)).toEqual([spanId]);
});

describe("onError is not called", () => {
  const gone = Refusal.code("gone", { status: 410, doc: "It went." });
  const down = Refusal.code("down", { status: 503, doc: "It is down." });
  const refuses = [gone, down];
  it.each([
    [
      "a refusal that is returned",
      get(Path.of("x"), { ...text, refuses }, () => refuse(down, "Down.", { detail: "d" })),
    ],
    ["a refusal that is thrown", get(Path.of("x"), { ...text, refuses }, () => Promise.reject(refuse(gone, "Gone.")))],
    ["an answer", get(Path.of("x"), text, () => "")],
    ["no route", get(Path.of("y"), text, () => "")],
  ])("for %s", async (_what, route) => {
    const { told: all, onError } = keeping();
    await Test.call(Test.app([route], { onError }), "GET", "/x");
    expect(all).toEqual([]);
  });
});

describe("onError does not break a request", () => {
  const never = new Promise<void>(() => {});
  it.each<readonly [string, OnError, says: readonly string[]]>([
    ["throws", raise, ["onError raised"]],
    ["rejects", async () => raise(), ["onError raised"]],
    ["never resolves", () => never, []],
    ["returns a thenable that throws", () => ({ then: raise }), ["onError raised"]],
    [
      "returns what throws where it is read",
      () => Object.defineProperty({}, "then", { get: raise }),
      ["onError raised"],
    ],
  ])("when it %s", async (_what, onError, says) => {
    const { status, body } = await Test.call(Test.app([failing], { onError }), "GET", "/x");
    expect([status, body]).toEqual([500, internal]);
    const expected = ["GET /x: internal: it raised", ...says];
    await eventually(() => expect(messages("error")).toEqual(expected));
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });

  it("when it is not a function: App.make throws", () => {
    expect(() => App.make([failing], { onError: "log" as never })).toThrow(
      "App.make: onError is a string, and not a function",
    );
  });

  it("in a Worker, which runs until onError has finished", async () => {
    const waited: Promise<unknown>[] = [];
    const { fetch } = worker([failing], { onError: async () => raise() });
    const context = { waitUntil: (work: Promise<unknown>) => void waited.push(work) };
    const response = await fetch(new Request("http://h/x"), undefined, context);
    expect(response.status).toBe(500);
    expect(waited).toHaveLength(1);
    await Promise.all(waited);
    expect(messages("error")).toEqual(["GET /x: internal: it raised", "onError raised"]);
  });
});
