/** A call that has ended removes its listeners from its caller's signal, and leaves no timer: the signal may outlive many calls. */
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Client, HttpClient } from "usher-http";
import { serverOfFile } from "../support/http-server.ts";

const answers: { readonly [path: string]: readonly [status: number, type: string, text: string] } = {
  "/json": [200, "application/json", "1"],
  "/text": [200, "text/plain", "a"],
  "/empty": [200, "", ""],
  "/none": [204, "", ""],
  "/refusal": [409, "application/json", '{"error":"taken","message":"It is taken."}'],
  "/gateway": [502, "text/html", "<p>"],
  "/lines": [200, "application/x-ndjson", "1\n2\n"],
  "/events": [200, "text/event-stream", "data: 1\n\n"],
  "/bytes": [200, "application/octet-stream", "a"],
  "/cut": [200, "application/json", "1"],
};
const { url: baseUrl } = await serverOfFile((request, response) => {
  const [status, type, text] = answers[request.url ?? ""] ?? [404, "", ""];
  response.writeHead(status, type === "" ? {} : { "content-type": type });
  if (request.url === "/cut") response.write(text, () => response.destroy());
  else response.end(text);
});
const stopping = new AbortController();
const { signal } = stopping;
const timeoutMs = 12_345;

/** The timers of pending calls. The platform has others. */
const timers = new Set<unknown>();
const { setTimeout, clearTimeout } = globalThis;
beforeEach(() => {
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms: number) => {
    const timer = setTimeout(act, ms);
    if (ms === timeoutMs) timers.add(timer);
    return timer;
  }) as never);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation(((timer: never) => {
    timers.delete(timer);
    clearTimeout(timer);
  }) as never);
});
afterEach(() => {
  vi.restoreAllMocks();
  timers.clear();
});

/** The requests that were sent: the platform's request listens to the signal until it is collected. */
const held: Request[] = [];
const holding = (fetch: (request: Request) => Promise<Response>) => (request: Request) => {
  held.push(request);
  return fetch(request);
};
type Api = { readonly [call: string]: (given: object) => Promise<unknown> };

/** The number of listeners on the signal, and of timers. */
const left = (of = signal) => [getEventListeners(of, "abort").length, timers.size];

it("a call that is pending has both", async () => {
  const { fetch } = HttpClient.make({ baseUrl, timeoutMs });
  const response = await fetch("/text", { signal });
  expect(left()).toEqual([1, 1]);
  await response.body?.cancel();
});

type Reading = (response: Response) => Promise<unknown>;
const reading: readonly (readonly [how: string, path: string, read: Reading])[] = [
  ["is read", "/text", (response) => response.text()],
  ["has no body", "/none", async () => {}],
  ["is cancelled", "/text", async (response) => response.body?.cancel()],
  ["is cut off", "/cut", (response) => response.text().catch(() => {})],
  ["is longer than the client takes", "/refusal", (response) => response.text().catch(() => {})],
];

it.each(reading)("a response of HttpClient that %s", async (_how, path, read) => {
  const { fetch } = HttpClient.make({ baseUrl, timeoutMs, maxBody: 10 });
  await read(await fetch(path, { signal }));
  expect(left()).toEqual([0, 0]);
});

it("a call of HttpClient without a response", async () => {
  const { fetch } = HttpClient.make({ baseUrl: "http://127.0.0.1:9", timeoutMs });
  await expect(fetch("/", { signal })).rejects.toThrow("fetch failed");
  expect(left()).toEqual([0, 0]);
});

it("an aborted call of HttpClient", async () => {
  const aborting = new AbortController();
  const response = await HttpClient.make({ baseUrl, timeoutMs }).fetch("/text", { signal: aborting.signal });
  aborting.abort();
  await expect(response.text()).rejects.toThrow("aborted");
  expect(left(aborting.signal)).toEqual([0, 0]);
});

interface Stream {
  next(): Promise<{ readonly done?: boolean }>;
  return(): Promise<unknown>;
}
type Call = (outcome: { readonly value: unknown }) => unknown;
const each = async (stream: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of stream);
};
const calls: readonly (readonly [what: string, path: string, then: Call])[] = [
  ["JSON", "/json", () => {}],
  ["text", "/text", () => {}],
  ["an empty body", "/empty", () => {}],
  ["no body", "/none", () => {}],
  ["a refusal", "/refusal", () => {}],
  ["the page of a gateway", "/gateway", () => {}],
  ["a body that is cut off", "/cut", () => {}],
  ["lines", "/lines", ({ value }) => each(value as AsyncIterable<unknown>)],
  ["lines that are left", "/lines", ({ value }) => (value as Stream).return()],
  ["events", "/events", ({ value }) => each(value as AsyncIterable<unknown>)],
  [
    "events that are left",
    "/events",
    async ({ value }) => {
      await (value as Stream).next();
      await (value as Stream).return();
    },
  ],
  ["bytes", "/bytes", ({ value }) => (value as Response).text()],
  ["bytes that are left", "/bytes", ({ value }) => (value as Response).body?.cancel()],
];

it.each(calls)("a typed call that is answered %s", async (_what, path, then) => {
  const api = Client.of({ baseUrl, fetch: holding(fetch) }) as Api;
  const [before = 0] = left();
  await then((await api[`GET ${path}`]?.({ signal })) as { readonly value: unknown });
  expect(left()).toEqual([before + 1, 0]);
});

it("a refusal whose body readRefusal does not read", async () => {
  const cancelled = vi.fn();
  const body = new ReadableStream({ cancel: cancelled });
  const fetch = holding(async () => new Response(body, { status: 409, headers: { "x-error": "taken" } }));
  const readRefusal = ({ headers }: Response) => ({ error: headers.get("x-error") ?? "", message: "It is taken." });
  const api = Client.of({ baseUrl, fetch, readRefusal }) as Api;
  const [before = 0] = left();
  expect(await api["GET /"]?.({ signal })).toMatchObject({ status: 409, error: "taken" });
  expect(cancelled).toHaveBeenCalledOnce();
  expect(left()).toEqual([before + 1, 0]);
});

it("a refusal that readRefusal cannot read", async () => {
  const cancelled = vi.fn();
  const body = new ReadableStream({ cancel: cancelled });
  const fetch = holding(async () => new Response(body, { status: 502 }));
  const readRefusal = ({ headers }: Response) => JSON.parse(headers.get("x-error") ?? "") as never;
  const api = Client.of({ baseUrl, fetch, readRefusal }) as Api;
  const [before = 0] = left();
  expect(await api["GET /"]?.({ signal })).toMatchObject({ status: 502, error: "unreachable" });
  expect(cancelled).toHaveBeenCalledOnce();
  expect(left()).toEqual([before + 1, 0]);
});

it("a typed call without a response", async () => {
  const api = Client.of({ baseUrl: "http://127.0.0.1:9", fetch: holding(fetch) }) as Api;
  const [before = 0] = left();
  await api["GET /"]?.({ signal }).catch(() => {});
  expect(left()).toEqual([before + 1, 0]);
});

it("a typed call with an invalid header", async () => {
  const api = Client.of({ baseUrl }) as Api;
  const { signal } = new AbortController();
  await expect(api["GET /"]?.({ headers: { a: "1\n2" }, signal })).rejects.toThrow(/header/i);
  const [listeners, timers] = left(signal);
  // The platform's request, which could not be made, listens until it is collected.
  expect(listeners).toBeLessThanOrEqual(1);
  expect(timers).toBe(0);
});
