/** A call counts as one request of its route, from the client that sent the message. */
import {
  App,
  Codec,
  Dep,
  Form,
  Header,
  Idempotency,
  Meta,
  Overload,
  Path,
  Rate,
  Refusal,
  Returns,
  Test,
  get,
  json,
  peerCertificate,
  post,
  refuse,
} from "usher-http";
import type { PeerCertificate } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { gate } from "../../support/gate.ts";
import { ask, callTool, requestOf, resultOf } from "./asking.ts";

const about = { name: "n", version: "1" };
const tool = (name: string) => ({ meta: Meta.tool({ name }), returns: Returns.text });
const denied = Refusal.code("denied", { status: 401, doc: "Denied.", challenge: "Bearer" });
const user = Dep.join(
  { given: Dep.credential("bearer", Header.optional("authorization", Codec.credentials)) },
  ({ given }) => Codec.bearerToken(given) ?? refuse(denied, "Who are you?"),
  { refuses: [denied] },
);
describe("a list of tools", () => {
  const slowly = Rate.limit(Rate.make({ limit: 1, perMs: 3_600_000 }), { key: user });
  const within = Dep.join({ slowly, user }, ({ user }) => user);
  it.each([
    ["of a limit", { slowly }],
    ["of an input that is made from a limit", { within }],
  ])("counts nothing %s, and shows the tools that its key may call", async (what, inputs) => {
    const authorization = `Bearer ${what.length}`;
    const route = get(Path.of("slow"), { ...tool("slow"), inputs }, () => "done");
    const app = Test.app([route, ...Mcp.routes([route], about)]);
    for (let i = 0; i < 3; i++) {
      expect(await resultOf(app, "tools/list", {}, { authorization })).toMatchObject({ tools: [{ name: "slow" }] });
    }
    expect(await resultOf(app, "tools/list")).toMatchObject({ tools: [] });
    expect((await callTool(app, "slow", {}, { authorization })).content).toEqual([{ type: "text", text: "done" }]);
  });
});

it("a call takes one place of maxInFlight", async () => {
  const [begun, ends] = [gate(), gate()];
  const route = get(Path.of("waits"), tool("waits"), async () => {
    begun.open();
    await ends.passed;
    return "done";
  });
  const app = Test.app([route, ...Mcp.routes([route], about)], { overload: Overload.make({ maxInFlight: 1 }) });
  const called = callTool(app, "waits");
  // If the call is refused it never begins.
  expect(await Promise.race([begun.passed, called])).toBe(undefined);
  expect((await ask(app, "server/discover")).status).toBe(503);
  ends.open();
  expect((await called).content).toEqual([{ type: "text", text: "done" }]);
  expect((await ask(app, "server/discover")).status).toBe(200);
});

it("a body counts once in the body budget", async () => {
  const route = post(
    Path.of("notes"),
    { ...tool("note"), inputs: { text: json(v.object({ text: v.string() })) } },
    ({ text }) => String(text.text.length),
  );
  const app = Test.app([route, ...Mcp.routes([route], about)], { maxBody: 1000, bodyBudget: 1000 });
  for (let i = 0; i < 2; i++) {
    const { content, isError } = await callTool(app, "note", { text: "a".repeat(600) });
    expect([content, isError]).toEqual([[{ type: "text", text: "600" }], undefined]);
  }
});

describe("a call that is repeated with its idempotency key", () => {
  const once = Idempotency.by(Idempotency.memory(), { caller: Dep.return("everybody"), bare: true });
  let runs = 0;
  const upload = post(
    Path.of("files"),
    {
      ...tool("upload"),
      inputs: { once, file: Form.File.required("file"), note: Form.optional("note", Codec.string) },
    },
    ({ file, note }) => `${++runs} ${new TextDecoder().decode(file.content)} ${note}`,
  );
  const app = Test.app([upload, ...Mcp.routes([upload], about)]);
  const call = async (key: string, file: string, note: string) =>
    (await callTool(app, "upload", { "idempotency-key": key, file: btoa(file), note })).content[0]?.text;

  it("runs once, also with a file", async () => {
    const first = await call("a", "hello", "x");
    expect([first, await call("a", "hello", "x")]).toEqual(["1 hello x", "1 hello x"]);
    expect(await call("a", "hello", "y")).toContain("idempotency_key_reused");
  });

  it.each([
    ["----usher-form\r\n", "x"],
    ["a\r\n------usher-form--\r\n", "x"],
    ["a", "b\r\n------usher-form\r\n\r\nc"],
  ])("sends %j and %j, which contain a boundary", async (file, note) => {
    expect(await call(`k${runs}`, file, note)).toBe(`${runs} ${file} ${note}`);
  });
});

const certificate = (commonName: string): PeerCertificate => ({
  authorized: true,
  commonName,
  subject: `CN=${commonName}`,
  issuer: "CN=ca",
  serialNumber: "01",
  fingerprint256: commonName,
  validFrom: new Date(0),
  validTo: new Date(0),
  der: undefined,
});

describe("a client's certificate", () => {
  const route = get(Path.of("who"), { ...tool("who"), inputs: { peerCertificate } }, ({ peerCertificate }) => {
    return peerCertificate?.commonName ?? "nobody";
  });
  const app = Test.app([route, ...Mcp.routes([route], about)]);

  it.each([
    ["orders", "orders"],
    [undefined, "nobody"],
  ])("%s is available in the tool's call", async (name, text) => {
    const called = await Test.call(app, "POST", "/mcp", {
      ...requestOf(1, "tools/call", { name: "who" }),
      ...(name === undefined ? {} : { peerCertificate: certificate(name) }),
    });
    expect(called.body).toContain(`"text":"${text}"`);
  });
});

describe("names that a client chooses must be unique", () => {
  const at = Path.of("a");
  const [one, other] = [
    get(at, { returns: Returns.text }, () => ""),
    get(Path.of("b"), { returns: Returns.text }, () => ""),
  ];
  const prompt = Mcp.prompt("say", v.object({}), () => "");
  it.each<[options: object, problem: string]>([
    [{ prompts: [prompt, Mcp.prompt("say", v.object({}), () => "")] }, "POST /mcp has two prompts named say"],
    [
      { resources: [Mcp.resource(one, { uri: "x://a" }), Mcp.resource(other, { uri: "x://a" })] },
      "POST /mcp has two resources of the URI x://a: GET /a and GET /b",
    ],
  ])("%#", (options, problem) => {
    expect(() => App.make([one, other, ...Mcp.routes([], { ...about, ...options })])).toThrow(problem);
  });

  it.each<[member: string, list: unknown]>([
    ["prompts", [Mcp.resource(one)]],
    ["prompts", [{ node: {} }]],
    ["resources", [prompt]],
    ["resources", [{ route: 7 }]],
  ])("and %s are a list of them", (member, list) => {
    const made = `Mcp.routes: ${member} is a list, and not a list made by Mcp.${member.slice(0, -1)}`;
    expect(() => Mcp.routes([], { ...about, [member]: list })).toThrow(made);
  });
});
