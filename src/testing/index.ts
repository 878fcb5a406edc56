/** The `Test` namespace: calls an app without a server. */
export { app, call } from "./call.ts";
export { browser } from "./browser.ts";
export type { TestBrowser } from "./browser.ts";
export { events } from "./call.ts";
export { mcp } from "./mcp.ts";
export type { TestAgent, TestAgentOptions, TestToolResult } from "./mcp.ts";
export { websocket } from "./sockets.ts";
export type { Receive } from "./call.ts";
export type { TestAnswer as Answered, TestApp } from "./call.ts";
export type { TestCallOptions as CallOptions } from "./call.ts";
