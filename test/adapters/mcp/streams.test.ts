import { waitMs } from "../../support/patience.ts";
/** The state after a call whose stream has ended, was left, or is cut off by a stop. */
import { App, Codec, Meta, Path, Query, Returns, Test, clientGone, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import type { McpSessions } from "usher-http/mcp";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";
import { lines, messages } from "../../support/logs.ts";
import { ask, refusalOf } from "./asking.ts";
import { Tick, following, publish, ticksUntil } from "./ticks.ts";

/** The first opens when a call arrives. A late call waits for the second before it has a stream. */
let [arrives, begins] = [gate(), gate()];
/** The signals of the calls so far. */
const signals: AbortSignal[] = [];

const follow = get(
  Path.of("follow"),
  {
    meta: Meta.tool({ name: "follow", events: "progress" }),
    inputs: { clientGone, late: Query.default("late", Codec.bool, false) },
    returns: Returns.events([Tick]),
  },
  async ({ clientGone, late }) => {
    signals.push(clientGone);
    arrives.open();
    if (late) await begins.passed;
    return ticksUntil(clientGone);
  },
);

const servers: Server[] = [];
afterEach(async () => {
  publish(-1);
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await vi.waitUntil(() => following() === 0, { timeout: waitMs() });
  signals.length = 0;
  [arrives, begins] = [gate(), gate()];
});

/** A client with a session on a server of its own. */
async function client(sessions: McpSessions | undefined) {
  const options = { name: "ticks", version: "1", ...(sessions === undefined ? {} : { sessions }) };
  const server = await serve([follow, ...Mcp.routes([follow], options)], { port: 0, drainMs: 60_000 });
  servers.push(server);
  const url = `http://127.0.0.1:${server.port}/mcp`;
  let session = "";
  const send = (body: object, signal?: AbortSignal) =>
    fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(session === "" ? {} : { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      ...(signal === undefined ? {} : { signal }),
    });
  const opened = await send({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  session = opened.headers.get("mcp-session-id") ?? "";
  await opened.text();
  const call = (id: number, late = false, signal?: AbortSignal) => {
    const params = { name: "follow", arguments: { late }, _meta: { progressToken: "t" } };
    return send({ id, method: "tools/call", params }, signal);
  };
  const resumed = (last: string) => fetch(url, { headers: { "mcp-session-id": session, "last-event-id": last } });
  const resume = async (last: string) => {
    const answered = await resumed(last);
    return [answered.status, await answered.text()] as const;
  };
  return { server, call, resumed, resume };
}

/** Disconnects from an answer, and returns what it received. */
async function left(answer: Response): Promise<void> {
  await (answer.body as ReadableStream).cancel();
}

describe("a stream of a session", () => {
  it("is cancelled when its client has disconnected before it began", async () => {
    const { call } = await client({ resumeMs: 1 });
    const leaving = new AbortController();
    const sent = call(1, true, leaving.signal).catch(() => "left");
    await arrives.passed;
    leaving.abort();
    expect(await sent).toBe("left");
    begins.open();
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true]));
  });

  it("is cancelled at once when its client disconnects before it begins: nothing could resume it", async () => {
    const { call } = await client({ resumeMs: 3_600_000 });
    const leaving = new AbortController();
    const sent = call(1, true, leaving.signal).catch(() => "left");
    await arrives.passed;
    leaving.abort();
    expect(await sent).toBe("left");
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true]));
    begins.open();
  });

  it("is one of eight: a ninth cannot be resumed, unless one of them has ended", async () => {
    const { call, resume } = await client({ resumeMs: 60_000 });
    const answers: Response[] = [];
    for (let id = 1; id <= 9; id++) answers.push(await call(id));
    await eventually(() => expect(following()).toBe(9));
    expect((await resume("9.0"))[0]).toBe(400);
    // Nothing resumes the ninth, and the other calls run on.
    await left(answers[8] as Response);
    await eventually(() => expect(following()).toBe(8));
    expect(signals.map(({ aborted }) => aborted)).toEqual([...Array(8).fill(false), true]);
    publish(-1);
    await eventually(() => expect(following()).toBe(0));
    for (const answer of answers.slice(0, 8)) await answer.text();
    const tenth = await call(10);
    await eventually(() => expect(following()).toBe(1));
    expect((await resume("1.0"))[0]).toBe(400);
    publish(-1);
    await tenth.text();
    expect((await resume("9.0"))[1]).toContain('"id":10');
    expect((await resume("8.0"))[1]).toContain('"id":8');
  });

  it("has the messages that its reader has not read, though another stream has nothing left to drop", async () => {
    const { call, resumed } = await client({ resumeMs: 60_000, maxKept: 1 });
    for (const id of [1, 2]) await left(await call(id));
    await eventually(() => expect(following()).toBe(2));
    publish(1);
    const rest = await resumed("2.0");
    publish(2);
    publish(-1);
    expect(await rest.text()).toContain('\\"events\\":2');
  });

  it("frees its id after it has ended", async () => {
    const { call } = await client({});
    for (let i = 0; i < 2; i++) {
      const answer = await call(1);
      await eventually(() => expect(following()).toBe(1));
      publish(-1);
      expect(await answer.text()).toContain('"result"');
    }
  });
});

