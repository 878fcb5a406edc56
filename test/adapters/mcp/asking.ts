/** Messages to an MCP server, with `Test.call`. */
import { Test } from "usher-http";
import type { TestAnswer, TestApp } from "usher-http";

type Headers = { readonly [name: string]: string };

export const version = "2026-07-28";
const prefix = "io.modelcontextprotocol";

/** What `params._meta` of each request has. */
const meta: Record<string, unknown> = {
  [`${prefix}/protocolVersion`]: version,
  [`${prefix}/clientCapabilities`]: {},
};

/** The headers of a request, which say again what its body says. */
export function headersOf(method: string, name?: unknown): Record<string, string> {
  const encoded = typeof name === "string" ? `=?base64?${Buffer.from(name).toString("base64")}?=` : undefined;
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(encoded === undefined ? {} : { "mcp-name": encoded }),
  };
}

/** The headers and the body of a request. */
export function requestOf(
  id: unknown,
  method: string,
  params: { readonly [member: string]: unknown } = {},
): { readonly headers: Record<string, string>; readonly body: string } {
  const name = method === "resources/read" ? params["uri"] : params["name"];
  const body = {
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, _meta: { ...meta, ...(params["_meta"] as object) } },
  };
  return { headers: headersOf(method, name), body: JSON.stringify(body) };
}

/** The same for a call whose params are text of JSON, as `"name":"a","arguments":{}`. */
export function callOfText(
  name: string,
  params: string,
): { readonly headers: Record<string, string>; readonly body: string } {
  const text = `${params},"_meta":${JSON.stringify(meta)}`;
  return {
    headers: headersOf("tools/call", name),
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${text}}}`,
  };
}

/** Sends a request. */
export function ask(
  app: TestApp,
  method: string,
  params: object = {},
  options: { readonly headers?: Headers; readonly gone?: AbortSignal; readonly path?: string } = {},
): Promise<TestAnswer> {
  const { headers: own = {}, gone, path = "/mcp" } = options;
  const { headers, body } = requestOf(1, method, params as { readonly [member: string]: unknown });
  return Test.call(app, "POST", path, {
    headers: { ...headers, ...own },
    body: new TextEncoder().encode(body),
    ...(gone === undefined ? {} : { gone }),
  });
}

/** A result of MCP, without the members that each has. */
export async function resultOf(app: TestApp, method: string, params: object = {}, headers: Headers = {}) {
  return ownOf((await ask(app, method, params, { headers })).json());
}

/** The members of a result, without those that each has. */
export function ownOf(answer: unknown): Record<string, unknown> {
  const { result } = answer as { readonly result: Record<string, unknown> };
  return Object.fromEntries(Object.entries(result).filter(([name]) => name !== "resultType" && name !== "_meta"));
}

interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** The result of a tool. */
export async function callTool(
  app: TestApp,
  name: string,
  given: object = {},
  headers: Headers = {},
): Promise<ToolResult> {
  return (await resultOf(app, "tools/call", { name, arguments: given }, headers)) as unknown as ToolResult;
}

/** The refusal inside of an error of a tool. */
export async function refusalOf(
  app: TestApp,
  name: string,
  given: object = {},
  headers: Headers = {},
): Promise<unknown> {
  const { isError, content } = await callTool(app, name, given, headers);
  return isError === true ? JSON.parse(content[0]?.text ?? "") : `no error: ${content[0]?.text}`;
}
