/** Sessions of MCP in Durable Objects of workerd: what a hostile client costs, and what is left once an object has gone. */
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import type { Line } from "../../support/logs.ts";
import { workerOf } from "../../support/miniflare.ts";
import type { Miniflare } from "../../support/miniflare.ts";
import { SessionClient, idsOf, sendTo, single } from "../mcp/session-client.ts";

/** The objects count how many of them were made, and can leave memory. */
const program = `
import { Log, Path, Returns, get } from "usher-http";
import { mcpSessionClass, worker } from "usher-http/workers";
import { sessionRoutes } from "../mcp/session-routes.ts";

Log.setup({ format: "json", level: "info", out: (line) => console.log(line) });
let made = 0;
const handler = worker(sessionRoutes, (env) => ({ mcpSessions: env.MCP_SESSIONS, behindCloudflare: true }));
const Session = mcpSessionClass(handler);
export class McpSession extends Session {
  #state;
  constructor(state, env) {
    super(state, env);
    made++;
    this.#state = state;
  }
  async fetch(request) {
    if (request.url === "http://o/evict") this.#state.abort("evicted");
    if (request.url !== "http://o/look") return super.fetch(request);
    const kept = await this.#state.storage.list();
    return Response.json({ kept: [...kept.keys()], alarm: (await this.#state.storage.getAlarm()) !== null });
  }
}
export class Other extends Session {}
const stubOf = (env, id) => env.MCP_SESSIONS.get(env.MCP_SESSIONS.idFromString(id));
export default {
  async fetch(request, env, ctx) {
    const [, what, id] = new URL(request.url).pathname.split("/");
    if (what === "made") return new Response(String(made));
    if (what === "other") return new Response(String(env.OTHER.newUniqueId()));
    if (what === "evict") return stubOf(env, id).fetch("http://o/evict").catch(() => new Response());
    if (what === "look") return stubOf(env, id).fetch("http://o/look");
    return handler.fetch(request, env, ctx);
  },
};
`;

let folder: string;
let miniflare: Miniflare;
let origin: string;
let url: string;
let lines: Line[] = [];

function keepLines(from: Readable): void {
  let rest = "";
  from.on("data", (data: Buffer) => {
    const texts = (rest + String(data)).split("\n");
    rest = texts.pop() ?? "";
    lines.push(...texts.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as Line));
  });
}

async function begin(): Promise<void> {
  miniflare = await workerOf(program, import.meta.dirname, {
    durableObjects: {
      MCP_SESSIONS: { className: "McpSession", useSQLite: true },
      OTHER: { className: "Other", useSQLite: true },
    },
    durableObjectsPersist: folder,
    compatibilityFlags: ["nodejs_als", "enable_request_signal"],
    handleRuntimeStdio: (stdout, stderr) => {
      keepLines(stdout);
      stderr.resume();
    },
  });
  ({ origin } = await miniflare.ready);
  url = `${origin}/mcp`;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "usher-objects-"));
  await begin();
});
afterAll(async () => {
  await miniflare.dispose();
  await rm(folder, { recursive: true });
});

const told = async (path: string) => (await fetch(`${origin}/${path}`, { headers: single })).text();
const textOf = (answer: Promise<Response>) => answer.then((answer) => answer.text()).catch(() => "broken");
const nothing = JSON.stringify({ kept: [], alarm: false });

