/** The start of a call in a session: its client may have disconnected, or not read yet. */
import { App, Event, Meta, Path, Returns, clientGone, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";

const Note = Event.text("note");
const notes = 20;
let [arrives, begins] = [gate<AbortSignal>(), gate()];
const routes = [
  get(
    Path.of("notes"),
    { meta: Meta.tool({ name: "notes", events: "progress" }), returns: Returns.events([Note]) },
    () => async (send) => {
      for (let n = 1; n <= notes; n++) await send(Event.make(Note, `note ${n}`));
    },
  ),
  get(
    Path.of("late"),
    { meta: Meta.tool({ name: "late", events: "progress" }), inputs: { clientGone }, returns: Returns.events([Note]) },
    async ({ clientGone }) => {
      arrives.open(clientGone);
      await begins.passed;
      return async () => {};
    },
  ),
];

/** Calls a tool in a session of its own, which has space for a few messages. */
async function called(name: string, signal: AbortSignal | null = null): Promise<Response> {
  const sessions = { resumeMs: 3_600_000, maxKept: 300 };
  const app = App.make([...routes, ...Mcp.routes(routes, { name: "notes", version: "1", sessions })]);
  const types = { "content-type": "application/json", accept: "text/event-stream" };
  const send = (
    id: number,
    method: string,
    params: object,
    headers: Record<string, string>,
    signal: AbortSignal | null,
  ) =>
    app.fetch(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: { ...types, ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
        signal,
      }),
    );
  const opened = await send(0, "initialize", { protocolVersion: "2025-11-25" }, {}, null);
  const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  return send(1, "tools/call", { name, _meta: { progressToken: "t" } }, headers, signal);
}

it("a client that begins to read late gets all progress, although it is more than a session keeps", async () => {
  const answered = await called("notes");
  // As long as a network needs.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const read = [...(await answered.text()).matchAll(/note (\d+)/g)].map(([, n]) => Number(n));
  expect(read).toEqual(Array.from({ length: notes }, (_, i) => i + 1));
});

it("a call whose client disconnected before it ends, although its route waits", async () => {
  [arrives, begins] = [gate(), gate()];
  const answered = called("late", AbortSignal.abort());
  const gone = await arrives.passed;
  await eventually(() => expect(gone.aborted).toBe(true));
  begins.open();
  await answered;
});
