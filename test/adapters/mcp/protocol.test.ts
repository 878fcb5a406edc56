import { Codec, Cors, Event, Header, Meta, Path, Returns, Test, clientGone, get, json, post } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { ask, callOfText, callTool, headersOf, refusalOf, requestOf, resultOf, version } from "./asking.ts";

const tool = Meta.tool({ name: "echo" });
const echo = post(
  Path.of("echo"),
  { meta: tool, inputs: { said: json(v.any()) }, returns: Returns.json(v.any()) },
  ({ said }) => said,
);
const about = { name: "echoes", version: "2", title: "Echoes", instructions: "Say something." };
const app = Test.app([echo, ...Mcp.routes([echo], about)]);
/** The params of a request with another version, or with a wrong value. */
const withVersion = (version: unknown) => ({ _meta: { "io.modelcontextprotocol/protocolVersion": version } });

function send(body: string | Uint8Array | object, headers: { readonly [name: string]: string } = {}) {
  return Test.call(app, "POST", "/mcp", { body, headers: { "content-type": "application/json", ...headers } });
}

describe("a client of before 2026-07-28", () => {
  const handshake = (protocolVersion: unknown) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion, capabilities: {} },
  });
  it.each([
    ["2025-11-25", "2025-11-25"],
    ["2024-11-05", "2024-11-05"],
    [version, version],
    [undefined, "invalid"],
    ["secret-word", "invalid"],
    [7, "invalid"],
  ])(
    "that initializes with the version %s gets the version that the server supports",
    async (protocolVersion, requested) => {
      const answered = await send(handshake(protocolVersion));
      expect([answered.status, answered.json()]).toEqual([
        400,
        {
          jsonrpc: "2.0",
          id: 1,
          error: {
            code: -32_022,
            message: expect.stringContaining(version),
            data: { supported: [version], requested },
          },
        },
      ]);
      expect(answered.body).not.toContain("secret-word");
    },
  );

  it("that initializes with the metadata of a later one gets it too", async () => {
    const answered = await ask(app, "initialize");
    const error = { code: -32_601, message: expect.stringContaining(version) };
    expect([answered.status, answered.json()]).toMatchObject([404, { error }]);
  });

  it.each([
    ["a request without a version", {}, 400, -32_020],
    ["a request with the header of a later one", { "mcp-protocol-version": version }, 400, -32_602],
    ["a request of its session", { "mcp-protocol-version": "2025-11-25", "mcp-session-id": "a" }, 400, -32_022],
    ["a request of no version", { "mcp-protocol-version": "secret-word" }, 400, -32_022],
  ])("that sends %s gets the version that the server supports", async (_what, headers, status, code) => {
    const answered = await send({ jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
    expect([answered.status, answered.json()]).toEqual([
      status,
      { jsonrpc: "2.0", id: 1, error: expect.objectContaining({ code, message: expect.stringContaining(version) }) },
    ]);
    expect(answered.body).not.toContain("secret-word");
  });

  it("gets no answer to its notifications and responses", async () => {
    for (const body of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "initialize" },
      { jsonrpc: "2.0", id: 1, result: {} },
    ]) {
      expect(await send(body)).toMatchObject({ status: 202, body: "" });
    }
  });

  it.each(["GET", "DELETE"])("has no stream and no session with %s", async (method) => {
    expect(await Test.call(app, method, "/mcp")).toMatchObject({ status: 405 });
  });
});

