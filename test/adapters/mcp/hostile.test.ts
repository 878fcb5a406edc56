/** Messages whose members have a wrong type, or the names of members of Object.prototype. */
import { Codec, Form, Header, Meta, Path, Query, Returns, Test, get, param, post } from "usher-http";
import type { Route } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { ask, callTool, resultOf } from "./asking.ts";

const about = { name: "n", version: "1" };

describe("a name that is not a text finds nothing", () => {
  const route = get(Path.of("t"), { meta: Meta.tool({ name: "t" }), returns: Returns.text }, () => "");
  const prompts = [Mcp.prompt("p", v.object({}), () => "")];
  const app = Test.app([route, ...Mcp.routes([route], { ...about, prompts })]);

  it.each([
    ["an object that cannot be a text", { toString: 1, valueOf: 1 }],
    ["a list of one name", ["p"]],
    ["a number", 7],
    ["null", null],
  ])("%s", async (_what, name) => {
    const error = {
      code: -32_602,
      message: expect.stringMatching(/^There is no (prompt|tool) of this name\.$/) as string,
    };
    for (const method of ["prompts/get", "tools/call"]) {
      const answered = await ask(app, method, { name, _meta: { progressToken: 1 } });
      expect([answered.status, answered.json()]).toEqual([200, { jsonrpc: "2.0", id: 1, error }]);
    }
  });
});

describe("an argument with the name of a member of Object.prototype", () => {
  const name = Path.param("valueOf", Codec.string);
  const tool = { meta: Meta.tool({ name: "it" }), returns: Returns.json(v.any()) };
  const at = Path.of("it");
  it.each([
    [
      "a query",
      get(at, { ...tool, inputs: { a: Query.optional("__proto__", Codec.string) } }, ({ a = "none" }) => a),
      "__proto__",
    ],
    [
      "a header",
      get(at, { ...tool, inputs: { a: Header.optional("constructor", Codec.string) } }, ({ a = "none" }) => a),
      "constructor",
    ],
    [
      "a form",
      post(at, { ...tool, inputs: { a: Form.optional("toString", Codec.string) } }, ({ a = "none" }) => a),
      "toString",
    ],
  ])("is absent from %s unless it is sent", async (_where, route, name) => {
    const app = Test.app([route, ...Mcp.routes([route], about)]);
    expect((await callTool(app, "it")).structuredContent).toEqual({ result: "none" });
    const given = JSON.parse(`{"${name}":"given"}`) as object;
    expect((await callTool(app, "it", given)).structuredContent).toEqual({ result: "given" });
  });

  it("is required in a path", async () => {
    const route = get(Path.of("it", name), { ...tool, inputs: { name: param(name) } }, ({ name }) => name);
    const app = Test.app([route, ...Mcp.routes([route], about)]);
    const { content } = await callTool(app, "it");
    expect(JSON.parse(content[0]?.text ?? "")).toMatchObject({ problems: [{ at: "valueOf", code: "required" }] });
    expect((await callTool(app, "it", { valueOf: "given" })).structuredContent).toEqual({ result: "given" });
  });
});

it("the argument false is the value of a form field, and omits a checkbox", async () => {
  const inputs = {
    a: Form.required("a", Codec.bool),
    b: Form.default("b", v.boolean(), true),
    c: Form.checked("c"),
  };
  const form = post(
    Path.of("form"),
    { meta: Meta.tool({ name: "form" }), inputs, returns: Returns.json(v.any()) },
    (given) => given,
  );
  const app = Test.app([form, ...Mcp.routes([form], about)]);
  const given = { a: false, b: false, c: false };
  expect((await callTool(app, "form", given)).content[0]?.text).toBe(JSON.stringify(given));
});

it("an answer of middleware that is not JSON is an error with its text, as there is a schema that it does not match", async () => {
  const route = get(Path.of("a"), { meta: Meta.tool({ name: "a" }), returns: Returns.json(v.object({})) }, () => ({}));
  const html = '<p>"Back soon."</p>';
  const app = Test.app([route, ...Mcp.routes([route], about)], {
    middleware: [
      async ({ path }, next) =>
        path === "/a" ? new Response(html, { headers: { "content-type": "text/html" } }) : next(),
    ],
  });
  expect(await resultOf(app, "tools/call", { name: "a" })).toEqual({
    content: [{ type: "text", text: html }],
    isError: true,
  });
});

it("a redirect of middleware is an error of a tool that has an output schema, and of no other", async () => {
  const json = get(
    Path.of("json"),
    { meta: Meta.tool({ name: "json" }), returns: Returns.json(v.object({})) },
    () => ({}),
  );
  const plain = get(Path.of("text"), { meta: Meta.tool({ name: "text" }), returns: Returns.text }, () => "");
  const app = Test.app([json, plain, ...Mcp.routes([json, plain], about)], {
    middleware: [
      async ({ path }, next) =>
        path === "/mcp" ? next() : new Response(null, { status: 303, headers: { location: "/sign-in" } }),
    ],
  });
  const content = [{ type: "text", text: "Status 303, see /sign-in" }];
  expect(await resultOf(app, "tools/call", { name: "json" })).toEqual({ content, isError: true });
  expect(await resultOf(app, "tools/call", { name: "text" })).toEqual({ content });
});

describe("an answer of middleware whose content type is JSON", () => {
  const meta = Meta.tool({ name: "it" });
  const object = get(Path.of("it"), { meta, returns: Returns.json(v.object({ a: v.string() })) }, () => ({ a: "" }));
  const lines = get(Path.of("it"), { meta, returns: Returns.jsonLines(v.any()) }, async function* () {});
  const answeredWith = async (route: Route, body: string) => {
    const app = Test.app([route, ...Mcp.routes([route], about)], {
      middleware: [
        async ({ path }, next) =>
          path === "/it" ? new Response(body, { headers: { "content-type": "application/json" } }) : next(),
      ],
    });
    return (await ask(app, "tools/call", { name: "it" })).body;
  };

  it.each([
    ["not JSON", object, "not JSON", undefined],
    ["JSON that closes the message", object, '{"a":""}},"method":"x","b":{"c":1', undefined],
    ["a list in place of an object", object, "[1]", undefined],
    ["null in place of an object", object, "null", undefined],
    ["lines that are not JSON", lines, "1\nno", undefined],
    ["an object on two lines", object, '{\r\n"a": ""}', { a: "" }],
    ["lines with a carriage return", lines, "1\r\n2\n", { result: [1, 2] }],
  ])("cannot break the message: %s", async (_what, route, body, structuredContent) => {
    const text = String(await answeredWith(route, body));
    // Standard input and output separate messages by line feeds.
    expect(text).not.toMatch(/[\r\n]/);
    const message = JSON.parse(text) as {
      readonly result: { readonly structuredContent?: unknown; readonly isError?: true };
    };
    expect(Object.keys(message)).toEqual(["jsonrpc", "id", "result"]);
    expect(message.result.structuredContent).toEqual(structuredContent);
    expect(message.result.isError).toBe(structuredContent === undefined ? true : undefined);
  });
});
