/** What the clients read of a server that sends without end: no more than their limits, by the count of the bytes that are read. */
import { createGzip } from "node:zlib";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it, vi } from "vitest";
import * as v from "valibot";
import { Client, Event, HttpClient, Path, Returns, get } from "usher-http";
import { gate } from "../support/gate.ts";
import { serverOfFile } from "../support/http-server.ts";
import "../support/logs.ts";

const Count = Event.json("count", v.number());
const routes = [
  get(Path.of("json"), { returns: Returns.json(v.unknown()) }, () => 1),
  get(Path.of("text"), { returns: Returns.text }, () => ""),
  get(Path.of("lines"), { returns: Returns.jsonLines(v.unknown()) }, async function* () {}),
  get(Path.of("events"), { returns: Returns.events([Count]) }, () => () => {}),
] as const;
type Api = Client<typeof routes>;

const oneMiB = 2 ** 20;
// Far past each limit, so that a client without one fails this test and does not use all the memory.
const most = 48 * oneMiB;
// What a platform reads ahead of the program.
const ahead = oneMiB;

interface Endless {
  readonly status?: number;
  readonly type: string;
  readonly start: string;
  readonly rest: string;
}

const part = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
const json = "application/json";
const events = "text/event-stream";
const bodies: { readonly [name: string]: Endless } = {
  "/json": { type: json, start: '"', rest: "x" },
  "/json?space": { type: json, start: "", rest: " " },
  "/json?refused": { status: 500, type: json, start: '{"error":"', rest: "x" },
  "/json?page": { status: 502, type: "text/html", start: "<p>", rest: "x" },
  "/json?untyped": { type: "", start: "", rest: "x" },
  "/text": { type: "text/plain", start: "", rest: "x" },
  "/lines": { type: "application/x-ndjson", start: '1\n"', rest: "x" },
  "/lines?refused": { status: 401, type: json, start: '{"error":"signed_out","message":"', rest: "x" },
  "/events": { type: events, start: "event: count\ndata: 1\n\ndata: ", rest: "x" },
  "/events?data": { type: events, start: "event: count\ndata: 1\n\n", rest: "data: x\n" },
  "/events?empty": { type: events, start: "event: count\ndata: 1\n\n", rest: "data\n" },
  "/events?name": { type: events, start: "event: count\ndata: 1\n\nevent: ", rest: "x" },
  "/events?id": { type: events, start: "event: count\ndata: 1\n\nid: ", rest: "x" },
  "/events?retry": { type: events, start: "event: count\ndata: 1\n\nretry: ", rest: "1" },
  "/events?comment": { type: events, start: "event: count\ndata: 1\n\n:", rest: "x" },
  "/events?refused": { status: 403, type: json, start: "", rest: "[" },
};

let closed = 0;

/** Sends as fast as the client reads, until it disconnects or `most` bytes are sent. */
async function sendEndless({ url = "" }: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = "", isZipped] = url.split("&zip");
  const body = bodies[path];
  const over = gate();
  response.on("close", () => {
    closed++;
    over.open();
  });
  if (body === undefined) return void response.writeHead(302, { location: `/hop/${Math.random()}` }).end();
  const { status = 200, type, start, rest } = body;
  const headers = {
    ...(type && { "content-type": type }),
    ...(isZipped === undefined ? {} : { "content-encoding": "gzip" }),
  };
  response.writeHead(status, headers);
  const zip = createGzip();
  const out = isZipped === undefined ? response : (zip.pipe(response), zip);
  out.write(start);
  const bytes = part(rest);
  for (let sent = 0; sent < most && !response.closed; sent += bytes.length) {
    if (out.write(bytes)) continue;
    if (response.closed) return;
    const drained = gate();
    out.once("drain", drained.open);
    await Promise.race([drained.passed, over.passed]);
  }
  out.end();
}

const { url: baseUrl } = await serverOfFile((request, response) => void sendEndless(request, response));

/** The platform's `fetch`, and how many bytes of its bodies were read. */
function counting() {
  const count = { bytes: 0, calls: 0 };
  const fetch = async (request: Request): Promise<Response> => {
    count.calls++;
    const response = await globalThis.fetch(request);
    const counter = new TransformStream<Uint8Array, Uint8Array>(
      {
        transform(part, controller) {
          count.bytes += part.byteLength;
          controller.enqueue(part);
        },
      },
      { highWaterMark: 1 },
      { highWaterMark: 0 },
    );
    const { status, headers } = response;
    return new Response(response.body?.pipeThrough(counter), { status, headers });
  };
  return { count, fetch };
}

/** The report of a failed test would have the whole text. */
function shortened(value: unknown): unknown {
  return typeof value === "string" && value.length > 1000 ? value.length : value;
}

