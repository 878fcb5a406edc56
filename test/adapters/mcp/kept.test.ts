/** Sessions that are not used any more take no memory. */
import { Event, Meta, Path, Returns, Test, clientGone, get, json, post } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { expect, it } from "vitest";
import { gate } from "../../support/gate.ts";
import { memory } from "../../support/memory.ts";

it("sessions that have expired are removed when another one is opened", async () => {
  const Note = Event.text("note");
  const notes = get(
    Path.of("notes"),
    { meta: Meta.tool({ name: "notes", events: "progress" }), returns: Returns.events([Note]) },
    () => async (send) => void (await send(Event.make(Note, "a".repeat(60_000)))),
  );
  const started = gate();
  const waits = get(
    Path.of("waits"),
    { meta: Meta.tool({ name: "waits" }), inputs: { clientGone }, returns: Returns.text },
    async ({ clientGone }) => {
      started.open();
      await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
      return "left";
    },
  );
  const routes = [notes, waits];
  const app = Test.app([...routes, ...Mcp.routes(routes, { name: "n", version: "1", sessions: { idleMs: 1000 } })]);
  const leaving = new AbortController();
  const sent = (method: string, ms: number, params: object, session?: string, gone?: AbortSignal) =>
    Test.call(app, "POST", "/mcp", {
      ...(gone === undefined ? {} : { gone }),
      body: { jsonrpc: "2.0", id: 1, method, params },
      now: new Date(1_795_000_000_000 + ms),
      headers: {
        accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
    });
  const open = async (ms: number) => {
    const opened = await sent("initialize", ms, { protocolVersion: "2025-11-25" });
    return opened.headers.get("mcp-session-id") ?? "";
  };
  // Each keeps the event, in case that its client reconnects.
  const params = { name: "notes", _meta: { progressToken: "t" } };
  const use = async () => (await sent("tools/call", 0, params, await open(0))).body.length;
  // The oldest always runs a call, and expires no earlier than its call.
  const running = sent("tools/call", 0, { name: "waits" }, await open(0), leaving.signal);
  await started.passed;
  await use();
  const before = await memory();
  for (let i = 0; i < 100; i++) expect(await use()).toBeGreaterThan(60_000);
  const kept = (await memory()) - before;
  expect(kept).toBeGreaterThan(5_000_000);
  await open(2000);
  expect((await memory()) - before).toBeLessThan(kept / 2);
  leaving.abort();
  expect((await running).body).toContain("left");
});

it("a session keeps no request whose call has ended", async () => {
  const Note = Event.text("note");
  const notes = post(
    Path.of("notes"),
    {
      meta: Meta.tool({ name: "notes", events: "progress" }),
      inputs: { text: json(v.string()) },
      returns: Returns.events([Note]),
    },
    () => async (send) => void (await send(Event.make(Note, "a"))),
  );
  const app = Test.app([notes, ...Mcp.routes([notes], { name: "n", version: "1", sessions: {} })]);
  const sent = (method: string, params: object, session?: string) =>
    Test.call(app, "POST", "/mcp", {
      body: { jsonrpc: "2.0", id: 1, method, params },
      headers: {
        accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
    });
  const session = (await sent("initialize", { protocolVersion: "2025-11-25" })).headers.get("mcp-session-id") ?? "";
  const call = async (length: number) => {
    const params = { name: "notes", arguments: { body: "b".repeat(length) }, _meta: { progressToken: "t" } };
    expect((await sent("tools/call", params, session)).body).toContain('\\"events\\":1');
  };
  for (let i = 0; i < 8; i++) await call(1);
  const before = await memory();
  for (let i = 0; i < 8; i++) await call(1_000_000);
  expect((await memory()) - before).toBeLessThan(2_000_000);
});
