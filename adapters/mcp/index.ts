/** The entry `usher-http/mcp`: routes as tools of an agent, by the Model Context Protocol, on every runtime. */
export * as Mcp from "./mcp.ts";
export type {
  McpAuthorization,
  McpOptions,
  McpPrompt,
  McpResource,
  PromptMessage,
  PromptOptions,
  ResourceOptions,
} from "./mcp.ts";
