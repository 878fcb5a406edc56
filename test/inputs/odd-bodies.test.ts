/** Body streams with chunks that are not bytes, or that cannot be read: `app.fetch` settles, and the process continues. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Codec, Form, Path, Returns, body, bodyStream, json, multipart, post } from "usher-http";
import { whatwg } from "../../adapters/whatwg/index.ts";
import type { Exchange } from "../../src/app/exchange.ts";
import type { BodySource } from "../../src/inputs/body-source.ts";
import { CallExchange } from "../../src/testing/call.ts";
import { logged, messages } from "../support/logs.ts";
import { internal, unreadable } from "../support/refusals.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const routes = [
  post(Path.of("json"), { inputs: { body: json(v.any()) }, returns: Returns.text }, () => "read"),
  post(Path.of("body"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.byteLength}`),
  post(Path.of("form"), { inputs: { a: Form.optional("a", Codec.string) }, returns: Returns.text }, () => "read"),
  post(Path.of("stream"), { inputs: { body: bodyStream({ max: 100 }) }, returns: Returns.text }, async ({ body }) => {
    let length = 0;
    for await (const part of body) length += part.byteLength;
    return `${length}`;
  }),
  post(Path.of("parts"), { inputs: { body: multipart({ max: 1000 }) }, returns: Returns.text }, async ({ body }) => {
    for await (const part of body) for await (const piece of part) void piece;
    return "read";
  }),
  post(Path.of("ignores"), { inputs: { body: bodyStream({ max: 100 }) }, returns: Returns.text }, async ({ body }) => {
    // Called and not awaited.
    void body.read();
    return "ignored";
  }),
];
const app = App.make(routes);
const types: { readonly [path: string]: string } = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  parts: "multipart/form-data; boundary=b",
};

function requestOf(path: string, body: ReadableStream<unknown>): Request {
  const headers = { "content-type": types[path] ?? "application/octet-stream" };
  return new Request(`http://h/${path}`, { method: "POST", headers, body, duplex: "half" } as unknown as RequestInit);
}

function streamOf(...parts: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new Error("s3cret");
    },
    has: () => {
      throw new Error("s3cret");
    },
  },
);
const odd: readonly (readonly [what: string, part: unknown])[] = [
  ["a text", "s3cret"],
  ["a number", 5],
  ["undefined", undefined],
  ["null", null],
  ["a symbol", Symbol("s3cret")],
  ["an object", {}],
  ["an object like a failure", { kind: "too_large", detail: "s3cret" }],
  ["an object like bytes", { byteLength: 3 }],
  ["a proxy that raises", hostile],
  ["a buffer", new ArrayBuffer(3)],
  ["bytes of another kind", new Uint16Array(3)],
  ["what only says that it is bytes", Object.create(Uint8Array.prototype)],
];
const readers = ["json", "body", "form", "stream", "parts"];

describe.each([
  ["app.fetch", (request: Request) => app.fetch(request)],
  // A server other than Node's.
  ["whatwg", async (request: Request) => whatwg(app)(request, {})],
])("%s", (_name, fetch) => {
  describe.each(readers)("a body read as %s", (path) => {
    it.each(odd)("a chunk that is %s is a 400", async (_what, part) => {
      for (const parts of [[part], [bytes("a"), part]]) {
        const response = await fetch(requestOf(path, streamOf(...parts)));
        expect([response.status, await response.text()]).toEqual([400, unreadable]);
      }
      expect(logged().join("\n")).not.toContain("s3cret");
    });

    it("a stream that fails is a 400", async () => {
      const pull = () => {
        throw new Error("s3cret");
      };
      const response = await fetch(requestOf(path, new ReadableStream({ pull }, { highWaterMark: 0 })));
      expect([response.status, await response.text()]).toEqual([400, unreadable]);
      expect(logged().join("\n")).not.toContain("s3cret");
    });

    it("a stream that is locked, or partly read, is a 500 with a log line", async () => {
      for (const leaves of [false, true]) {
        const request = requestOf(path, streamOf(bytes("{}"), bytes("{}")));
        const reader = request.body?.getReader();
        if (leaves) {
          await reader?.read();
          reader?.releaseLock();
        }
        const response = await fetch(request);
        expect([response.status, await response.text()]).toEqual([500, internal]);
        expect(messages("error").at(-1)).toContain("its body was read before the app got it");
      }
    });

    it("a stream that was read before is a 500 with a log line", async () => {
      const request = requestOf(path, streamOf(bytes("{}")));
      await request.text();
      const response = await fetch(request);
      expect([response.status, await response.text()]).toEqual([500, internal]);
      expect(messages("error").at(-1)).toContain("its body was read before the app got it");
    });
  });

  it.each(odd)("a body with %s in it that no input reads does not end the process", async (_what, part) => {
    const response = await fetch(requestOf("ignores", streamOf(part)));
    expect(await response.text()).toBe("ignored");
  });

  it("a body of bytes of another realm is read", async () => {
    const { runInNewContext } = await import("node:vm");
    const theirs = runInNewContext("new Uint8Array([1, 2, 3])") as Uint8Array;
    for (const path of ["body", "stream"]) {
      expect(await (await fetch(requestOf(path, streamOf(theirs)))).text()).toBe("3");
    }
  });
});

describe("a listener whose body object misbehaves", () => {
  class Broken extends CallExchange implements Exchange {
    override readonly body: BodySource;

    constructor(path: string, body: BodySource) {
      const headers = [["content-type", types[path] ?? "application/octet-stream"]] as const;
      super("POST", `/${path}`, { headers }, undefined);
      this.body = body;
    }
  }
  const rejects: BodySource = {
    length: undefined,
    read: () => Promise.reject(new Error("s3cret")),
    whole() {
      throw new Error("s3cret");
    },
  };
  it.each(readers)("gets an answer: %s", async (path) => {
    const { status, body } = await app.answer(new Broken(path, rejects));
    const isStream = path === "stream" || path === "parts";
    expect([status, body]).toEqual(isStream ? [400, unreadable] : [500, internal]);
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});
