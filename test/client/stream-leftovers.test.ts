/** The state of an event stream's connections after the typed client has ended them. */
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as v from "valibot";
import { Client, Event, Path, Returns, get, jsonLines, post } from "usher-http";
import { gate } from "../support/gate.ts";

const Count = Event.json("count", v.number());
const routes = [get(Path.of("feed"), { returns: Returns.events([Count]) }, () => () => {})] as const;
const head = { headers: { "content-type": "text/event-stream" } };
type Answer = () => Response | Promise<Response>;

/** The events of a stream whose connections get these responses in turn. */
async function follow(answers: readonly Answer[]) {
  const left = [...answers];
  const fetch = async () => left.shift()?.() ?? Response.error();
  const stream = await Client.of<typeof routes>({ baseUrl: "http://localhost", fetch })["GET /feed"]();
  if (!stream.ok) throw new Error(stream.error);
  return stream.value[Symbol.asyncIterator]();
}

/** Ends the time for which the client waits. */
async function waitOut(): Promise<void> {
  // `vi.waitFor` lets time pass.
  while (vi.getTimerCount() === 0) await new Promise(setImmediate);
  await vi.runOnlyPendingTimersAsync();
}

/** Every value of a stream; the client waits before each connection except the first. */
async function valuesOf(answers: readonly Answer[]): Promise<unknown[]> {
  const values: unknown[] = [];
  const events = await follow(answers);
  const reading = (async () => {
    for (let read = await events.next(); !read.done; read = await events.next()) values.push(read.value.value);
  })();
  for (let i = 1; i < answers.length; i++) await waitOut();
  await reading;
  return values;
}

/** An event, and then a fault of the connection. */
function cut(): Response {
  const parts = [new TextEncoder().encode("id: 1\nevent: count\ndata: 1\n\n")];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) controller.error(new TypeError("terminated"));
      else controller.enqueue(part);
    },
  });
  return new Response(body, head);
}

const noMore = (): Response => new Response(null, { status: 204 });

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  // First: a mock that was put on a held timer would bring that back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A response that does not end, and whether it was cancelled. */
function unending(start: string, init: ResponseInit = head) {
  const cancelled = vi.fn();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
    cancel: cancelled,
  });
  return { cancelled, answer: () => new Response(body, init) };
}

describe("the response of an event stream", () => {
  it("is cancelled after an event that is too long, and when it is an error in place of a stream", async () => {
    const long = unending(`data: ${"x".repeat(2 ** 20)}\n\n`);
    await expect(valuesOf([long.answer])).rejects.toThrow(RangeError);
    expect(long.cancelled).toHaveBeenCalledOnce();
    const busy = unending("busy", { status: 503 });
    expect(await valuesOf([cut, busy.answer, noMore])).toEqual([1]);
    expect(busy.cancelled).toHaveBeenCalledOnce();
  });

  it("is cancelled when it arrives after the end of the iteration", async () => {
    const [late, come] = [unending(""), gate()];
    const answerLate = async () => {
      await come.passed;
      return late.answer();
    };
    const iterator = await follow([cut, answerLate]);
    await iterator.next();
    const next = iterator.next();
    await waitOut();
    const returned = iterator.return?.();
    come.open();
    expect(await Promise.all([next, returned])).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(late.cancelled).toHaveBeenCalledOnce();
  });

  it("leaves no listener on a signal for each of its connections", async () => {
    const add = vi.spyOn(EventTarget.prototype, "addEventListener");
    const answers = Array.from({ length: 5 }, () => cut);
    expect(await valuesOf([...answers, noMore])).toEqual([1, 1, 1, 1, 1]);
    const signals = new Set(add.mock.contexts.filter((target) => target instanceof AbortSignal));
    expect(signals.size).toBeGreaterThan(0);
    // One lasts as long as the stream. Node adds one for each Request, until that is collected.
    const most = answers.length + 1;
    for (const signal of signals) expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(most);
  });
});

