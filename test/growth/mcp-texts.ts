/** The rows of the growth table for `usher-http/mcp`: what a client of the Model Context Protocol sends. */
import * as v from "valibot";
import { Codec, Form, Header, Meta, Path, Query, Returns, Test, get, json, jsonLines, param, post } from "usher-http";
import type { Route } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { again, around, numbered } from "./texts.ts";
import type { Row } from "./texts.ts";

const tool = (name: string) => ({ meta: Meta.tool({ name }), returns: Returns.text });
const [a, b] = [Path.param("a", Codec.string), Path.param("b", Codec.string)];
const rest = Path.rest("rest");
const two = get(Path.of("two", a, b), { inputs: { a: param(a), b: param(b) }, returns: Returns.text }, () => "");
const file = get(Path.of("file", rest), { ...tool("file"), inputs: { rest: param(rest) } }, () => "");
const routes: readonly Route[] = [
  two,
  file,
  post(Path.of("body"), { ...tool("body"), inputs: { given: json(v.any()) } }, () => ""),
  post(
    Path.of("mixed"),
    { ...tool("mixed"), inputs: { given: json(v.any()), q: Query.list("q", Codec.string) } },
    () => "",
  ),
  post(Path.of("lines"), { ...tool("lines"), inputs: { lines: jsonLines(v.any(), { max: 1_000_000 }) } }, () => ""),
  post(Path.of("form"), { ...tool("form"), inputs: { f: Form.list("f", Codec.string) } }, () => ""),
  get(Path.of("query"), { ...tool("query"), inputs: { q: Query.list("q", Codec.string) } }, () => ""),
  get(Path.of("head"), { ...tool("head"), inputs: { h: Header.list("h", Codec.string) } }, () => ""),
];
const prompts = [Mcp.prompt("say", v.object({ x: v.optional(v.string()) }), ({ x = "" }) => x)];
const resources = [Mcp.resource(two), Mcp.resource(two, { uri: "x://{a}-{b}.md" }), Mcp.resource(file)];
const app = Test.app([...routes, ...Mcp.routes(routes, { name: "n", version: "1", prompts, resources })]);

const encoder = new TextEncoder();
const meta = JSON.stringify({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
});
const send = (body: string, of: { readonly [name: string]: string } = {}) => {
  const headers = { "content-type": "application/json", "mcp-protocol-version": "2026-07-28", ...of };
  return Test.call(app, "POST", "/mcp", { body: encoder.encode(body), headers });
};
/** @param params The members of the params, as JSON. */
const ask = (method: string, name: string, params: string) => {
  const encoded = `=?base64?${Buffer.from(name).toString("base64")}?=`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params},"_meta":${meta}}}`;
  return send(body, { "mcp-method": method, "mcp-name": encoded });
};
const call = (name: string) => (text: string) => ask("tools/call", name, `"name":"${name}","arguments":${text}`);

const values = again(
  "1,",
  '"a",',
  "9007199254740993,",
  '"\\"",',
  '"\\\\",',
  "{},",
  "[],",
  '{"a":1},',
  "null,",
  " \n1,",
);
/** A list of values. */
const lists = (before: string, after: string): Row["texts"] =>
  Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, (times) => `${before}[${text(times)}1]${after}`]),
  );

const readers: readonly Row[] = [
  {
    reader: "a message",
    read: (text) => send(text),
    texts: {
      ...again("[", '{"a":', '"', "\\", " ", "{}", "[],"),
      ...around('{"jsonrpc":"2.0","id":1,"method":"', ["a", "\\u0061", "/"], '"}'),
      ...around('{"jsonrpc":"2.0","id":"', ["a", "\\\\"], `","method":"tools/list","params":{"_meta":${meta}}}`),
      ...numbered("members", (number) => `"${number}":1,`),
    },
  },
  {
    reader: "the URI of a resource",
    read: (uri) => ask("resources/read", uri, `"uri":"${uri}"`),
    texts: {
      ...around("app:///two/", ["/", "a/", "%2f", "%", "a"], "#"),
      ...around("app:///two/a/", ["/", "%c3%a9"]),
      ...around("x://", ["-", "-a", ".md", "-.md"], "#"),
      ...around("app:///file/", ["/", "a/", ".."], "?"),
      ...again("app:///two/"),
    },
  },
  {
    reader: "the arguments of a prompt",
    read: (text) => ask("prompts/get", "say", `"name":"say","arguments":{${text}"x":"1"}`),
    texts: { ...again('"a":"1",', '"x":"1",'), ...numbered("names", (number) => `"${number}":"1",`) },
  },
  {
    reader: "the arguments of a tool with a body",
    read: call("body"),
    texts: {
      ...lists('{"body":', "}"),
      ...numbered("names", (number) => `"${number}":1,`),
      ...around('{"body":"', ["\\\\", '\\"', "a"], '"}'),
    },
  },
  {
    reader: "the arguments of a tool with a body and a query",
    read: call("mixed"),
    texts: lists('{"body":{},"q":', "}"),
  },
  { reader: "the lines of a tool", read: call("lines"), texts: lists('{"body":', "}") },
  { reader: "the form of a tool", read: call("form"), texts: lists('{"f":', "}") },
  { reader: "the query of a tool", read: call("query"), texts: lists('{"q":', "}") },
  { reader: "the headers of a tool", read: call("head"), texts: lists('{"h":', "}") },
  {
    reader: "the path of a tool",
    read: (text) => call("file")(`{"rest":"${text}"}`),
    texts: again("/", "a/", "..", "../", "%", "\\ud800"),
  },
];

/** By what a client of the protocol sends. */
export const mcpRows: readonly Row[] = readers.map((row) => ({ ...row, reader: `MCP: ${row.reader}` }));