describe("a client of 2026-07-28", () => {
  it("sends the version in each request, and gets the type of each result", async () => {
    const answered = (method: string, params: object = {}) => ask(app, method, params).then((answer) => answer.json());
    const own = {
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "echoes", title: "Echoes", version: "2" } },
    };
    expect(await answered("server/discover")).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        ...own,
        supportedVersions: [version],
        capabilities: { tools: {} },
        instructions: "Say something.",
        ttlMs: 0,
        cacheScope: "private",
      },
    });
    expect(await answered("tools/list")).toMatchObject({
      result: { ...own, ttlMs: 60_000, cacheScope: "public", tools: [{ name: "echo" }] },
    });
    expect(await answered("tools/call", { name: "echo", arguments: { body: "hi" } })).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { ...own, content: [{ type: "text", text: '"hi"' }], structuredContent: { result: "hi" } },
    });
  });

  it("gets lists for itself only from a server that refuses other callers", async () => {
    const prompts = [Mcp.prompt("hello", v.object({}), () => "Hello.")];
    const inputs = { key: Header.required("x-key", Codec.string) };
    const guarded = Test.app([echo, ...Mcp.routes([echo], { ...about, inputs, prompts })]);
    for (const method of ["tools/list", "prompts/list"]) {
      const listed = await resultOf(guarded, method, {}, { "x-key": "k" });
      expect(listed).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
    }
  });

  const call = { name: "echo", arguments: { body: 1 } };
  const list = "tools/list";
  const unnamed = (name: string) => Object.fromEntries(Object.entries(headersOf(list)).filter(([one]) => one !== name));
  const future = { ...headersOf(list), "mcp-protocol-version": "2030-01-01" };
  it.each<
    [
      what: string,
      method: string,
      params: object,
      headers: { readonly [name: string]: string },
      status: number,
      code?: number,
    ]
  >([
    ["without the header of its version", list, {}, unnamed("mcp-protocol-version"), 400, -32_020],
    ["without the header of its method", list, {}, unnamed("mcp-method"), 400, -32_020],
    [
      "with another version in its header",
      list,
      {},
      { ...headersOf(list), "mcp-protocol-version": "2025-11-25" },
      400,
      -32_020,
    ],
    ["with another method in its header", list, {}, headersOf("tools/call"), 400, -32_020],
    ["without the name of its tool", "tools/call", call, headersOf("tools/call"), 400, -32_020],
    ["with the name of another tool", "tools/call", call, headersOf("tools/call", "other"), 400, -32_020],
    ["with a name in base64", "tools/call", call, headersOf("tools/call", "echo"), 200],
    ["with a plain name", "tools/call", call, { ...headersOf("tools/call"), "mcp-name": "echo" }, 200],
    ["for a method of before", "ping", {}, headersOf("ping"), 404, -32_601],
    ["of another version than its header's", list, withVersion("2030-01-01"), headersOf(list), 400, -32_020],
    ["of a version to come", list, withVersion("2030-01-01"), future, 400, -32_022],
    ["of a version that is no text", list, withVersion(7), headersOf(list), 400, -32_602],
    [
      "without its capabilities",
      list,
      { _meta: { "io.modelcontextprotocol/clientCapabilities": 1 } },
      headersOf(list),
      400,
      -32_602,
    ],
  ])("%s", async (_what, method, params, headers, status, code) => {
    const answered = await Test.call(app, "POST", "/mcp", { headers, body: requestOf(1, method, { ...params }).body });
    expect({ status: answered.status, code: (answered.json() as { error?: { code: number } }).error?.code }).toEqual({
      status,
      code,
    });
  });

  it("gets an error for a notification of a version to come", async () => {
    const told = await send({ jsonrpc: "2.0", method: "notifications/cancelled", params: withVersion("2030-01-01") });
    expect([told.status, told.json()]).toMatchObject([400, { error: { code: -32_022 } }]);
  });
});

const deep = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
const callOf = (given: string) => callOfText("echo", `"name":"echo","arguments":${given}`).body;
const ofCall = headersOf("tools/call", "echo");

describe("an invalid message is an error that does not quote it", () => {
  it.each([
    ["no JSON", "{", 400, -32_700],
    ["a control character", "\u0000", 400, -32_700],
    ["no UTF-8", Uint8Array.of(0x22, 0xff, 0x22), 400, -32_700],
    ["nothing", "", 400, -32_700],
    ["half a million brackets", "[".repeat(500_000), 400, -32_700],
    ["a list of messages", `[${callOf("{}")}]`, 400, -32_600],
    ["null", "null", 400, -32_600],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32_600],
    ["no method", '{"jsonrpc":"2.0","id":1}', 400, -32_600],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32_600],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32_600],
    ["params that are a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32_600],
  ])("%s", async (_what, body, status, code) => {
    const answered = await send(body);
    expect([answered.status, answered.json()]).toMatchObject([status, { jsonrpc: "2.0", error: { code } }]);
  });

  it.each([
    ["an unknown method", "secret-word", {}, 404, -32_601],
    ["a method of objects", "constructor", {}, 404, -32_601],
    ["a tool that is none", "tools/call", { name: "secret-word" }, 200, -32_602],
    ["a tool's name that is no text", "tools/call", { name: ["echo"] }, 200, -32_602],
    ["arguments that are a list", "tools/call", { name: "echo", arguments: ["secret-word"] }, 200, -32_602],
  ])("%s", async (_what, method, params, status, code) => {
    const answered = await ask(app, method, params);
    expect([answered.status, answered.json()]).toMatchObject([status, { jsonrpc: "2.0", error: { code } }]);
    expect(answered.body).not.toContain("secret-word");
  });

  it.each([
    ["too deep", deep(100_000), { error: "invalid", problems: [{ at: "body", code: "too_deep" }] }],
    ["a member of every object", '1,"__proto__":{"x":1}', { error: "invalid", problems: [{ code: "unknown_member" }] }],
  ])("arguments %s are an error of the tool", async (_what, given, refusal) => {
    const { result } = (await send(callOf(`{"body":${given}}`), ofCall)).json() as {
      result: { content: readonly [{ text: string }] };
    };
    expect(JSON.parse(result.content[0].text)).toMatchObject(refusal);
  });

  it("another content type is 415, and a longer body 413", async () => {
    expect((await send("{}", { "content-type": "text/plain" })).status).toBe(415);
    expect((await send(callOf(`{"body":"${"x".repeat(1_100_000)}"}`))).status).toBe(413);
  });

  it("two concurrent messages with one id get an answer each", async () => {
    const said = ["a", "b", "c"];
    const results = await Promise.all(said.map((body) => callTool(app, "echo", { body })));
    expect(results.map(({ structuredContent }) => structuredContent)).toEqual(said.map((result) => ({ result })));
  });
});

