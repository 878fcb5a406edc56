/** What a Worker needs for sessions of MCP, and how long a session lasts in its Durable Object. */
import { App, Log, Meta, Path, Returns, clientGone, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import type { McpSessions } from "usher-http/mcp";
import { mcpSessionClass, worker } from "usher-http/workers";
import type { SessionNamespace } from "usher-http/workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { gate } from "../../support/gate.ts";
import { messages } from "../../support/logs.ts";
import { DurableObjects } from "./durable-objects.ts";

const context = { waitUntil: () => {} };
const begun = gate();
const waits = get(
  Path.of("waits"),
  { meta: Meta.tool({ name: "waits" }), inputs: { clientGone }, returns: Returns.text },
  async ({ clientGone }) => {
    begun.open();
    await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
    return "cancelled";
  },
);
const tools = [waits];
const withSessions = (sessions: McpSessions) => [...tools, ...Mcp.routes(tools, { name: "n", version: "1", sessions })];

function message(method: string, session?: string, params: object = { protocolVersion: "2025-11-25" }): Request {
  return new Request("http://h/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: method, method, params }),
  });
}

describe("a Worker with sessions of MCP", () => {
  const noBinding =
    "Mcp.routes has sessions, which on Workers are Durable Objects: give worker the option mcpSessions, the binding of a class that mcpSessionClass makes";

  it.each([[{}], [{ mcpSessions: undefined }], [{ mcpSessions: "MCP_SESSIONS" }], [{ mcpSessions: { get: 1 } }]])(
    "does not start with the options %j",
    (options) => {
      expect(() => worker(withSessions({}), options as never)).toThrow(noBinding);
    },
  );

  it("answers 500 if env lacks the binding, and logs the reason", async () => {
    const { fetch } = worker<{ readonly X?: SessionNamespace }>(withSessions({}), ({ X }) =>
      X === undefined ? {} : { mcpSessions: X },
    );
    expect((await fetch(message("initialize"), {}, context)).status).toBe(500);
    expect(messages("error")).toEqual([expect.stringContaining(noBinding)]);
  });

  it("does not start with a maximum, which cannot be counted there", () => {
    const mcpSessions = new DurableObjects();
    expect(() => worker(withSessions({ max: 5 }), { mcpSessions })).toThrow(
      "sessions.max of Mcp.routes cannot be counted on Workers, where each session is a Durable Object of its own: leave it out",
    );
  });

  it("needs no binding for MCP without sessions", () => {
    expect(() => worker([...tools, ...Mcp.routes(tools, { name: "n", version: "1" })])).not.toThrow();
  });

  it("is not App.fetch, which reports the alternative", async () => {
    vi.stubGlobal("WebSocketPair", Object);
    try {
      expect((await App.make(withSessions({})).fetch(message("initialize"))).status).toBe(500);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(messages("error")).toEqual([expect.stringContaining("serve it by worker of usher-http/workers")]);
  });
});

const idleMs = 160_000;
const objects = new DurableObjects();
const handler = worker<typeof objects.env>(withSessions({ idleMs }), (env) => ({ mcpSessions: env.MCP_SESSIONS }));
objects.use(mcpSessionClass(handler) as never);

function holdClock(): void {
  beforeEach(() => {
    Log.setup({ level: undefined });
    vi.useFakeTimers({ toFake: ["Date"], now: 1_795_000_000_000 });
  });
  afterEach(() => void vi.useRealTimers());
}

const ask = (...given: Parameters<typeof message>) => handler.fetch(message(...given), objects.env, context);
const pass = (ms: number) => void vi.setSystemTime(Date.now() + ms);
async function open(): Promise<string> {
  return (await ask("initialize")).headers.get("mcp-session-id") ?? "";
}
const ping = async (id: string) => (await ask("ping", id)).status;

describe("the session of an object", () => {
  holdClock();

  it.each(["0".repeat(64), "g".repeat(64), "0", ""])("is not found with an invented id: %j", async (id) => {
    await open();
    expect(await ping(id)).toBe(404);
  });

  it("lasts as long as it is used, in memory or not", async () => {
    const id = await open();
    for (let i = 0; i < 4; i++) {
      pass(idleMs);
      expect([await ping(id), await objects.ring(id)]).toEqual([200, false]);
      objects.evict(id);
    }
    pass(idleMs + 1);
    expect(await objects.ring(id)).toBe(false);
    // A sixteenth of its time is added where only the storage says when it was used.
    pass(idleMs / 16);
    expect([await ping(id), await objects.ring(id), await ping(id)]).toEqual([404, true, 404]);
    expect(objects.storage(id)).toMatchObject({ kept: new Map(), alarmAt: null });
  });

  it("ends in memory at the same time as elsewhere, and leaves nothing", async () => {
    const id = await open();
    expect(await ping(id)).toBe(200);
    pass(idleMs + 1);
    expect([await ping(id), objects.storage(id)]).toMatchObject([404, { kept: new Map(), alarmAt: null }]);
  });

  it("is deleted by its alarm when it is not used, in memory or not", async () => {
    for (const isInMemory of [true, false]) {
      const id = await open();
      expect(await ping(id)).toBe(200);
      if (!isInMemory) objects.evict(id);
      pass(idleMs * 1.1);
      expect([await objects.ring(id), objects.storage(id)]).toMatchObject([true, { kept: new Map(), alarmAt: null }]);
      expect(await ping(id)).toBe(404);
    }
  });

  it("is kept by its alarm while it runs a call", async () => {
    const id = await open();
    const called = ask("tools/call", id, { name: "waits" });
    await begun.passed;
    for (let i = 0; i < 3; i++) {
      pass(idleMs * 1.1);
      expect(await objects.ring(id)).toBe(true);
    }
    const ended = new Request("http://h/mcp", { method: "DELETE", headers: { "mcp-session-id": id } });
    expect((await handler.fetch(ended, objects.env, context)).status).toBe(204);
    expect(await (await called).text()).toContain("cancelled");
    expect(objects.storage(id)).toMatchObject({ kept: new Map(), alarmAt: null });
  });

  it("is rarely written", async () => {
    const id = await open();
    for (let i = 0; i < 100; i++) {
      pass(101);
      expect(await ping(id)).toBe(200);
    }
    // Its text and its alarm, and one more alarm after a sixteenth of its time.
    expect(objects.storage(id).writes).toBe(3);
  });
});

describe("the object of a session", () => {
  holdClock();

  it("is read again when its storage can be read again", async () => {
    const id = await open();
    objects.evict(id);
    objects.storage(id).isDown = true;
    expect([await ping(id), await ping(id)]).toEqual([500, 500]);
    objects.storage(id).isDown = false;
    expect(await ping(id)).toBe(200);
  });
});
