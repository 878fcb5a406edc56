/** Sessions and streams that a client resumes: for clients of before 2026-07-28, where they are asked for. */
import { Codec, Dep, Header, Meta, Path, Refusal, Returns, Test, clientGone, get, refuse } from "usher-http";
import type { TestApp } from "usher-http";
import { Mcp } from "usher-http/mcp";
import type { McpSessions } from "usher-http/mcp";
import { serve } from "usher-http/node";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { ask } from "./asking.ts";
import { Tick, following, news, publish, ticksUntil } from "./ticks.ts";

type Headers = { readonly [name: string]: string };
const signedOut = Refusal.code("signed_out", { status: 401, doc: "There is no key.", challenge: "Key" });
const key = Dep.credential(
  "key",
  Dep.join({ key: Header.optional("x-key", Codec.string) }, ({ key }) => key ?? refuse(signedOut, "Sign in."), {
    refuses: [signedOut],
  }),
);
const follow = get(
  Path.of("follow"),
  { meta: Meta.tool({ name: "follow", events: "progress" }), inputs: { clientGone }, returns: Returns.events([Tick]) },
  ({ clientGone }) => ticksUntil(clientGone),
);
const waits = get(
  Path.of("waits"),
  { meta: Meta.tool({ name: "waits" }), inputs: { clientGone }, returns: Returns.text },
  async ({ clientGone }) => {
    const ticks = news.subscribe("ticks");
    await ticks.next({ until: clientGone });
    ticks.unsubscribe();
    return clientGone.aborted ? "cancelled" : "done";
  },
);
const mine = get(
  Path.of("mine"),
  { meta: Meta.tool({ name: "mine" }), inputs: { key }, returns: Returns.text },
  ({ key }) => key,
);
const routes = [follow, waits, mine];
const withSessions = (sessions: McpSessions) => [
  ...routes,
  ...Mcp.routes(routes, { name: "ticks", version: "1", sessions }),
];

async function opened(app: TestApp, headers: Headers = {}): Promise<string> {
  const answered = await ask(app, "initialize", { protocolVersion: "2025-11-25" }, { headers });
  return answered.headers.get("mcp-session-id") ?? "";
}

const ping = async (app: TestApp, session: string, headers: Headers = {}) =>
  (await ask(app, "ping", {}, { headers: { ...headers, "mcp-session-id": session } })).status;

describe("a session", () => {
  const app = Test.app(withSessions({}));

  it("is opened by initialize, is needed by what follows, and ends by DELETE", async () => {
    const session = await opened(app);
    expect(session).toMatch(/^[\da-f-]{36}$/);
    const missing = await ask(app, "ping");
    expect([missing.status, missing.body]).toEqual([
      400,
      expect.stringContaining("The header Mcp-Session-Id is missing"),
    ]);
    expect([await ping(app, session), await ping(app, "another")]).toEqual([200, 404]);
    const twice = { "mcp-session-id": `${session}, ${session}` };
    expect((await ask(app, "ping", {}, { headers: twice })).status).toBe(404);
    const headers = { "mcp-session-id": session };
    expect((await Test.call(app, "DELETE", "/mcp", { headers })).status).toBe(204);
    expect(await ping(app, session)).toBe(404);
    expect((await Test.call(app, "DELETE", "/mcp", { headers })).status).toBe(404);
    expect((await Test.call(app, "DELETE", "/mcp")).status).toBe(400);
    const untold = { jsonrpc: "2.0", method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const told = await Test.call(app, "POST", "/mcp", { body: untold });
    expect([told.status, told.headers.get("mcp-session-id")]).toEqual([400, null]);
  });

  it("is no business of a client of 2026-07-28", async () => {
    const names = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const prefix = "io.modelcontextprotocol";
    const meta = { [`${prefix}/protocolVersion`]: "2026-07-28", [`${prefix}/clientCapabilities`]: {} };
    const answered = await ask(app, "tools/list", { _meta: meta }, { headers: names });
    expect([answered.status, answered.headers.get("mcp-session-id")]).toEqual([200, null]);
  });

  it.each<[own: Headers, other: Headers]>([
    [{}, { authorization: "Bearer b" }],
    [{ authorization: "Bearer a" }, {}],
    [{ authorization: "Bearer a" }, { authorization: "Bearer b" }],
    [{ "x-key": "a" }, { "x-key": "b" }],
  ])("of the credentials %j is none for those of %j", async (own, other) => {
    const session = await opened(app, own);
    expect(await ping(app, session, other)).toBe(404);
    const headers = { ...other, "mcp-session-id": session, "last-event-id": "1.0" };
    for (const method of ["GET", "DELETE"]) {
      expect((await Test.call(app, method, "/mcp", { headers })).status).toBe(404);
    }
    expect(await ping(app, session, own)).toBe(200);
  });

  it("has calls that the client cancels by their id, and no two of one id", async () => {
    const headers = { "mcp-session-id": await opened(app) };
    const called = ask(app, "tools/call", { name: "waits" }, { headers, id: "w" });
    await eventually(() => expect(following()).toBe(1));
    expect((await ask(app, "ping", {}, { headers, id: "w" })).json()).toMatchObject({ error: { code: -32_000 } });
    const other = { "mcp-session-id": await opened(app) };
    const cancel = (headers: Headers, requestId: unknown) =>
      Test.call(app, "POST", "/mcp", {
        headers,
        body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } },
      });
    expect((await cancel(other, "w")).status).toBe(202);
    expect((await cancel(headers, "other")).status).toBe(202);
    expect(following()).toBe(1);
    expect((await cancel(headers, "w")).status).toBe(202);
    expect((await called).body).toContain("cancelled");
    expect(await ping(app, headers["mcp-session-id"])).toBe(200);
  });

  it.each([
    ["", 405],
    ["x", 400],
    ["7.0", 400],
    ["1.0\u00a0", 400],
    [`${"9".repeat(400)}.0`, 400],
  ])("has no stream at %j", async (last, status) => {
    const headers = { "mcp-session-id": await opened(app), ...(last === "" ? {} : { "last-event-id": last }) };
    expect((await Test.call(app, "GET", "/mcp", { headers })).status).toBe(status);
  });
});

