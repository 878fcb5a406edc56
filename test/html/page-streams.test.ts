/** Streams in a page that is not read to its end: each is closed, also one that the page has not come to. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { html as h } from "usher-http";
import type { Html, HtmlValue } from "usher-http";
import { eventually } from "../support/eventually.ts";
import "../support/logs.ts";
import { fetched, gate } from "./page-apps.ts";

/** A stream of text that gives nothing, and whether it was closed. */
function nodeStream() {
  const stream = new Readable({ objectMode: true, read() {} });
  return { stream: stream as AsyncIterable<never>, isClosed: () => stream.destroyed };
}
function platformStream() {
  let closed = false;
  const stream = new ReadableStream<string>({ cancel: () => void (closed = true) });
  return { stream: stream as unknown as AsyncIterable<HtmlValue>, isClosed: () => closed };
}
const never = new Promise<never>(() => {});
/** What takes longer than the first part of a page. */
const soon = <A>(value: A): Promise<A> => wait(5, value);

describe.each([
  ["a stream of Node's", nodeStream],
  ["a ReadableStream", platformStream],
])("%s", (_what, made) => {
  it.each<readonly [where: string, pageOf: (stream: AsyncIterable<HtmlValue>) => Html]>([
    ["that is read", (stream) => h`<p>${stream}`],
    ["behind what is pending", (stream) => h`<p>${never}${stream}`],
    ["in a list behind it", (stream) => h`<p>${never}${["a", stream]}`],
    ["in a page behind it", (stream) => h`<p>${never}${h`<i>${stream}`}`],
    ["that a later promise gives", (stream) => h`<p>${never}${soon(stream)}`],
    ["that the pending promise gives", (stream) => h`<p>${soon(h`<i>${stream}`)}`],
  ])("%s is closed when the client disconnects", async (_where, pageOf) => {
    const { stream, isClosed } = made();
    const reader = (await fetched(() => pageOf(stream))).body?.getReader();
    await reader?.read();
    const pending = reader?.read();
    await wait(1);
    await reader?.cancel();
    await pending;
    await eventually(() => expect(isClosed()).toBe(true));
  });

  it.each(["GET", "HEAD"])("is closed when the page fails before it, by %s", async (method) => {
    const { stream, isClosed } = made();
    const failing = () => h`<p>${wait(1).then(() => Promise.reject(new Error("no")))}${stream}`;
    await (await fetched(failing, { method })).text().catch(() => {});
    await eventually(() => expect(isClosed()).toBe(true));
  });
});

it("a missing file, far down a page, makes only that page fail", async () => {
  const first = gate<string>();
  const missing = createReadStream("/nowhere/at/all", "utf8");
  const response = await fetched(() => h`<p>${first.promise}${missing as AsyncIterable<string>}`);
  await eventually(() => expect(missing.closed).toBe(true));
  first.open("x");
  await expect(response.text()).rejects.toThrow("the stream failed");
});
