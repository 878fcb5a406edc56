/** Calls whose route's stream throws, or is not read. */
import { Answer, App, Dep, Event, Meta, Path, Returns, Test, clientGone, get } from "usher-http";
import type { Route } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { messages } from "../../support/logs.ts";
import { ask, requestOf } from "./asking.ts";

const Note = Event.text("note");
const about = { name: "n", version: "1" };
const toolOf = (name: string, more: Meta.Tool = {}) => ({ meta: Meta.tool({ name, ...more }) });

function* bytesThatBreak() {
  yield new TextEncoder().encode("a");
  throw new Error("broken");
}
async function* linesThatBreak() {
  yield {};
  throw new Error("broken");
}
const events = () => async (send: (event: ReturnType<typeof note>) => Promise<unknown>) => {
  await send(note());
  throw new Error("broken");
};
const note = () => Event.make(Note, "a");

describe("a stream that throws is an error of the tool", () => {
  const response = get(
    Path.of("response"),
    { ...toolOf("response"), returns: Returns.response },
    () => new Response(ReadableStream.from(bytesThatBreak()) as never) as never,
  );
  const ofLength = (name: string, length: number) =>
    get(Path.of(name), { ...toolOf(name), returns: Returns.response }, () =>
      Answer.stream(ReadableStream.from([new TextEncoder().encode("abc")]), { length, contentType: "text/plain" }),
    );
  const routes: readonly Route[] = [
    response,
    ofLength("short", 4),
    ofLength("long", 2),
    get(Path.of("content"), { ...toolOf("content"), returns: Returns.events([Note]) }, events),
    get(
      Path.of("progress"),
      { ...toolOf("progress", { events: "progress" }), returns: Returns.events([Note]) },
      events,
    ),
    get(Path.of("lines"), { ...toolOf("lines"), returns: Returns.jsonLines(v.object({})) }, linesThatBreak),
  ];
  const resources = [Mcp.resource(response)];
  const app = Test.app([...routes, ...Mcp.routes(routes, { ...about, resources })]);
  const internal =
    '{\\"error\\":\\"internal\\",\\"message\\":\\"Something went wrong at our end. Please try again.\\"}';
  const result = `"content":[{"type":"text","text":"${internal}"}],"isError":true}}`;

  it.each([["response"], ["short"], ["long"], ["content"], ["progress"], ["lines"]])("%s", async (name) => {
    const answered = await ask(app, "tools/call", { name, _meta: { progressToken: "t" } });
    expect([answered.status, answered.body]).toEqual([200, expect.stringContaining(result)]);
    expect(answered.body.includes("notifications/progress")).toBe(name === "progress");
    expect(messages("error")).toEqual([expect.stringContaining(`/${name}`)]);
  });

  it("and in a resource it is an error of the protocol", async () => {
    const answered = await ask(app, "resources/read", { uri: "app:///response" });
    const error = { code: -32_603, message: "The resource cannot be read: status 500.", data: { status: 500 } };
    expect([answered.status, answered.json()]).toEqual([200, { jsonrpc: "2.0", id: 1, error }]);
  });
});

/** An app whose routes hold a value while they run. */
function holding() {
  const held = { now: 0, ever: 0 };
  const lock = Dep.scoped(
    {},
    () => {
      held.ever++;
      return ++held.now;
    },
    () => void held.now--,
  );
  const inputs = { lock, clientGone };
  const follow = get(
    Path.of("follow"),
    { ...toolOf("follow", { events: "progress" }), inputs, returns: Returns.events([Note]) },
    ({ clientGone }) =>
      async (send) => {
        await send(note());
        if (!clientGone.aborted) await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
      },
  );
  const refusing = [401, 404].map((status) =>
    get(
      Path.of(`${status}`),
      { ...toolOf(`${status}`), inputs, returns: Returns.response },
      () => new Response(new ReadableStream() as never, { status }) as never,
    ),
  );
  const routes = [follow, ...refusing];
  const resources = refusing.map((route) => Mcp.resource(route));
  const authorization = { resource: "https://a.example/mcp", issuers: ["https://b.example"] };
  const app = App.make([...routes, ...Mcp.routes(routes, { ...about, resources, authorization })], {
    middleware: [
      async (request, next) => {
        const answer = await next();
        return request.header("x-instead") === undefined || request.path !== "/mcp" ? answer : new Response("instead");
      },
    ],
  });
  const send = (message: ReturnType<typeof requestOf>, more: { readonly [name: string]: string } = {}) => {
    const { headers, body } = message;
    return app.fetch(new Request("http://localhost/mcp", { method: "POST", headers: { ...headers, ...more }, body }));
  };
  return { held, send };
}

const followed = requestOf(1, "tools/call", { name: "follow", _meta: { progressToken: 1 } });

describe("the values of a route are released although its stream is not read", () => {
  it.each([
    ["the call of a tool that refuses with 401", requestOf(1, "tools/call", { name: "401" }), 401],
    ["a resource that is a 401", requestOf(1, "resources/read", { uri: "app:///401" }), 401],
    ["a resource that is a 404", requestOf(1, "resources/read", { uri: "app:///404" }), 200],
  ])("of %s", async (_what, message, status) => {
    const { held, send } = holding();
    const answered = await send(message);
    expect([answered.status, await answered.text()]).toEqual([status, expect.stringContaining('"error"')]);
    await eventually(() => expect(held).toEqual({ now: 0, ever: 1 }));
  });

  it("of progress that middleware replaces", async () => {
    const { held, send } = holding();
    expect(await (await send(followed, { "x-instead": "1" })).text()).toBe("instead");
    await eventually(() => expect(held).toEqual({ now: 0, ever: 1 }));
  });

  it("of progress that its client never reads", async () => {
    const { held, send } = holding();
    await (await send(followed)).body?.cancel();
    await eventually(() => expect(held).toEqual({ now: 0, ever: 1 }));
  });
});
