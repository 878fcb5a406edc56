/** The `Test` namespace: an app that is called with no socket. */
export { app, call } from "./call.ts";
export { browser } from "./browser.ts";
export type { TestBrowser } from "./browser.ts";
export { events } from "./events.ts";
export { websocket } from "./websocket.ts";
export type { Receive } from "./events.ts";
export type { Answered, TestApp } from "./answered.ts";
export type { CallOptions } from "./call-options.ts";
