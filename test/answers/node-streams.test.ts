/** Streams of Node, such as `createReadStream`, as answers: a stream that is not sent, or not completely, is destroyed. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, App, Deadline, Meta, Path, Returns, Test, deadline, get, html } from "usher-http";
import type { AppOptions, Middleware, Route } from "usher-http";
import { Compress } from "usher-http/compress";
import { Conditional } from "usher-http/conditional";
import { eventually } from "../support/eventually.ts";
import "../support/logs.ts";

/** A stream that yields these chunks, and then waits for ever. */
function quiet(...parts: readonly unknown[]): Readable {
  const left = [...parts];
  const objectMode = parts.some((part) => !(part instanceof Uint8Array));
  return new Readable({
    objectMode,
    read() {
      if (left.length > 0) this.push(left.shift());
    },
  });
}
const bytes = new TextEncoder().encode("part");

const streaming = (stream: Readable): Route =>
  get(Path.root, { returns: Returns.response }, () => Answer.stream(stream));

describe("a Node stream that is not sent is destroyed", () => {
  it.each<[what: string, routeOf: (stream: Readable) => Route, options?: AppOptions, init?: RequestInit]>([
    ["of HEAD", streaming, {}, { method: "HEAD" }],
    [
      "of a 304",
      (stream) =>
        get(Path.root, { returns: Returns.response }, () => Conditional.answer(Answer.stream(stream), { etag: "a" })),
      {},
      { headers: { "if-none-match": '"a"' } },
    ],
    [
      "of lines",
      (stream) => get(Path.root, { returns: Returns.jsonLines(v.any()) }, () => stream),
      {},
      { method: "HEAD" },
    ],
    [
      "where middleware answers in its place",
      streaming,
      { middleware: [async (_request, next) => (await next(), Answer.make("other"))] },
    ],
    [
      "where the answer cannot be written",
      (stream) =>
        get(Path.root, { returns: Returns.response }, () => Answer.stream(stream, { headers: [["x", "\n"]] })),
    ],
    [
      "of a handler that is late",
      (stream) =>
        get(
          Path.root,
          { inputs: { deadline }, returns: Returns.response, meta: Meta.empty.add(Meta.deadline, Deadline.make(20)) },
          async ({ deadline }) => (await once(deadline, "abort"), Answer.stream(stream)),
        ),
    ],
  ])("%s", async (_what, routeOf, options = {}, init = {}) => {
    const made = quiet(bytes);
    const { fetch } = App.make([routeOf(made)], options);
    await (await fetch(new Request("http://h/", init))).text();
    await eventually(() => expect(made.destroyed).toBe(true));
  });
});

describe("a Node stream is destroyed when its client disconnects", () => {
  const ranged = (stream: Readable): Route =>
    get(Path.root, { returns: Returns.response }, () => Conditional.ranged({ length: 1000, read: () => stream }));
  const lines = (stream: Readable): Route => get(Path.root, { returns: Returns.jsonLines(v.any()) }, () => stream);
  const page = (stream: Readable): Route => get(Path.root, { returns: Returns.html }, () => html`<p>${stream}</p>`);
  it.each<
    [what: string, routeOf: (stream: Readable) => Route, parts: unknown[], init?: RequestInit, options?: AppOptions]
  >([
    ["a stream", streaming, [bytes]],
    ["a range", ranged, [bytes]],
    ["two ranges", ranged, [bytes], { headers: { range: "bytes=0-99,500-599" } }],
    ["lines", lines, [1]],
    ["a page", page, ["text"]],
    [
      "a compressed stream",
      (stream) => get(Path.root, { returns: Returns.response }, () => Answer.stream(stream, { contentType: "text/a" })),
      [bytes],
      { headers: { "accept-encoding": "gzip" } },
      { middleware: [Compress.make()] },
    ],
  ])("%s", async (what, routeOf, parts, init = {}, options = {}) => {
    // Before anything of it is read. The first of two ranges is opened after its head.
    const unread = quiet(...parts);
    const { fetch } = App.make([routeOf(unread)], options);
    await (await fetch(new Request("http://h/", init))).body?.cancel();
    if (what !== "two ranges") await eventually(() => expect(unread.destroyed).toBe(true));
    // While no more chunks arrive.
    const made = quiet(...parts);
    const again = App.make([routeOf(made)], options);
    const reader = (await again.fetch(new Request("http://h/", init))).body?.getReader();
    await reader?.read();
    const reading = reader?.read();
    await setTimeout(10);
    await reader?.cancel();
    await reading;
    await eventually(() => expect(made.destroyed).toBe(true));
  });
});

describe("a stream of a missing file", () => {
  const missing = (): Readable => createReadStream("/nowhere/at/all");

  it("does not end the process for a HEAD", async () => {
    const stream = missing();
    const { status } = await Test.call(Test.app([streaming(stream)]), "HEAD", "/");
    expect(status).toBe(200);
    await eventually(() => expect(stream.closed).toBe(true));
  });

  it("is a 500 if that is known before the head is sent", async () => {
    const stream = missing();
    const slow: Middleware = async (_request, next) => {
      const answer = await next();
      await eventually(() => expect(stream.errored).not.toBeNull());
      return answer;
    };
    const { fetch } = App.make([streaming(stream)], { middleware: [slow] });
    expect((await fetch(new Request("http://h/"))).status).toBe(500);
  });
});
