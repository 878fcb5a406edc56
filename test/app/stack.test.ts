/** The stack that a debugger shows in a handler: few frames between the listener and the handler. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Codec, Path, Query, Returns, get, json, post } from "usher-http";
import { start } from "../support/node-server.ts";

/** The frames of the framework's own, innermost first. */
function ownFrames(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split("\n").filter((line) => /\/(?:src|adapters)\//.test(line) && !line.includes("/test/"));
}

let frames: string[] = [];
const noteFrames = (): string => {
  frames = ownFrames();
  return "seen";
};
const page = Query.required("page", Codec.int);
const order = json(v.object({ item: v.string() }));
const routes = [
  get(Path.of("bare"), { returns: Returns.text }, noteFrames),
  get(Path.of("inputs"), { inputs: { page }, returns: Returns.text }, noteFrames),
  post(Path.of("body"), { inputs: { order }, returns: Returns.text }, noteFrames),
];

describe("the stack of a handler", () => {
  it.each([
    ["a GET", "/bare", undefined],
    ["a GET with inputs", "/inputs?page=3", undefined],
    ["a POST with a body", "/body", JSON.stringify({ item: "tea" })],
  ])("has at most twelve frames of the framework for %s", async (_what, path, body) => {
    const init = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body };
    const { port } = await start(routes);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    expect([response.status, await response.text()]).toEqual([200, "seen"]);
    expect(frames.length).toBeGreaterThan(3);
    expect(frames.length, frames.join("\n")).toBeLessThanOrEqual(12);
  });
});