it("an event stream whose signal aborts during a reconnect ends at once, without another wait", async () => {
  const [again, stop] = [gate(), new AbortController()];
  const answers: Answer[] = [cut];
  const fetch = async ({ signal }: Request) => {
    const answer = answers.shift();
    if (answer !== undefined) return answer();
    again.open();
    // Like the platform's.
    return new Promise<Response>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  };
  const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch });
  const stream = await api["GET /feed"]({ signal: stop.signal });
  if (!stream.ok) throw new Error(stream.error);
  const events = stream.value[Symbol.asyncIterator]();
  expect(await events.next()).toMatchObject({ value: { value: 1 } });
  const next = events.next();
  await waitOut();
  await again.passed;
  stop.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(vi.getTimerCount()).toBe(0);
});

it.each(["[1", '{"a":'])("JSON lines are cancelled at a line that is not JSON: %s", async (line) => {
  const wrong = unending(`1\n${line}\n`, { headers: { "content-type": "application/jsonl" } });
  const numbers = [get(Path.of("numbers"), { returns: Returns.jsonLines(v.number()) }, async function* () {})] as const;
  const api = Client.of<typeof numbers>({ baseUrl: "http://localhost", fetch: async () => wrong.answer() });
  const answer = await api["GET /numbers"]();
  if (!answer.ok) throw new Error(answer.error);
  const values: number[] = [];
  const reading = async () => {
    for await (const value of answer.value) values.push(value);
  };
  await expect(reading()).rejects.toThrow(SyntaxError);
  expect(values).toEqual([1]);
  expect(wrong.cancelled).toHaveBeenCalledOnce();
});

it("values to send are read no more after the server stops reading", async () => {
  const lines = [
    post(
      Path.of("lines"),
      { inputs: { lines: jsonLines(v.number(), { max: 1000 }) }, returns: Returns.empty() },
      () => {},
    ),
  ] as const;
  const ended = vi.fn();
  async function* values(): AsyncGenerator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      ended();
    }
  }
  const fetch = async (request: Request) => {
    const reader = (request.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("0\n");
    await reader.cancel();
    return new Response(null, { status: 204 });
  };
  const api = Client.of<typeof lines>({ baseUrl: "http://localhost", fetch });
  expect(await api["POST /lines"]({ lines: values() })).toMatchObject({ ok: true });
  expect(ended).toHaveBeenCalledOnce();
});

it("an event stream has its first pause again after long connections, although no event arrived", async () => {
  const wait = vi.spyOn(globalThis, "setTimeout");
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const minute = () => {
    const pull = (controller: ReadableStreamDefaultController) => {
      now += 60_000;
      controller.error(new TypeError("terminated"));
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), head);
  };
  expect(await valuesOf([minute, minute, minute, noMore])).toEqual([]);
  expect(wait.mock.calls.map(([, ms]) => ms)).toEqual([1000, 1000, 1000]);
});

it.each([
  ["events", "text/event-stream", "id: 1\ndata: 1\n\ndata: 2\n\n"],
  ["JSON lines", "application/x-ndjson", "1\n2\n"],
])("%s end when the loop aborts their signal, although more has arrived", async (_what, type, text) => {
  const stop = new AbortController();
  const fetch = async () => new Response(text, { headers: { "content-type": type } });
  const stream = await Client.of<typeof routes>({ baseUrl: "http://localhost", fetch })["GET /feed"]({
    signal: stop.signal,
  });
  if (!stream.ok) throw new Error(stream.error);
  const values: unknown[] = [];
  for await (const value of stream.value) {
    values.push(value);
    stop.abort();
  }
  expect(values).toHaveLength(1);
});

it("an event stream is not asked for again before the time of Retry-After", async () => {
  const wait = vi.spyOn(globalThis, "setTimeout");
  const refused = (status: number, after: string) => () =>
    new Response(null, { status, headers: { "retry-after": after } });
  const cut = () => new Response("id: 1\n\n", head);
  const answers = [
    refused(429, "60"),
    refused(503, "1"),
    refused(503, "Fri, 27 Nov 2026 16:00:00 GMT"),
    refused(204, "9"),
  ];
  expect(await valuesOf([cut, ...answers])).toEqual([]);
  const seconds = wait.mock.calls.map(([, ms = 0]) => ms / 1000);
  expect([seconds[0], seconds[1], seconds.length]).toEqual([1, 60, 4]);
  expect([seconds[2], seconds[3]].every((time = 0) => time >= 2 && time <= 8)).toBe(true);
});
