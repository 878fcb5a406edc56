/** Sessions of clients of before 2026-07-28 in the memory of a process: number and lifetime. See session-places.test.ts too. */
import { Codec, Dep, Header, Meta, Path, Refusal, Returns, Test, clientGone, get, refuse } from "usher-http";
import type { TestApp } from "usher-http";
import { Mcp } from "usher-http/mcp";
import type { McpSessions } from "usher-http/mcp";
import { describe, expect, it } from "vitest";
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

  it("is opened by initialize, is required by later requests, and ends by DELETE", async () => {
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

  it("is not used by a client of 2026-07-28", async () => {
    const names = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const prefix = "io.modelcontextprotocol";
    const meta = { [`${prefix}/protocolVersion`]: "2026-07-28", [`${prefix}/clientCapabilities`]: {} };
    const answered = await ask(app, "tools/list", { _meta: meta }, { headers: names });
    expect([answered.status, answered.headers.get("mcp-session-id")]).toEqual([200, null]);
  });
});

describe("the number and the lifetime of sessions are limited", () => {
  it("in number: the session that was idle longest, and runs no call, ends", async () => {
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

  it("in number: a message makes a session the latest used", async () => {
    const app = Test.app(withSessions({ max: 2 }));
    const [first, second] = [await opened(app), await opened(app)];
    expect(await ping(app, first)).toBe(200);
    await opened(app);
    expect([await ping(app, first), await ping(app, second)]).toEqual([200, 404]);
  });

  it("in number: if each runs a call, the call of the session that was idle longest is cancelled", async () => {
    const app = Test.app(withSessions({ max: 1 }));
    const headers = { "mcp-session-id": await opened(app) };
    const called = ask(app, "tools/call", { name: "waits" }, { headers, id: "w" });
    await eventually(() => expect(following()).toBe(1));
    await opened(app);
    expect((await called).body).toContain("cancelled");
  });

  it("in number: a client that opens many ends its own, from any address of its network", async () => {
    const app = Test.app(withSessions({ max: 3 }));
    const sent = (method: string, peer: string, session?: string) =>
      Test.call(app, "POST", "/mcp", {
        body: { jsonrpc: "2.0", id: 1, method },
        peer,
        ...(session === undefined ? {} : { headers: { "mcp-session-id": session } }),
      });
    const open = async (peer: string) => (await sent("initialize", peer)).headers.get("mcp-session-id") ?? "";
    const [one, other] = [await open("10.0.0.1"), await open("10.0.0.2")];
    const many: string[] = [];
    for (let i = 1; i <= 5; i++) many.push(await open(`2001:db8::${i}`));
    const statuses = await Promise.all([
      sent("ping", "10.0.0.1", one),
      sent("ping", "10.0.0.2", other),
      ...many.map((id) => sent("ping", "2001:db8::9", id)),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404, 404, 200]);
    // If each has one, the least recently used ends.
    await open("10.0.0.3");
    expect((await sent("ping", "10.0.0.1", one)).status).toBe(404);
  });

  it("in idle time", async () => {
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

  it.each([[7], [{ max: 0 }], [{ idleMs: "1" }], [{ idle: 1 }]])("by valid options: not %j", (sessions) => {
    expect(() => withSessions(sessions as never)).toThrow("Mcp.routes:");
  });
});

it("a session whose call has ended is the latest used, and older expired ones end", async () => {
  let now = 1_795_000_000_000;
  const app = Test.app(withSessions({ max: 2, idleMs: 1000 }), { now: () => new Date(now) });
  const called = await opened(app);
  const headers = { "mcp-session-id": called };
  const call = ask(app, "tools/call", { name: "waits" }, { headers, id: "w" });
  await eventually(() => expect(following()).toBe(1));
  const idle = await opened(app);
  now += 900;
  publish(1);
  expect((await call).body).toContain("done");
  now += 50;
  const second = await opened(app);
  expect([await ping(app, called), await ping(app, idle)]).toEqual([200, 404]);
  now += 200;
  expect(await ping(app, called)).toBe(200);
  now += 900;
  await opened(app);
  expect([await ping(app, called), await ping(app, second)]).toEqual([200, 404]);
});

it("a session is idle after its last call has ended", async () => {
  let now = 1_795_000_000_000;
  const app = Test.app(withSessions({ idleMs: 1000 }), { now: () => new Date(now) });
  const session = await opened(app);
  const headers = { "mcp-session-id": session };
  const params = { name: "waits", _meta: { progressToken: "t" } };
  for (const name of ["waits", "follow"]) {
    const called = ask(app, "tools/call", { ...params, name }, { headers, id: "w" });
    await eventually(() => expect(following()).toBe(1));
    now += 5000;
    publish(-1);
    expect((await called).body).toContain('"result"');
    now += 900;
    expect(await ping(app, session)).toBe(200);
  }
  now += 1100;
  expect(await ping(app, session)).toBe(404);
});
