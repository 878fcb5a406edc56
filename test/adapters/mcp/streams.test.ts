/** The state after a call whose stream was left, or is cut off by a stop. */
import { App, Codec, Meta, Path, Query, Returns, Test, clientGone, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";
import { lines, messages } from "../../support/logs.ts";
import { waitMs } from "../../support/patience.ts";
import { ask, refusalOf, requestOf } from "./asking.ts";
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
const routes = [follow, ...Mcp.routes([follow], { name: "ticks", version: "1" })];

const servers: Server[] = [];
afterEach(async () => {
  publish(-1);
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await vi.waitUntil(() => following() === 0, { timeout: waitMs() });
  signals.length = 0;
  [arrives, begins] = [gate(), gate()];
});

/** Calls the tool by a `fetch`. */
function caller(send: (path: string, init: RequestInit) => Promise<Response>) {
  return (late = false, signal: AbortSignal | null = null): Promise<Response> => {
    const params = { name: "follow", arguments: { late }, _meta: { progressToken: "t" } };
    return send("/mcp", { method: "POST", ...requestOf(1, "tools/call", params), signal });
  };
}

/** A client of a server of its own. */
async function overSockets() {
  const server = await serve(routes, { port: 0, drainMs: 60_000 });
  servers.push(server);
  return { server, call: caller((path, init) => fetch(`http://127.0.0.1:${server.port}${path}`, init)) };
}

const app = App.make(routes);
const called = caller(async (path, init) => app.fetch(new Request(`http://localhost${path}`, init)));

const readerOf = ({ body }: Response) => (body as ReadableStream<Uint8Array>).getReader();
const areAborted = () => signals.map(({ aborted }) => aborted);

it("a stop of the server cancels a call whose stream is read", async () => {
  const { server, call } = await overSockets();
  const answer = await call();
  await eventually(() => expect(following()).toBe(1));
  publish(1);
  await readerOf(answer).read();
  expect(areAborted()).toEqual([false]);
  await server.stop();
  await eventually(() => expect(following()).toBe(0));
});

it("a call whose client disconnects before its stream begins is cancelled", async () => {
  const { call } = await overSockets();
  const leaving = new AbortController();
  const sent = call(true, leaving.signal).catch(() => "left");
  await arrives.passed;
  leaving.abort();
  expect(await sent).toBe("left");
  await eventually(() => expect(areAborted()).toEqual([true]));
  begins.open();
});

describe("a client of App.fetch that cancels its stream", () => {
  it("cancels the call at the next event", async () => {
    const reader = readerOf(await called());
    const first = reader.read();
    await eventually(() => expect(following()).toBe(1));
    publish(1);
    await first;
    expect(areAborted()).toEqual([false]);
    await reader.cancel();
    publish(2);
    await eventually(() => expect(areAborted()).toEqual([true]));
  });

  it("cancels the call when it had gone before it began to read", async () => {
    const leaving = new AbortController();
    const reader = readerOf(await called(false, leaving.signal));
    leaving.abort();
    await reader.cancel();
    await eventually(() => expect(areAborted()).toEqual([true]));
  });

  it("cancels the call when it had gone before there was a stream", async () => {
    const leaving = new AbortController();
    const sent = called(true, leaving.signal);
    await arrives.passed;
    leaving.abort();
    begins.open();
    await sent;
    await eventually(() => expect(areAborted()).toEqual([true]));
  });

  it("cancels the call when it had gone before the call began", async () => {
    const answered = called(true, AbortSignal.abort());
    await arrives.passed;
    await eventually(() => expect(areAborted()).toEqual([true]));
    begins.open();
    await answered;
  });
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