it("a session that ends while others of its requests come is there, or is not", async () => {
  const app = Test.app(withSessions({}));
  for (let i = 0; i < 20; i++) {
    const session = await opened(app);
    const ending = Test.call(app, "DELETE", "/mcp", { headers: { "mcp-session-id": session } });
    const statuses = [(await Promise.all([ending, ping(app, session)]))[1], await ping(app, session)];
    expect([
      [200, 404],
      [404, 404],
    ]).toContainEqual(statuses);
  }
});

describe("sessions are bounded", () => {
  it("by their number: the one that was used the longest ago, and runs nothing, ends", async () => {
    const app = Test.app(withSessions({ max: 2 }));
    const [first, second] = [await opened(app), await opened(app)];
    const called = ask(app, "tools/call", { name: "waits" }, { headers: { "mcp-session-id": first }, id: "w" });
    await eventually(() => expect(following()).toBe(1));
    expect(await ping(app, second)).toBe(200);
    const third = await opened(app);
    expect([await ping(app, first), await ping(app, second), await ping(app, third)]).toEqual([200, 404, 200]);
    publish(1);
    expect((await called).body).toContain("done");
  });

  it("by their number: a message makes a session the one that was used last", async () => {
    const app = Test.app(withSessions({ max: 2 }));
    const [first, second] = [await opened(app), await opened(app)];
    expect(await ping(app, first)).toBe(200);
    await opened(app);
    expect([await ping(app, first), await ping(app, second)]).toEqual([200, 404]);
  });

  it("by their number: where each runs a call, the one that was used the longest ago is cancelled", async () => {
    const app = Test.app(withSessions({ max: 1 }));
    const headers = { "mcp-session-id": await opened(app) };
    const called = ask(app, "tools/call", { name: "waits" }, { headers, id: "w" });
    await eventually(() => expect(following()).toBe(1));
    await opened(app);
    expect((await called).body).toContain("cancelled");
  });

  it("by the time that they are not used", async () => {
    const app = Test.app(withSessions({ idleMs: 1000 }));
    const sent = (method: string, ms: number, session?: string) =>
      Test.call(app, "POST", "/mcp", {
        body: { jsonrpc: "2.0", id: 1, method },
        now: new Date(1_795_000_000_000 + ms),
        ...(session === undefined ? {} : { headers: { "mcp-session-id": session } }),
      });
    const open = async (ms: number) => (await sent("initialize", ms)).headers.get("mcp-session-id") ?? "";
    const [first, second] = [await open(0), await open(0)];
    const statuses = [
      await sent("ping", 600, first),
      await sent("ping", 1200, first),
      await sent("ping", 1200, second),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 404]);
    await open(2300);
    expect((await sent("ping", 1300, first)).status).toBe(404);
  });

  it.each([[7], [{ max: 0 }], [{ idleMs: "1" }], [{ idle: 1 }]])("by options of their own: not %j", (sessions) => {
    expect(() => withSessions(sessions as never)).toThrow("Mcp.routes:");
  });
});