describe("DNS rebinding", () => {
  const listed = Test.app([echo, ...Mcp.routes([echo], { ...about, hosts: ["API.example.com"] })]);
  const trusting = Test.app([echo, ...Mcp.routes([echo], about)], { trustedOrigins: ["https://page.example"] });
  const shared = (origins: readonly string[] | "any") =>
    Test.app([echo, ...Mcp.routes([echo], about)], { cors: Cors.make({ origins }) });
  const ofPage = { host: "api.example.com", origin: "https://page.example" };
  it.each([
    ["its own machine", app, {}, "127.0.0.1", 200],
    ["its own machine with a port", app, { host: "127.0.0.1:8080", origin: "http://127.0.0.1:8080" }, "127.0.0.1", 200],
    ["another name of its own machine", app, { host: "evil.example" }, "127.0.0.1", 403],
    ["another name, over IPv6", app, { host: "evil.example" }, "::1", 403],
    ["a page of another name", app, { host: "evil.example", origin: "http://evil.example" }, "192.168.0.7", 403],
    ["a name that begins alike", app, { host: "localhost.evil.example" }, "127.0.0.1", 403],
    ["a client elsewhere, which is no page", app, { host: "api.example.com" }, "203.0.113.9", 200],
    ["a trusted page", trusting, ofPage, "203.0.113.9", 200],
    ["a page that may read the answers", shared(["https://page.example"]), ofPage, "203.0.113.9", 200],
    ["a page that may read what any may", shared("any"), ofPage, "203.0.113.9", 403],
    ["a host of the list", listed, { host: "api.example.com:443" }, "127.0.0.1", 200],
    [
      "a page of a host of the list",
      listed,
      { host: "api.example.com", origin: "https://api.example.com" },
      "203.0.113.9",
      200,
    ],
    ["a host that is not of the list", listed, { host: "www.example.com" }, "203.0.113.9", 403],
  ])("%s", async (_what, app, headers, peer, status) => {
    const { body, headers: own } = requestOf(1, "server/discover");
    const answered = await Test.call(app, "POST", "/mcp", { headers: { ...own, ...headers }, peer, body });
    expect(answered.status).toBe(status);
  });
});

describe("an event stream of a route", () => {
  const Tick = Event.json("tick", v.object({ n: v.number() }));
  const ticks = (name: string, events: "content" | "progress") =>
    get(
      Path.of(name),
      {
        meta: Meta.tool({ name, events }),
        inputs: { last: Header.optional("x-last", Codec.int) },
        returns: Returns.events([Tick]),
      },
      () => async (send) => {
        for (const n of [1, 2]) await send(Event.make(Tick, { n }, { id: `${n}` }));
      },
    );
  const all = [ticks("content", "content"), ticks("progress", "progress")];
  const app = Test.app([...all, ...Mcp.routes(all, about)]);

  it("is a list of events", async () => {
    const { content } = await callTool(app, "content");
    expect(JSON.parse(content[0]?.text ?? "")).toEqual({
      events: [
        { event: "tick", id: "1", data: { n: 1 } },
        { event: "tick", id: "2", data: { n: 2 } },
      ],
    });
  });

  it("has the texts of events that are not JSON", async () => {
    const Note = Event.text("note");
    const notes = get(
      Path.of("notes"),
      { meta: Meta.tool({ name: "notes" }), returns: Returns.events([Note]) },
      () => async (send) => {
        for (const text of ["{half", "7"]) await send(Event.make(Note, text));
      },
    );
    const { content } = await callTool(Test.app([notes, ...Mcp.routes([notes], about)]), "notes");
    expect(JSON.parse(content[0]?.text ?? "")).toEqual({
      events: [
        { event: "note", data: "{half" },
        { event: "note", data: 7 },
      ],
    });
  });

  it("or progress, if the client has sent a token for it", async () => {
    const params = { name: "progress", arguments: {}, _meta: { progressToken: "t" } };
    const answered = await ask(app, "tools/call", params);
    expect(answered.headers.get("content-type")).toBe("text/event-stream");
    const messages = answered.body
      .split("\n")
      .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    const progress = [1, 2].map((n) => {
      const message = JSON.stringify({ event: "tick", id: `${n}`, data: { n } });
      return { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "t", progress: n, message } };
    });
    const result = { content: [{ type: "text", text: '{"events":2}' }] };
    expect(messages).toMatchObject([...progress, { jsonrpc: "2.0", id: 1, result }]);
    expect(await callTool(app, "progress")).toEqual(result);
  });
});

