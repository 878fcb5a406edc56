/** Messages to an MCP server, with `Test.call`. */
import { Test } from "usher-http";
import type { TestAnswer, TestApp } from "usher-http";

type Headers = { readonly [name: string]: string };

/** The headers and the body of a request of version 2026-07-28. */
export function requestOf(
  id: unknown,
  method: string,
  params: { readonly [member: string]: unknown } = {},
): { readonly headers: Record<string, string>; readonly body: string } {
  const prefix = "io.modelcontextprotocol";
  const version = "2026-07-28";
  const meta = { [`${prefix}/protocolVersion`]: version, [`${prefix}/clientCapabilities`]: {} };
  const name = method === "resources/read" ? params["uri"] : params["name"];
  const body = {
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, _meta: { ...meta, ...(params["_meta"] as object) } },
  };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
  };
  return { headers, body: JSON.stringify(body) };
}

/** Sends a message like a client of before 2026. */
export function ask(
  app: TestApp,
  method: string,
  params: object = {},
  options: {
    readonly headers?: Headers;
    readonly id?: unknown;
    readonly gone?: AbortSignal;
    readonly path?: string;
  } = {},
): Promise<TestAnswer> {
  const { headers = {}, id = 1, gone, path = "/mcp" } = options;
  const accept = { accept: "application/json, text/event-stream", ...headers };
  return Test.call(app, "POST", path, {
    headers: accept,
    body: { jsonrpc: "2.0", id, method, params },
    ...(gone === undefined ? {} : { gone }),
  });
}

/** A result of MCP. */
export async function resultOf(app: TestApp, method: string, params: object = {}, headers: Headers = {}) {
  const answered = (await ask(app, method, params, { headers })).json() as { readonly result: Record<string, unknown> };
  return answered.result;
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