describe("a request of a session", () => {
  it("is logged as one request, with its trace and its id", async () => {
    const session = await SessionClient.open(url);
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    lines = [];
    const more = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const pinged = await session.send({ id: 1, method: "ping" }, { headers: more });
    expect(pinged.status).toBe(200);
    const id = pinged.headers.get("x-request-id");
    // A later log line is from a later event.
    await session.call("following");
    await eventually(() => expect(lines.some((line) => line["url.path"] === "/following")).toBe(true));
    expect(lines.filter((line) => line["trace_id"] === traceId)).toEqual([
      expect.objectContaining({ "url.path": "/mcp", request_id: id }),
    ]);
    expect(lines.filter((line) => line["url.path"] === "/mcp")).toHaveLength(2);
  });

  it("has the address of the client that sent it", async () => {
    const session = await SessionClient.open(url, { "cf-connecting-ip": "192.0.2.7" });
    expect(await session.call("address")).toBe("192.0.2.7");
  });

  it("is checked like any other: its origin, its host, its method", async () => {
    const session = await SessionClient.open(url);
    const from = (headers: { readonly [name: string]: string }) => session.send({ id: 1, method: "ping" }, { headers });
    expect((await from({ origin: "https://evil.example" })).status).toBe(403);
    for (const method of ["PUT", "PATCH"]) {
      const refused = await session.request(method);
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST, DELETE, HEAD"]);
    }
    expect(await session.ping()).toBe(200);
  });

  it("cancels its call when its client resets the connection", async () => {
    const session = await SessionClient.open(url);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const params = { name: "waits", arguments: { topic: session.topic } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: "w", method: "tools/call", params });
    const head = `host: 127.0.0.1\r\ncontent-type: application/json\r\nmcp-session-id: ${session.id}`;
    socket.write(`POST /mcp HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await session.follows(1);
    socket.resetAndDestroy();
    await session.follows(0);
    expect((await session.cancel("w")).status).toBe(202);
  });
});

describe("an invented session id", () => {
  it("activates no object, for one or a thousand ids", async () => {
    const session = await SessionClient.open(url);
    const before = await told("made");
    const other = await told("other");
    const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
    const ids = [other, session.id.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))];
    for (let i = 0; i < 1000; i++) ids.push(random());
    const statuses = new Set<number>();
    for (let i = 0; i < ids.length; i += 20) {
      const asked = ids.slice(i, i + 20).map(async (id) => {
        const { status, body } = await sendTo(url, { id: 1, method: "ping" }, { headers: { "mcp-session-id": id } });
        await body?.cancel();
        return status;
      });
      for (const status of await Promise.all(asked)) statuses.add(status);
    }
    expect([...statuses]).toEqual([404]);
    expect(await told("made")).toBe(before);
    expect(await session.ping()).toBe(200);
  });

  it("of a session that has ended stores nothing again", async () => {
    const session = await SessionClient.open(url);
    expect(JSON.parse(await told(`look/${session.id}`))).toEqual({ kept: ["state"], alarm: true });
    expect((await session.request("DELETE")).status).toBe(204);
    for (const _ of [1, 2]) {
      expect(await session.ping()).toBe(404);
      expect(await told(`look/${session.id}`)).toBe(nothing);
      await told(`evict/${session.id}`);
    }
  });
});

it("a session that is not used is deleted by its alarm, in memory or not", async () => {
  for (const isInMemory of [true, false]) {
    const session = await SessionClient.open(`${origin}/brief`);
    if (!isInMemory) await told(`evict/${session.id}`);
    await eventually(async () => expect(await told(`look/${session.id}`)).toBe(nothing));
    expect(await session.ping()).toBe(404);
  }
});

describe("a session whose object is removed from memory", () => {
  it("continues without the calls and streams of before", async () => {
    const session = await SessionClient.open(url, { authorization: "Bearer a" });
    const [, before = ""] = idsOf(await session.leaveAt('\\"n\\":1'));
    const called = textOf(session.begin("waits", "w"));
    await session.follows(2);
    await told(`evict/${session.id}`);
    expect(await called).not.toContain("result");
    expect([await session.ping(), await session.ping({ authorization: "Bearer b" })]).toEqual([200, 404]);
    expect([(await session.resume(before)).status, (await session.cancel("w")).status]).toEqual([400, 202]);
    // The isolate continues, with the state that the object's calls left in its modules.
    const again = session.at(url);
    const [, after = ""] = idsOf(await again.leaveAt('\\"n\\":1'));
    expect([after === before, (await again.resume(before)).status]).toEqual([false, 400]);
    await again.publish(-1);
    expect(await (await again.resume(after)).text()).toContain('"events\\":1');
  });

  it("continues after the Worker was restarted", async () => {
    const session = await SessionClient.open(url, { "x-key": "a" });
    const ended = await SessionClient.open(url);
    expect((await ended.request("DELETE")).status).toBe(204);
    const called = textOf(session.begin("waits", "w"));
    await session.follows(1);
    await miniflare.dispose();
    expect(await called).not.toContain("result");
    await begin();
    const moved = (client: SessionClient) => client.at(url);
    expect(await moved(session).call("mine")).toBe("a");
    expect([await moved(session).ping({ "x-key": "b" }), await moved(ended).ping()]).toEqual([404, 404]);
    expect((await moved(session).request("DELETE")).status).toBe(204);
    expect(await moved(session).ping()).toBe(404);
  });
});
