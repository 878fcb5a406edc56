import { needsApp, needsObject, needsOptions, needsText } from "../arguments.ts";
import { encodeBase64 } from "../http/bytes.ts";
import { call, headersOf } from "./call.ts";
import type { TestApp, TestCallOptions } from "./call.ts";

/** What a tool answered. */
export interface TestToolResult {
  /** The blocks of its content: texts, images, resources. */
  readonly content: readonly { readonly type: string; readonly text?: string; readonly [member: string]: unknown }[];
  /** The answer as JSON, where it has a shape; of an answer that is not an object its member `result`. */
  readonly structured: unknown;
  /** Whether it is a refusal, or the answer of a call that failed. */
  readonly isError: boolean;
  /** The refusal, where it is one: `{ error, message, problems }`, or the app's own JSON. One that is no JSON is in `content` alone. */
  readonly refusal: { readonly error: string; readonly message: string; readonly problems?: unknown } | undefined;
}

/** An agent under test, as it uses the tools of an app. */
export interface TestAgent {
  /** The names and descriptions of the tools that it sees. */
  tools(): Promise<readonly { readonly name: string; readonly [member: string]: unknown }[]>;
  /** Calls a tool. */
  call(name: string, given?: object): Promise<TestToolResult>;
  /** Sends any message of the protocol, and resolves with its result. */
  request(method: string, params?: object): Promise<{ readonly [member: string]: unknown }>;
}

/** The options of an agent. */
export interface TestAgentOptions extends Pick<TestCallOptions, "headers" | "peer" | "now"> {
  /** The path of `Mcp.routes`: `/mcp` unless given. */
  readonly path?: string | undefined;
}

/**
 * An agent that calls the tools of `Mcp.routes` (`usher-http/mcp`), without a socket. Its headers are those of every message, such as
 * a credential.
 *
 * @throws Error where the server answers with an error of the protocol, as for a tool that does not exist.
 * @example
 * ```ts
 * const agent = Test.mcp(app, { headers: { authorization: "Bearer demo" } });
 * const { structured } = await agent.call("place_order", { item: "pen", quantity: 2 });
 * ```
 */
export function mcp(app: TestApp, options: TestAgentOptions = {}): TestAgent {
  needsObject("Test.mcp: its app", app);
  needsApp("Test.mcp: its app", app.app);
  needsOptions("Test.mcp", options, "path headers peer now");
  const { path = "/mcp", ...others } = options;
  needsText("Test.mcp: path", path);
  let lastId = 0;
  const request = async (method: string, params: object = {}) => {
    const id = ++lastId;
    const { headers, body } = mcpRequest(id, method, params as AgentParams);
    const answered = await call(app, "POST", path, {
      ...others,
      headers: [...headers, ...headersOf(others)],
      body,
    });
    const isJson = answered.headers.get("content-type") === "application/json";
    const { result, error } = (isJson ? answered.json() : {}) as AgentAnswer;
    if (result !== undefined) return result;
    throw new Error(`Test.mcp: ${method} is answered with ${answered.status}: ${error?.message ?? answered.body}`);
  };
  return { request, tools: () => allTools(request), call: (name, given = {}) => toolResult(request, name, given) };
}

interface AgentParams {
  readonly [member: string]: unknown;
}

/** A request of the protocol: the version 2026-07-28 is in each, and its headers say again what its body says. */
function mcpRequest(id: number, method: string, params: AgentParams) {
  const version = "2026-07-28";
  const prefix = "io.modelcontextprotocol/";
  const meta = { [`${prefix}protocolVersion`]: version, [`${prefix}clientCapabilities`]: {} };
  const body = {
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, _meta: { ...meta, ...(params["_meta"] as object) } },
  };
  const name = method === "resources/read" ? params["uri"] : params["name"];
  const named: [name: string, value: string][] =
    typeof name === "string" ? [["mcp-name", `=?base64?${encodeBase64(new TextEncoder().encode(name))}?=`]] : [];
  const headers = Object.entries({ "mcp-protocol-version": version, "mcp-method": method });
  headers.push(...named);
  return { headers, body };
}

interface AgentAnswer {
  readonly result?: { readonly [member: string]: unknown };
  readonly error?: { readonly message: string };
}

async function allTools(request: TestAgent["request"]): ReturnType<TestAgent["tools"]> {
  const tools: Awaited<ReturnType<TestAgent["tools"]>>[number][] = [];
  let cursor: unknown;
  do {
    const page = await request("tools/list", cursor === undefined ? {} : { cursor });
    tools.push(...(page["tools"] as typeof tools));
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  return tools;
}

async function toolResult(request: TestAgent["request"], name: string, given: object): Promise<TestToolResult> {
  needsText("Test.mcp: the name of its tool", name);
  const result = await request("tools/call", { name, arguments: given });
  const content = result["content"] as TestToolResult["content"];
  const isError = result["isError"] === true;
  const refusal = isError ? refusalIn(content[0]?.text) : undefined;
  return { content, structured: result["structuredContent"], isError, refusal };
}

/** An app whose refusals are texts has no JSON. */
function refusalIn(text = ""): TestToolResult["refusal"] {
  try {
    return JSON.parse(text) as TestToolResult["refusal"];
  } catch {
    return undefined;
  }
}
