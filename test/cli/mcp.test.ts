/** `usher mcp`: the tools of a module on standard input and output, and `Test.mcp`: an agent in a test. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { Codec, Header, Meta, Path, Query, Refusal, Returns, Test, get, refuse } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "../../cli/run.ts";
import { programRuntimes, runtimes } from "../support/runtimes.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-mcp-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "routes.mjs");
writeFileSync(
  file,
  `import { Codec, Event, Header, Meta, Path, Returns, clientGone, get, post } from ${JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href)};
const tick = Event.text("tick");
const token = Header.optional("authorization", Codec.string);
export const routes = [
  get(Path.of("who"), { meta: Meta.tool({ name: "who" }), inputs: { token }, returns: Returns.text }, ({ token }) => \`\${token}\`),
  get(Path.of("ticks"), { meta: Meta.tool({ name: "ticks", events: "progress" }), returns: Returns.events([tick]) }, () => async (send) => {
    for (const word of ["one", "two"]) await send(Event.make(tick, word));
  }),
  get(Path.of("breaks"), { meta: Meta.tool({ name: "breaks", events: "progress" }), returns: Returns.events([tick]) }, () => async (send) => {
    await send(Event.make(tick, "one"));
    throw new Error("broken");
  }),
  post(Path.of("broken"), { returns: Returns.events([tick]) }, () => async () => {
    throw new Error("broken");
  }),
  get(Path.of("waits"), { meta: Meta.tool({ name: "waits" }), inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) =>
    new Promise((resolve) => {
      const left = () => { console.error("aborted"); resolve("late"); };
      if (clientGone.aborted) left();
      else clientGone.addEventListener("abort", left);
    })),
  get(Path.of("prints"), { meta: Meta.tool({ name: "prints" }), returns: Returns.text }, () => {
    for (const name of ["log", "info", "debug", "dir"]) console[name]("printed");
    console.table([{ a: "printed" }]);
    process.stdout.write("printed\\n");
    return "done";
  }),
  get(Path.of("forgets"), { meta: Meta.tool({ name: "forgets" }), returns: Returns.text }, () => new Promise(() => {})),
];
`,
);

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("usher mcp", () => {
  it("answers each line with the routes, and ends with its input", async () => {
    const child = spawn(process.execPath, [join(root, "dist/cli.js"), "mcp", file, "-H", "authorization: Bearer demo"]);
    const [out, errors] = [text(child.stdout), text(child.stderr)];
    const said: readonly (object | string)[] = [
      { id: 1, method: "server/discover", params: { _meta: meta } },
      { id: "w", method: "tools/call", params: { name: "waits", _meta: meta } },
      { id: 2, method: "tools/call", params: { name: "who", _meta: meta } },
      { id: 3, method: "tools/call", params: { name: "ticks", _meta: { ...meta, progressToken: 7 } } },
      "no message",
      { method: "notifications/cancelled", params: { requestId: "w" } },
    ];
    for (const one of said)
      child.stdin.write(typeof one === "string" ? `${one}\n` : `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`);
    child.stdin.end();
    const messages = (await out)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { id?: unknown }]));
    expect(messages.find(({ id }) => id === 1)).toMatchObject({
      result: { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    });
    expect(messages.find(({ id }) => id === 2)).toMatchObject({
      jsonrpc: "2.0",
      id: 2,
      result: { content: [{ type: "text", text: "Bearer demo" }] },
    });
    expect(messages.filter((message) => "method" in message)).toMatchObject([
      { params: { progressToken: 7, progress: 1, message: '{"event":"tick","data":"one"}' } },
      { params: { progressToken: 7, progress: 2, message: '{"event":"tick","data":"two"}' } },
    ]);
    expect(messages.find(({ id }) => id === null)).toMatchObject({ error: { code: -32_700 } });
    expect(messages.map(({ id }) => id)).not.toContain("w");
    expect(await errors).toContain("aborted");
  });

  it("answers a client of before with the version, and no notification", async () => {
    const child = spawn(process.execPath, [join(root, "dist/cli.js"), "mcp", file]);
    const out = text(child.stdout);
    child.stderr.resume();
    const said = [
      { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "who" } },
    ];
    child.stdin.end(said.map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`).join(""));
    const messages = (await out)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { id: number }]));
    const message = expect.stringContaining("this server supports") as string;
    expect(messages.toSorted((one, other) => one.id - other.id)).toEqual([
      {
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32_022, message, data: { supported: ["2026-07-28"], requested: "2025-11-25" } },
      },
      { jsonrpc: "2.0", id: 2, error: { code: -32_602, message } },
    ]);
  });

  it.each([
    [[], "the module is missing"],
    [["a.ts", "b.ts"], "give one module, not 2"],
    [["a.ts", "--path", "mcp"], '--path must be a path such as /mcp, not "mcp"'],
    [["a.ts", "-H", "x"], "--header must be 'name: value'"],
  ])("refuses the arguments %j", async (args, problem) => {
    let errors = "";
    const terminal = { out: () => {}, error: (text: string) => void (errors += text) };
    expect(await run(["mcp", ...args], terminal)).toBe(2);
    expect(errors).toContain(problem);
  });
});

const ping = { jsonrpc: "2.0", id: "p", method: "server/discover", params: { _meta: meta } };
const pong = {
  jsonrpc: "2.0",
  id: "p",
  result: expect.objectContaining({ supportedVersions: ["2026-07-28"] }) as object,
};
const nested = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
const notText = { jsonrpc: "2.0", id: 1, method: { toString: 1, valueOf: 1 }, params: { _meta: meta } };
const refusal = (error: string) => ({
  content: [{ type: "text", text: expect.stringContaining(`"error":"${error}"`) as string }],
});
type LineRow = readonly [what: string, line: string, answers: readonly object[]];
const lines: readonly LineRow[] = [
  [
    "an id that nests deep",
    `{"jsonrpc":"2.0","id":${nested},"method":"ping"}`,
    [{ id: null, error: { code: -32_600 } }],
  ],
  [
    "a cancelled id that nests deep",
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${nested}}}`,
    [],
  ],
  ["a method that is not a text", JSON.stringify(notText), [{ id: null, error: { code: -32_600 } }]],
  ["params that are null", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}', []],
  [
    "more than the app reads",
    JSON.stringify({ ...ping, id: 9, params: { a: "a".repeat(1_100_000) } }),
    [{ id: 9, error: { code: -32_000, message: "Status 413" } }],
  ],
  [
    "a call whose events break off",
    JSON.stringify({
      ...ping,
      id: 9,
      method: "tools/call",
      params: { name: "breaks", _meta: { ...meta, progressToken: 7 } },
    }),
    [{ method: "notifications/progress" }, { id: 9, result: { ...refusal("internal"), isError: true } }],
  ],
];
const broken: readonly LineRow[] = [
  ["a notification whose answer breaks off", '{"jsonrpc":"2.0","method":"notifications/initialized"}', []],
  [
    "a message whose answer breaks off",
    JSON.stringify({ ...ping, id: 9 }),
    [{ id: 9, error: { code: -32_000, message: "Status 500" } }],
  ],
];

it.each([
  { after: "what it cannot take", args: [], lines, last: pong },
  // For a path that breaks off, the ping has that answer too.
  {
    after: "an answer that breaks off",
    args: ["--path", "/broken"],
    lines: broken,
    last: { id: "p", error: { message: "Status 500" } },
  },
])("usher mcp continues after $after", async ({ args, lines, last }) => {
  const child = spawn(process.execPath, [join(root, "dist/cli.js"), "mcp", file, ...args]);
  const said = createInterface(child.stdout)[Symbol.asyncIterator]();
  const exited = once(child, "exit");
  child.stderr.resume();
  const isLast = (message: object) => "id" in message && message.id === "p";
  for (const [what, line, answers] of lines) {
    child.stdin.write(`${line}\n${JSON.stringify(ping)}\n`);
    const messages: object[] = [];
    while (messages.length <= answers.length) messages.push(JSON.parse(String((await said.next()).value)) as object);
    expect([...messages.filter((message) => !isLast(message)), messages.find(isLast)], what).toMatchObject([
      ...answers,
      last,
    ]);
  }
  child.stdin.end();
  expect(await said.next()).toEqual({ done: true, value: undefined });
  expect(await exited).toEqual([0, null]);
});

it.each([
  ["this Node", process.execPath],
  ["the newest Node", runtimes["node-newest"]()],
])("usher mcp on %s ends a line only at a line feed", async (_name, node) => {
  const child = spawn(node, [join(root, "dist/cli.js"), "mcp", file]);
  const out = text(child.stdout);
  child.stderr.resume();
  // JSON may have them in a text.
  const ids = ["a\u2028b\u2029c\u0085d", "é", "last"];
  const bytes = Buffer.from(ids.map((id) => JSON.stringify({ ...ping, id })).join("\r\n"));
  // A character arrives in two parts.
  const middle = bytes.indexOf("é") + 1;
  await new Promise((resolve) => child.stdin.write(bytes.subarray(0, middle), resolve));
  child.stdin.end(bytes.subarray(middle));
  const messages = (await out).split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as object]));
  expect(messages).toEqual(expect.arrayContaining(ids.map((id) => ({ ...pong, id }))));
  expect(messages.length).toBe(3);
});

it.each(programRuntimes)("usher mcp on %s prints the output of a route to standard error", async (runtime) => {
  const before = runtime === "deno" ? ["run", "-A"] : [];
  const child = spawn(runtimes[runtime](), [...before, join(root, "dist/cli.js"), "mcp", file]);
  const [out, errors] = [text(child.stdout), text(child.stderr)];
  child.stdin.end(`${JSON.stringify({ ...ping, method: "tools/call", params: { name: "prints", _meta: meta } })}\n`);
  expect(JSON.parse(await out)).toMatchObject({ ...pong, result: { content: [{ type: "text", text: "done" }] } });
  expect((await errors).match(/printed/g)?.length).toBe(6);
});

it("usher mcp refuses a line that is not UTF-8", async () => {
  const child = spawn(process.execPath, [join(root, "dist/cli.js"), "mcp", file]);
  const out = text(child.stdout);
  child.stderr.resume();
  child.stdin.write(Buffer.from(`${JSON.stringify({ ...ping, id: "\u00ff" })}\n`, "latin1"));
  child.stdin.end(`${JSON.stringify(ping)}\n`);
  const messages = (await out).split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as object]));
  expect(messages).toMatchObject([{ id: null, error: { code: -32_700 } }, pong]);
});

describe("Test.mcp", () => {
  const denied = Refusal.code("denied", { status: 403, doc: "Denied." });
  const token = Header.optional("authorization", Codec.string);
  const double = get(
    Path.of("double"),
    {
      meta: Meta.tool({ name: "double" }),
      inputs: { n: Query.required("n", Codec.int), token },
      returns: Returns.json(v.object({ n: v.number() })),
      refuses: [denied],
    },
    ({ n, token }) => (token === undefined ? refuse(denied, "No.") : { n: 2 * n }),
  );
  const more = Array.from({ length: 3 }, (_, i) =>
    get(Path.of(`r${i}`), { meta: Meta.tool(), returns: Returns.text }, () => ""),
  );
  const routes = [double, ...more];
  const app = Test.app([...routes, ...Mcp.routes(routes, { name: "x", version: "1", path: "/agents", pageSize: 2 })]);
  const agent = Test.mcp(app, { path: "/agents", headers: { authorization: "Bearer demo" } });

  it("calls tools as an agent does", async () => {
    expect((await agent.tools()).map(({ name }) => name)).toEqual(["double", "get_r0", "get_r1", "get_r2"]);
    expect((await agent.call("double", { n: 3 })).structured).toEqual({ n: 6 });
    expect((await agent.call("double")).refusal).toMatchObject({
      error: "invalid",
      problems: [{ at: "n", code: "required" }],
    });
    expect((await Test.mcp(app, { path: "/agents" }).call("double", { n: 1 })).refusal).toMatchObject({
      error: "denied",
    });
    await expect(agent.call("other")).rejects.toThrow(
      "Test.mcp: tools/call is answered with 200: There is no tool of this name.",
    );
    await expect(Test.mcp(app).tools()).rejects.toThrow("Test.mcp: tools/list is answered with 404");
  });
});