const server = await serve(withSessions({ resumeMs: 60_000, maxKept: 400 }), { port: 0 });
const hasty = await serve(withSessions({ resumeMs: 1 }), { port: 0 });
afterAll(() => Promise.all([server.stop(), hasty.stop()]));

async function send(port: number, body: object, session?: string, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    ...(session === undefined ? {} : { "mcp-session-id": session }),
  };
  const sent = { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...body }) };
  return fetch(`http://127.0.0.1:${port}/mcp`, signal === undefined ? sent : { ...sent, signal });
}

async function sessionOn(port: number, protocolVersion = "2025-11-25"): Promise<string> {
  const answered = await send(port, { id: 0, method: "initialize", params: { protocolVersion } });
  await answered.text();
  return answered.headers.get("mcp-session-id") ?? "";
}

const call = { id: 1, method: "tools/call", params: { name: "follow", _meta: { progressToken: "t" } } };
const resumed = async (session: string, last: string) =>
  fetch(`http://127.0.0.1:${server.port}/mcp`, { headers: { "mcp-session-id": session, "last-event-id": last } });
const idsOf = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
const numbersOf = (text: string) => [...text.matchAll(/\\"n\\":(\d+)/g)].map(([, n]) => Number(n));

/** Calls, and leaves at an event that has a text. */
async function leftAt(session: string, part: string, port = server.port): Promise<string> {
  const leaving = new AbortController();
  const { body } = await send(port, call, session, leaving.signal);
  const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never).getReader();
  let text = "";
  await eventually(() => expect(following()).toBe(1));
  publish(1);
  while (!text.includes(part)) text += ((await reader.read()) as { value: string }).value;
  leaving.abort();
  await reader.read().catch(() => undefined);
  return text;
}

describe("a stream of a session", () => {
  it("is resumed after the last event that came, and the call runs on meanwhile", async () => {
    const session = await sessionOn(server.port);
    const first = await leftAt(session, '\\"n\\":1');
    expect(idsOf(first)).toEqual(["1.0", "1.1"]);
    expect(first).toContain("retry: 1000");
    publish(2);
    const again = await resumed(session, "1.1");
    publish(-1);
    const rest = await again.text();
    expect([idsOf(rest), numbersOf(rest)]).toEqual([["1.2", "1.3"], [2]]);
    expect(rest).toContain('"result":{"content":[{"type":"text","text":"{\\"events\\":2}"}]}');
    const whole = await (await resumed(session, "1.0")).text();
    expect([idsOf(whole), numbersOf(whole)]).toEqual([
      ["1.1", "1.2", "1.3"],
      [1, 2],
    ]);
    expect(await (await resumed(session, "1.3")).text()).toBe("");
    expect(await (await resumed(session, "1.99")).text()).toBe("");
  });

  it("keeps the newest messages that there is room for", async () => {
    const session = await sessionOn(server.port);
    await leftAt(session, '\\"n\\":1');
    for (let n = 2; n <= 12; n++) publish(n);
    publish(-1);
    await eventually(() => expect(following()).toBe(0));
    const rest = await (await resumed(session, "1.1")).text();
    expect(numbersOf(rest).at(-1)).toBe(12);
    expect(idsOf(rest).length).toBeLessThan(6);
    expect(rest).toContain('"events\\":12');
  });

  it("has no event without a message for a client of 2025-06-18", async () => {
    const session = await sessionOn(server.port, "2025-06-18");
    expect(idsOf(await leftAt(session, '\\"n\\":1'))).toEqual(["1.1"]);
    await fetch(`http://127.0.0.1:${server.port}/mcp`, { method: "DELETE", headers: { "mcp-session-id": session } });
    await eventually(() => expect(following()).toBe(0));
  });

  it("is cancelled where its client does not come back", async () => {
    await leftAt(await sessionOn(hasty.port), '\\"n\\":1', hasty.port);
    await eventually(() => expect(following()).toBe(0));
  });
});
