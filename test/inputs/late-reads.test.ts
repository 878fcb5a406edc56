/** A body that is read after its request is answered: the read fails, unless the body was read to its end. */
import { describe, expect, it } from "vitest";
import { App, Path, Returns, Test, bodyStream, jsonLines, multipart, post } from "usher-http";
import type { Part, Route } from "usher-http";
import * as v from "valibot";
import { settle } from "../support/clock.ts";
import { messages } from "../support/logs.ts";

const text = { returns: Returns.text };
const at = Path.of("x");
type Read = { readonly ok: boolean; readonly value?: unknown; readonly error?: { readonly kind: string } };
/** Reads of one body: each calls the next. */
type Reads = () => Promise<Read>;

/** Makes the route whose handler gets the reads of its body. */
type Make = (of: (reads: Reads) => Promise<string>) => Route;

/** What a late read is, in a word. */
const wordOf = (read: Read): string =>
  read.ok ? (read.value === undefined ? "end" : "part") : (read.error?.kind ?? "");

const streams: Make = (of) =>
  post(at, { inputs: { sent: bodyStream({ max: 1e6 }) }, ...text }, ({ sent }) => of(() => sent.read()));
const lines: Make = (of) =>
  post(at, { inputs: { sent: jsonLines(v.number(), { max: 1e6 }) }, ...text }, ({ sent }) => of(() => sent.read()));
const parts: Make = (of) =>
  post(at, { inputs: { sent: multipart({ max: 1e6 }) }, ...text }, ({ sent }) => of(() => sent.next()));
/** The bytes of the parts, one after the other. */
const contents: Make = (of) =>
  post(at, { inputs: { sent: multipart({ max: 1e6 }) }, ...text }, ({ sent }) => {
    let part: Part | undefined;
    return of(async () => {
      for (;;) {
        if (part === undefined) {
          const next = await sent.next();
          if (!next.ok || next.value === undefined) return next;
          part = next.value;
        }
        const read = await part.read();
        if (!read.ok || read.value !== undefined) return read;
        part = undefined;
      }
    });
  });

/** Each reads the next part, to its end. */
const wholeParts: Make = (of) =>
  post(at, { inputs: { sent: multipart({ max: 1e6 }) }, ...text }, ({ sent }) =>
    of(async () => {
      const next = await sent.next();
      if (!next.ok || next.value === undefined) return next;
      for (;;) {
        const read = await next.value.read();
        if (!read.ok) return read;
        if (read.value === undefined) return next;
      }
    }),
  );

const formOf = (name: string): string => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nvalue\r\n`;
const binary = "application/octet-stream";
const jsonl = "application/jsonl";
const form = "multipart/form-data; boundary=b";
const two = `${formOf("a")}${formOf("b")}--b--\r\n`;

const rows: readonly (readonly [
  what: string,
  make: Make,
  type: string,
  chunks: readonly string[],
  before: number,
  late: string,
])[] = [
  ["a stream that was not read", streams, binary, ["abc"], 0, "unreadable"],
  ["a stream that was read in part", streams, binary, ["abc", "def"], 1, "unreadable"],
  ["a stream whose bytes were read, without Content-Length", streams, binary, ["abc", "def"], 2, "unreadable"],
  ["a stream that was read to its end", streams, binary, ["abc", "def"], 3, "end"],
  ["a part that is cut in two", streams, binary, ["x".repeat(65_537)], 1, "unreadable"],
  ["lines that were not read", lines, jsonl, ["1\n2\n"], 0, "unreadable"],
  ["lines that were read in part", lines, jsonl, ["1\n2\n"], 1, "unreadable"],
  ["lines that were read in part, of which the last has no end", lines, jsonl, ["1\n2"], 1, "unreadable"],
  ["lines that were read to their end", lines, jsonl, ["1\n2\n"], 3, "end"],
  ["parts that were not read", parts, form, [two], 0, "unreadable"],
  ["parts of which one was read", parts, form, [two], 1, "unreadable"],
  ["parts that were read to their end", parts, form, [two], 3, "end"],
  [
    "a part of a form in the middle",
    contents,
    form,
    [formOf("a").slice(0, -4), "x\r\n", formOf("b"), "--b--"],
    1,
    "unreadable",
  ],
  ["parts of which one was read to its end", wholeParts, form, [two], 1, "unreadable"],
  ["parts that were each read to its end", wholeParts, form, [two], 2, "end"],
  ["contents that were read to their end", contents, form, [two], 3, "end"],
];

const encoder = new TextEncoder();
function requestOf(type: string, chunks: readonly string[]): Request {
  const body = new ReadableStream<Uint8Array>({
    start: (to) => {
      for (const chunk of chunks) to.enqueue(encoder.encode(chunk));
      to.close();
    },
  });
  const init: RequestInit = { method: "POST", body, duplex: "half", headers: { "content-type": type } };
  return new Request("http://h/x", init);
}

/** A handler that reads some of its body, answers, and reads on. Resolves with the first read after the answer. */
function readingLate(make: Make, before: number) {
  let answered: (value: string) => void = () => {};
  const late = new Promise<string>((resolve) => (answered = resolve));
  const route = make(async (reads) => {
    for (let read = 0; read < before; read++) await reads();
    void settle().then(async () => answered(wordOf(await reads())));
    return "answered";
  });
  return { route, late };
}

const warning =
  "/x read its body, the input sent, after its answer had gone, which failed: await each read before the handler returns";

describe("a read after the answer", () => {
  it.each(rows)("of %s, in chunks", async (_what, make, type, chunks, before, expected) => {
    const { route, late } = readingLate(make, before);
    const answer = await App.make([route]).fetch(requestOf(type, chunks));
    expect([await answer.text(), await late]).toEqual(["answered", expected]);
    expect(messages("warn")).toEqual(expected === "end" ? [] : [warning]);
  });

  it.each(rows)("of %s, of Test.app with its length", async (_what, make, type, chunks, before, expected) => {
    const { route, late } = readingLate(make, before);
    const body = encoder.encode(chunks.join(""));
    const headers = { "content-type": type };
    expect((await Test.call(Test.app([route]), "POST", "/x", { body, headers })).body).toBe("answered");
    const isWhole = make === streams && before > 0 && body.byteLength <= 65_536;
    expect(await late).toBe(isWhole ? "end" : expected);
  });

  it.each([streams, lines])("of a body that is empty is its end", async (make) => {
    const { route, late } = readingLate(make, 0);
    const answer = await App.make([route]).fetch(
      new Request("http://h/x", { method: "POST", headers: { "content-type": make === lines ? jsonl : binary } }),
    );
    expect([await answer.text(), await late, messages("warn")]).toEqual(["answered", "end", []]);
  });
});

describe("a read that waits when the request is answered", () => {
  it.each([
    ["a stream", streams, binary, "a"],
    ["lines", lines, jsonl, "1\n2"],
    ["parts", parts, form, formOf("a")],
    ["the contents of parts", contents, form, formOf("a").slice(0, -4)],
  ] as const)("of %s fails, with a line that says why", async (_what, make, type, begun) => {
    let late: Promise<Read> | undefined;
    const route = make(async (reads) => {
      await reads();
      late = reads();
      await settle();
      return "answered";
    });
    const body = new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(encoder.encode(begun)) });
    const init: RequestInit = { method: "POST", body, duplex: "half", headers: { "content-type": type } };
    const answer = await App.make([route]).fetch(new Request("http://h/x", init));
    expect([await answer.text(), wordOf((await late) as Read)]).toEqual(["answered", "unreadable"]);
    expect(messages("warn")).toEqual([warning]);
  });
});
