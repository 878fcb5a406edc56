/** Calls that are cancelled while their route's stream waits for ever, and does not use `clientGone`. */
import { App, Dep, Event, Meta, Path, Returns, get } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { requestOf } from "./asking.ts";

const Note = Event.text("note");
const about = { name: "n", version: "1" };
const never = (): Promise<never> => new Promise(() => {});

/** An app whose streams have begun to wait, or hold a value, this number of times. */
function waiting() {
  const held = { now: 0, waits: 0 };
  const lock = Dep.scoped(
    {},
    () => ++held.now,
    () => void held.now--,
  );
  const inputs = { lock };
  const wait = (): Promise<never> => {
    held.waits++;
    return never();
  };
  const toolOf = (name: string, more: Meta.Tool = {}) => ({ meta: Meta.tool({ name, ...more }), inputs });
  const events = () => async (send: (event: ReturnType<typeof note>) => Promise<unknown>) => {
    await send(note());
    await wait();
  };
  const response = get(
    Path.of("response"),
    { ...toolOf("response"), returns: Returns.response },
    () => new Response(new ReadableStream({ pull: wait })),
  );
  async function* lines() {
    yield {};
    await wait();
  }
  const routes = [
    response,
    get(Path.of("content"), { ...toolOf("content"), returns: Returns.events([Note]) }, events),
    get(
      Path.of("progress"),
      { ...toolOf("progress", { events: "progress" }), returns: Returns.events([Note]) },
      events,
    ),
    get(Path.of("lines"), { ...toolOf("lines"), returns: Returns.jsonLines(v.object({})) }, lines),
  ];
  const app = App.make([...routes, ...Mcp.routes(routes, { ...about, resources: [Mcp.resource(response)] })]);
  const send = (message: ReturnType<typeof requestOf>, signal: AbortSignal) =>
    app.fetch(new Request("http://localhost/mcp", { method: "POST", ...message, signal }));
  return { held, send };
}

const note = () => Event.make(Note, "a");
const callOf = (name: string) => requestOf(1, "tools/call", { name, _meta: { progressToken: 1 } });

describe("a cancelled call releases its values, although its stream waits", () => {
  it.each([
    ["response", callOf("response")],
    ["content", callOf("content")],
    ["progress", callOf("progress")],
    ["lines", callOf("lines")],
    ["a resource", requestOf(1, "resources/read", { uri: "app:///response" })],
  ])("%s, whose client disconnects", async (_name, message) => {
    const { held, send } = waiting();
    const client = new AbortController();
    const answered = send(message, client.signal).then((response) => response.text());
    answered.catch(() => {});
    await eventually(() => expect(held).toEqual({ now: 1, waits: 1 }));
    client.abort();
    await eventually(() => expect(held).toEqual({ now: 0, waits: 1 }));
  });
});