describe("a stop of the server", () => {
  it("cancels a call whose client has disconnected from its stream", async () => {
    const { server, call } = await client({ resumeMs: 3_600_000 });
    await left(await call(1));
    await eventually(() => expect(following()).toBe(1));
    await server.stop();
    await eventually(() => expect(following()).toBe(0));
  });

  it.each([
    ["in a session", {}],
    ["without one", undefined],
  ])("cancels a call whose stream is read, %s", async (_where, sessions) => {
    const { server, call } = await client(sessions);
    const answer = await call(1);
    await eventually(() => expect(following()).toBe(1));
    publish(1);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await server.stop();
    await eventually(() => expect(following()).toBe(0));
  });
});

/** A client of `App.fetch`. */
async function fetching(sessions: McpSessions | undefined, protocolVersion = "2025-06-18") {
  const options = { name: "ticks", version: "1", ...(sessions === undefined ? {} : { sessions }) };
  const app = App.make([follow, ...Mcp.routes([follow], options)]);
  let session = "";
  const send = (id: number, method: string, params: object, signal: AbortSignal | null = null) =>
    app.fetch(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "text/event-stream",
          ...(session === "" ? {} : { "mcp-session-id": session }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
        signal,
      }),
    );
  session = (await send(0, "initialize", { protocolVersion })).headers.get("mcp-session-id") ?? "";
  const params = { name: "follow", _meta: { progressToken: "t" } };
  /** The reader of a call's stream. */
  const call = async (id: number, signal?: AbortSignal) => {
    const { body } = await send(id, "tools/call", params, signal);
    return (body as ReadableStream<Uint8Array>).getReader();
  };
  const late = (id: number, signal: AbortSignal) =>
    send(id, "tools/call", { ...params, arguments: { late: true } }, signal);
  const resume = async (last: string) => {
    const headers = { "mcp-session-id": session, "last-event-id": last };
    const { body } = await app.fetch(new Request("http://localhost/mcp", { headers }));
    return (body as ReadableStream<Uint8Array>).getReader();
  };
  return { app, call, late, resume };
}

/** The numbers of a stream, to its end or up to a number of them. */
async function numbersOf(reader: ReadableStreamDefaultReader<Uint8Array>, most = Infinity): Promise<readonly number[]> {
  const numbers: number[] = [];
  while (numbers.length < most) {
    const { value } = await reader.read();
    if (value === undefined) break;
    const text = new TextDecoder().decode(value);
    numbers.push(...[...text.matchAll(/\\"n\\":(\d+)/g)].map(([, n]) => Number(n)));
  }
  return numbers;
}

const areAborted = () => signals.map(({ aborted }) => aborted);

describe("a client of App.fetch that cancels its stream", () => {
  it.each([
    ["in a session", { resumeMs: 1 }],
    ["without one", undefined],
  ])("cancels the call at the next event, %s", async (_where, sessions) => {
    const { call } = await fetching(sessions);
    const reader = await call(1);
    const first = reader.read();
    await eventually(() => expect(following()).toBe(1));
    publish(1);
    await first;
    expect(areAborted()).toEqual([false]);
    await reader.cancel();
    publish(2);
    await eventually(() => expect(areAborted()).toEqual([true]));
  });

  it.each([
    ["may resume it", 0, true],
    ["may not, as it is the ninth", 8, false],
  ])("cancels the call when it had gone before it began to read, and %s", async (_what, others, isKept) => {
    const { app, call } = await fetching({ resumeMs: 3_600_000 });
    const readers = [];
    for (let id = 1; id <= others; id++) readers.push(await call(id));
    const leaving = new AbortController();
    const reader = await call(others + 1, leaving.signal);
    leaving.abort();
    const reads = [...readers, reader].map((one) => one.read());
    await eventually(() => expect(following()).toBe(others + (isKept ? 1 : 0)));
    publish(1);
    await Promise.all(reads);
    const running = Array<boolean>(others).fill(false);
    expect(areAborted()).toEqual([...running, !isKept]);
    // Unread messages are not kept for a client by a server that stops.
    app.drain();
    await reader.cancel();
    publish(2);
    await eventually(() => expect(areAborted()).toEqual([...running, true]));
    await Promise.all(readers.map((one) => one.cancel()));
  });

  it("cancels the call when it has gone after the first event, although none follows", async () => {
    const { call } = await fetching({ resumeMs: 1 }, "2025-11-25");
    const reader = await call(1);
    await reader.read();
    await eventually(() => expect(following()).toBe(1));
    await reader.cancel();
    await eventually(() => expect(areAborted()).toEqual([true]));
  });

  it("cancels the call when it had gone before there was a stream", async () => {
    const { late } = await fetching({ resumeMs: 1 });
    const leaving = new AbortController();
    const sent = late(1, leaving.signal);
    await arrives.passed;
    leaving.abort();
    begins.open();
    await sent;
    await eventually(() => expect(areAborted()).toEqual([true]));
  });
});