/** The result of a call: its refusal, or what its loop threw. */
async function played(api: Api, path: string): Promise<unknown> {
  const [name = ""] = path.split("?");
  const call = (api as unknown as Record<string, Api["GET /json"]>)[`GET ${name}`];
  const outcome = await call?.();
  if (!outcome?.ok || typeof outcome.value === "string") {
    return JSON.parse(JSON.stringify(outcome, (_, value: unknown) => shortened(value)));
  }
  const values: unknown[] = [];
  try {
    for await (const value of outcome.value as AsyncIterable<unknown>) values.push(shortened(value));
    return { values };
  } catch (thrown) {
    return { values, thrown };
  }
}

/** The client of one path and query of the server. */
function clientOf(path: string, options: Partial<Client.ClientOptions>): Api {
  const { fetch = globalThis.fetch } = options;
  const own = (request: Request): Promise<Response> => fetch(new Request(baseUrl + path, request));
  return Client.of<typeof routes>({ baseUrl, ...options, fetch: own });
}

const tooLong = { ok: false, error: "unreachable", message: "The response is longer than maxBody.", problems: [] };
const isStream = (path: string): boolean => /^\/(lines|events)(?!\?refused)/.test(path);

describe("a typed client reads at most its limit of", () => {
  const limits = { maxBody: 100_000, maxLine: 100_000, maxEvent: 100_000 };

  it.each(Object.keys(bodies).flatMap((path) => [path, `${path}&zip`]))("%s", async (path) => {
    const { count, fetch } = counting();
    const result = await played(clientOf(path, { ...limits, fetch }), path);
    if (isStream(path)) expect(result).toMatchObject({ values: [expect.anything()], thrown: expect.any(RangeError) });
    else expect(result).toMatchObject(tooLong);
    expect(count.bytes).toBeLessThan(100_000 + ahead);
  });

  it.each(Object.keys(bodies))("%s, by default", async (path) => {
    const { count, fetch } = counting();
    const result = await played(clientOf(path, { fetch }), path);
    if (isStream(path)) expect(result).toMatchObject({ values: [expect.anything()], thrown: expect.any(RangeError) });
    else expect(result).toMatchObject(tooLong);
    expect(count.bytes).toBeLessThan((isStream(path) ? 1 : 16) * oneMiB + ahead);
  });

  it("a body, of which it then closes the connection", async () => {
    const before = closed;
    await played(clientOf("/json?refused", { maxBody: 1 }), "/json?refused");
    await expect.poll(() => closed).toBe(before + 1);
  });

  it.each(["/json", "/json?refused", "/json?page", "/json?untyped", "/text", "/lines?refused", "/events?refused"])(
    "%s, and cancels the rest of the body",
    async (path) => {
      const { status = 200, type, start, rest } = bodies[path] as Endless;
      const cancel = vi.fn();
      const pull = (to: ReadableStreamDefaultController): void => to.enqueue(part(rest));
      const body = new ReadableStream({ start: (to) => to.enqueue(Buffer.from(start)), pull, cancel });
      const fetch = async (): Promise<Response> =>
        new Response(body, { status, headers: type ? { "content-type": type } : {} });
      expect(await played(clientOf(path, { maxBody: 100_000, fetch }), path)).toMatchObject(tooLong);
      expect(cancel).toHaveBeenCalledOnce();
    },
  );

  it("a refusal that prevents a reconnect", async () => {
    const { count, fetch } = counting();
    const answers = [() => new Response("id: 1\nevent: count\ndata: 1\n\n", { headers: { "content-type": events } })];
    const next = async (request: Request): Promise<Response> => answers.shift()?.() ?? fetch(request);
    const result = await played(
      clientOf("/events?refused", { maxBody: 100_000, minReconnectMs: 0, fetch: next }),
      "/events",
    );
    expect(result).toMatchObject({ values: [{ value: 1 }], thrown: { cause: { error: "unreachable", status: 403 } } });
    expect(count.bytes).toBeLessThan(100_000 + ahead);
  }, 30_000);
});

