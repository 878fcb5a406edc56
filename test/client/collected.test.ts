/** A call ends in time, also if the platform collected its request or its signal as garbage in the meantime. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { atSomeSpeed } from "../support/eventually.ts";
import { serverOfFile } from "../support/http-server.ts";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";

const program = join(import.meta.dirname, "collected-program.mjs");

/** The first part of each path's answer, before the server is silent, and its media type. */
const begun: { readonly [path: string]: readonly [type: string, text: string] } = {
  "/json": ["application/json", '{"a":'],
  "/text": ["text/plain", "some"],
  "/lines": ["application/x-ndjson", '{"a":1}\n{"a"'],
  "/events": ["text/event-stream", "data: 1\n\ndata"],
  "/bytes": ["application/octet-stream", "some"],
};

const { port } = await serverOfFile((request, response) => {
  const [type, text] = begun[request.url ?? ""] ?? [];
  if (type !== undefined) response.setHeader("content-type", type);
  if (text !== undefined) response.write(text);
});

/** The ends of the calls of `HttpClient`, and of the typed client. */
const ended = (typedBySignal: string, typedByDeadline = typedBySignal) => ({
  time: "TimeoutError",
  signal: "TimeoutError",
  "any of signals": "TimeoutError",
  deadline: "TimeoutError",
  "deadline, beside a signal": "TimeoutError",
  "signal of the typed client": typedBySignal,
  "deadline of the typed client": typedByDeadline,
  "deadline of the typed client, beside a signal": typedByDeadline,
});

const expected = {
  head: ended("unreachable"),
  body: ended("unreachable"),
  text: ended("unreachable"),
  lines: ended("1, failed"),
  events: ended("1, ended"),
  bytes: ended("TimeoutError"),
  keys: 503,
};

const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-all", "--v8-flags=--expose-gc"];
const commands = rows<readonly [name: string, binary: () => string, flags: readonly string[]]>(
  [
    ["the newest Node", runtimes["node-newest"], ["--expose-gc"]],
    ["Bun", runtimes.bun, []],
  ],
  [
    ["the oldest Node", runtimes["node-oldest"], ["--expose-gc"]],
    ["Node 22", runtimes["node-22"], ["--expose-gc"]],
    ["Deno", runtimes.deno, deno],
  ],
);

it.each(commands)("on %s", async (_name, binary, flags) => {
  // A call that ends before its response began has no information about the body.
  await atSomeSpeed(async (factor) => {
    const { stdout } = await promisify(execFile)(binary(), [...flags, program, String(port), String(100 * factor)]);
    expect(JSON.parse(stdout)).toEqual(expected);
  });
});