describe("a stream of App.fetch whose reader has left", () => {
  it("runs on, and keeps later messages", async () => {
    const { call, resume } = await fetching({ resumeMs: 3_600_000 });
    const reader = await call(1);
    await eventually(() => expect(following()).toBe(1));
    publish(1);
    expect(await numbersOf(reader, 1)).toEqual([1]);
    await reader.cancel();
    for (const n of [2, -1]) publish(n);
    await eventually(() => expect(following()).toBe(0));
    expect(await numbersOf(await resume("1.0"))).toEqual([1, 2]);
  });

  it("has no timer after it has ended, and is not cancelled", async () => {
    const { call } = await fetching({ resumeMs: 3_600_000 });
    const reader = await call(1);
    await eventually(() => expect(following()).toBe(1));
    publish(1);
    expect(await numbersOf(reader, 1)).toEqual([1]);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await reader.cancel();
    expect(vi.getTimerCount()).toBe(1);
    publish(-1);
    await eventually(() => expect(vi.getTimerCount()).toBe(0));
    expect(areAborted()).toEqual([false]);
  });

  it("has everything for a slow reader, though another stream needs space", async () => {
    // Space for three messages.
    const { call, resume } = await fetching({ resumeMs: 3_600_000, maxKept: 500 });
    await (await call(1)).cancel();
    await eventually(() => expect(following()).toBe(1));
    for (const n of [1, 2, 3]) publish(n);
    const quick = await resume("1.0");
    expect(await numbersOf(quick, 3)).toEqual([1, 2, 3]);
    await quick.cancel();
    const slow = await resume("1.0");
    expect(await numbersOf(slow, 1)).toEqual([1]);
    await (await call(2)).cancel();
    await eventually(() => expect(following()).toBe(2));
    for (const n of [4, 5, -1]) publish(n);
    // The second call has ended, and the first one waits for its reader.
    await eventually(() => expect(following()).toBe(1));
    expect(await numbersOf(slow)).toEqual([2, 3, 4, 5]);
  });
});

it("a session first drops the oldest messages of its streams, and results last", async () => {
  const followed = ["a", "b"].map((name) =>
    get(
      Path.of(name),
      { meta: Meta.tool({ name, events: "progress" }), inputs: { clientGone }, returns: Returns.events([Tick]) },
      ({ clientGone }) => ticksUntil(clientGone, name),
    ),
  );
  const sessions = { resumeMs: 3_600_000, maxKept: 600 };
  const app = App.make([...followed, ...Mcp.routes(followed, { name: "ticks", version: "1", sessions })]);
  let headers: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  const send = (id: number, method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    return app.fetch(new Request("http://localhost/mcp", { method: "POST", headers, body }));
  };
  const opened = await send(0, "initialize", { protocolVersion: "2025-06-18" });
  headers = { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const leave = async (id: number, name: string) => {
    await left(await send(id, "tools/call", { name, _meta: { progressToken: "t" } }));
    await eventually(() => expect(following(name)).toBe(1));
  };
  const resume = async (last: string) => {
    const resumed = await app.fetch(
      new Request("http://localhost/mcp", { headers: { ...headers, "last-event-id": last } }),
    );
    return resumed.text();
  };
  await leave(1, "a");
  await leave(2, "b");
  for (let n = 1; n <= 3; n++) publish(n, "b");
  publish(4, "a");
  publish(-1, "a");
  await eventually(() => expect(following("a")).toBe(0));
  for (let n = 5; n <= 8; n++) publish(n, "b");
  publish(-1, "b");
  await eventually(() => expect(following("b")).toBe(0));
  expect(await resume("1.0")).toContain('\\"events\\":1');
  const rest = await resume("2.0");
  expect([...rest.matchAll(/\\"n\\":(\d+)/g)].map(([, n]) => Number(n)).at(-1)).toBe(8);
  expect(rest).toContain('\\"events\\":7');
});

describe("the source of a tool's stream", () => {
  const appOf = (name: string, source: ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]) => {
    const of = (): Response => new Response(new ReadableStream(source, { highWaterMark: 0 }));
    const route = get(Path.of(name), { meta: Meta.tool({ name }), returns: Returns.response }, of);
    return Test.app([route, ...Mcp.routes([route], { name: "s", version: "1", maxAnswer: 100 })]);
  };

  it("is cancelled when it is too long", async () => {
    const cancelled = gate();
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(60));
    expect(await refusalOf(appOf("long", { pull, cancel: () => cancelled.open() }), "long")).toMatchObject({
      error: "too_large",
    });
    await cancelled.passed;
  });

  it("has a log line of its own when it throws", async () => {
    const pull = (): never => {
      throw new Error("a secret");
    };
    await ask(appOf("throws", { pull }), "tools/call", { name: "throws" });
    expect(messages("error").filter((message) => String(message).startsWith("stream on /throws"))).toHaveLength(1);
    expect(JSON.stringify(lines())).not.toContain("a secret");
  });
});
