/** What a test writes to standard error: what was raised, and no line of what went well. */
import { describe, expect, it, vi } from "vitest";
import { App, Event, Log, Path, Returns, Socket, Test, get } from "usher-http";
import { messages } from "../support/logs.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const said = Event.text("said");
const inText = { returns: Returns.text };
const routes = [
  get(Path.of("a"), inText, () => "a"),
  get(Path.of("raises"), inText, () => {
    throw new TypeError("secret");
  }),
  get(
    Path.of("events"),
    { returns: Returns.events([said]) },
    () => async (send) => void (await send(Event.make(said, "a"))),
  ),
  get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async (socket) => void (await socket.send("a"))),
];

/** The messages that this writes to standard error. */
async function written(act: () => Promise<unknown>): Promise<readonly string[]> {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    await act();
    return error.mock.calls.map(([line]) => (JSON.parse(String(line)) as { readonly message: string }).message);
  } finally {
    error.mockRestore();
  }
}

async function callsAll(): Promise<void> {
  const app = Test.app(routes);
  await Test.call(app, "GET", "/a");
  await Test.call(app, "GET", "/nowhere");
  await Test.events(app, "/events", () => {});
  await Test.websocket(app, texts, "/socket", (socket) => socket.receive());
}

describe("standard error during tests", () => {
  it("gets no line of a success", async () => {
    Log.setup();
    expect(await written(callsAll)).toEqual([]);
  });

  it("gets exceptions", async () => {
    Log.setup();
    expect(await written(() => Test.call(Test.app(routes), "GET", "/raises"))).toEqual([
      "GET /raises: internal: it raised",
    ]);
  });

  const all = [
    "GET /a 200",
    "GET /nowhere 404",
    "GET /events 200",
    "stream on /events ended: finished",
    "GET /socket 101",
    "socket on /socket ended: closed",
  ];
  it("gets all lines when the test sets the level of framework.http", async () => {
    Log.setup({ levels: { "framework.http": "info" } });
    expect(await written(callsAll)).toEqual(all);
  });

  it("gets the lines of an app that was not made by Test.app", async () => {
    Log.setup();
    const { fetch } = App.make(routes);
    expect(await written(() => fetch(new Request("http://h/a")))).toEqual(["GET /a 200"]);
  });
});

it("gets no line when the test collects the lines", async () => {
  await callsAll();
  expect(messages("info")).toHaveLength(6);
});