describe("a typed client whose limit is as long as", () => {
  const answerOf = (body: string, type: string) => async () =>
    new Response(body, { headers: { "content-type": type } });
  const rows: readonly [string, string, string, keyof Client.ClientOptions, number, unknown][] = [
    ["JSON", "/json", '"ü"', "maxBody", 4, { value: "ü" }],
    ["a text", "/text", "üü", "maxBody", 4, { value: "üü" }],
  ];
  it.each(rows)("%s reads it, and nothing longer", async (_, path, body, limit, length, value) => {
    const fetch = answerOf(body, path === "/json" ? json : "text/plain");
    const call = (most: number) =>
      (Client.of<typeof routes>({ baseUrl, fetch, [limit]: most }) as never)[`GET ${path}`];
    expect(await (call(length) as () => unknown)()).toMatchObject({ ok: true, ...(value as object) });
    expect(await (call(length - 1) as () => unknown)()).toMatchObject(tooLong);
  });

  it("a line, or an event, reads it, and nothing longer", async () => {
    const lines = { fetch: answerOf('"12"\n"34"', "application/jsonl") };
    expect(await played(clientOf("/lines", { ...lines, maxLine: 4 }), "/lines")).toEqual({ values: ["12", "34"] });
    expect(await played(clientOf("/lines", { ...lines, maxLine: 3 }), "/lines")).toMatchObject({
      values: [],
      thrown: new RangeError("a line is longer than 3 characters"),
    });
    const stream = { fetch: answerOf("data: 12\n\ndata: 34\n\n", events) };
    const values = [{ value: 12 }, { value: 34 }];
    expect(await played(clientOf("/events", { ...stream, maxEvent: 8 }), "/events")).toMatchObject({ values });
    expect(await played(clientOf("/events", { ...stream, maxEvent: 7 }), "/events")).toMatchObject({
      values: [],
      thrown: new RangeError("an event is longer than 7 characters"),
    });
  });

  it.each(["maxBody", "maxLine", "maxEvent", "minReconnectMs"])("no number is refused: %s", (name) => {
    for (const wrong of [Number.NaN, -1, "1", null, {}]) {
      const make = (): unknown => Client.of<typeof routes>({ baseUrl, [name]: wrong });
      if (wrong === null) expect(make).not.toThrow();
      else expect(make).toThrow(`Client.of: ${name} is no number from 0`);
    }
  });
});

describe("a stream that its server ends each time", () => {
  it.each([
    ["with retry: 0 and an event", "retry: 0\nid: 1\nevent: count\ndata: 1\n\n"],
    ["with retry: 0 alone", "retry: 0\n\n"],
  ])("is opened at most once in minReconnectMs: %s", async (_, text) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const at: number[] = [];
      const fetch = async (): Promise<Response> => {
        at.push(performance.now());
        if (at.length === 20) return new Response(null, { status: 204 });
        return new Response(text, { headers: { "content-type": events } });
      };
      const reading = played(clientOf("/events", { fetch }), "/events");
      while (at.length < 20) {
        while (vi.getTimerCount() === 0) await new Promise(setImmediate);
        await vi.runOnlyPendingTimersAsync();
      }
      await reading;
      const pauses = at.slice(1).map((time, i) => time - (at[i] ?? 0));
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is opened at once where its connection lasted as long as minReconnectMs, and never later than a timer can", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const wait = vi.spyOn(globalThis, "setTimeout");
      const fetch = vi
        .fn<() => Promise<Response>>()
        .mockImplementationOnce(async () => {
          let started = false;
          const body = new ReadableStream<Uint8Array>({
            pull(controller) {
              if (started) vi.advanceTimersByTime(900);
              if (started) controller.close();
              else controller.enqueue(new TextEncoder().encode("retry: 0\n\n"));
              started = true;
            },
          });
          return new Response(body, { headers: { "content-type": events } });
        })
        .mockResolvedValue(new Response(null, { status: 204 }));
      const reading = played(clientOf("/events", { fetch, minReconnectMs: 1000 }), "/events");
      while (vi.getTimerCount() === 0) await new Promise(setImmediate);
      await vi.runOnlyPendingTimersAsync();
      await reading;
      expect(wait.mock.calls.map(([, ms]) => ms)).toEqual([100]);
    } finally {
      vi.restoreAllMocks();
      vi.useRealTimers();
    }
  });
});

describe("HttpClient reads at most maxBody of", () => {
  it.each(["/json", "/json?refused", "/text&zip", "/lines", "/events"])("%s", async (path) => {
    const client = HttpClient.make({ maxBody: 100_000 });
    const response = await client.fetch(baseUrl + path);
    let bytes = 0;
    const reading = async (): Promise<void> => {
      for await (const part of response.body ?? []) bytes += part.byteLength;
    };
    await expect(reading()).rejects.toThrow(HttpClient.TooLarge);
    expect(bytes).toBeLessThanOrEqual(100_000);
  });

  it("a chain of redirects without end, of which it follows 20", async () => {
    for (const client of [HttpClient.make({ baseUrl }), HttpClient.make()]) {
      await expect(client.fetch(`${baseUrl}/hop`, { redirect: "follow" })).rejects.toThrow(TypeError);
    }
    const before = closed;
    expect(await Client.of<typeof routes>({ baseUrl: `${baseUrl}/hop` })["GET /json"]()).toMatchObject({
      error: "unreachable",
    });
    expect(closed - before).toBeLessThanOrEqual(21);
  });
});