describe("bytes", () => {
  const types = ["image/png", "audio/wav", "application/pdf", "text/csv"];
  const all = types.map((type, i) =>
    get(
      Path.of(`b${i}`),
      { meta: Meta.tool({ name: type.replace("/", ".") }), returns: Returns.response },
      () => new Response("abc", { headers: { "content-type": type } }) as never,
    ),
  );
  const zipped = get(
    Path.of("zipped"),
    { meta: Meta.tool({ name: "zipped" }), returns: Returns.response },
    () => new Response("abc", { headers: { "content-type": "text/csv", "content-encoding": "gzip" } }) as never,
  );
  const coded = (name: string, status: number, contentType: string) =>
    get(Path.of(name), { meta: Meta.tool({ name }), returns: Returns.response }, () => {
      const headers = { "content-type": contentType, "content-encoding": "gzip" };
      const parts = ReadableStream.from([new TextEncoder().encode("abc")]);
      return new Response(parts as never, { status, headers });
    });
  const others = [zipped, coded("events", 200, "text/event-stream"), coded("refused", 409, "application/json")];
  const resources = [Mcp.resource(zipped)];
  const app = Test.app([
    ...all,
    ...others,
    ...Mcp.routes([...all, ...others], { ...about, maxAnswer: 100, resources }),
  ]);
  it.each([
    ["image.png", { type: "image", data: "YWJj", mimeType: "image/png" }],
    ["audio.wav", { type: "audio", data: "YWJj", mimeType: "audio/wav" }],
    [
      "application.pdf",
      { type: "resource", resource: { uri: "app:///b2", mimeType: "application/pdf", blob: "YWJj" } },
    ],
    ["text.csv", { type: "text", text: "abc" }],
    [
      "zipped",
      { type: "resource", resource: { uri: "app:///zipped", mimeType: "application/octet-stream", blob: "YWJj" } },
    ],
  ])("%s", async (name, block) => {
    expect((await callTool(app, name)).content).toEqual([block]);
  });

  it.each([
    ["events", undefined],
    ["refused", true],
  ])("%s with a content coding", async (name, isError) => {
    const resource = { uri: `app:///${name}`, mimeType: "application/octet-stream", blob: "YWJj" };
    const result = await callTool(app, name);
    expect([result.content, result.isError]).toEqual([[{ type: "resource", resource }], isError]);
  });

  it("a resource with a content coding", async () => {
    const uri = "app:///zipped";
    const contents = [{ uri, mimeType: "application/octet-stream", blob: "YWJj" }];
    expect(await resultOf(app, "resources/read", { uri })).toMatchObject({ contents });
  });
});

describe("limits", () => {
  it("an answer that is too long is an error of the tool", async () => {
    const long = get(Path.of("long"), { meta: Meta.tool({ name: "long" }), returns: Returns.text }, () =>
      "x".repeat(101),
    );
    const app = Test.app([long, ...Mcp.routes([long], { ...about, maxAnswer: 100 })]);
    expect(await refusalOf(app, "long")).toMatchObject({ error: "too_large" });
  });

  it("a client that disconnects aborts the route's clientGone", async () => {
    let started = (): void => {};
    const isStarted = new Promise<void>((resolve) => (started = resolve));
    const waits = get(
      Path.of("waits"),
      { meta: Meta.tool({ name: "waits" }), inputs: { clientGone }, returns: Returns.text },
      async ({ clientGone }) => {
        started();
        await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
        return "left";
      },
    );
    const app = Test.app([waits, ...Mcp.routes([waits], about)]);
    const leaving = new AbortController();
    const answered = ask(app, "tools/call", { name: "waits" }, { gone: leaving.signal });
    await isStarted;
    leaving.abort();
    expect((await answered).body).toContain("left");
  });
});
