/** Encoded bodies over a socket: limits, the budget, time, clients that stop, and the memory of decoders. */
import { randomBytes } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import zlib from "node:zlib";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import * as v from "valibot";
import { Answer, App, Openapi, Path, Returns, Test, body, bodyStream, json, post } from "usher-http";
import type { Middleware } from "usher-http";
import { Decompress } from "usher-http/compress";
import type { DecompressOptions } from "usher-http/compress";
import type { DecodedSource } from "../../../src/inputs/encoded-body.ts";
import { logWith, messages } from "../../support/logs.ts";
import { clientOf, gate, holdClock } from "../../support/node-server.ts";
import { eventually } from "../../support/eventually.ts";

const returns = Returns.text;
const size = post(Path.of("size"), { inputs: { body }, returns }, ({ body }) => `${body.byteLength}`);
const name = post(
  Path.of("name"),
  { inputs: { read: json(v.object({ a: v.string() })) }, returns },
  ({ read }) => read.a,
);
const stream = post(Path.of("stream"), { inputs: { body: bodyStream({ max: 1e8 }) }, returns }, async ({ body }) => {
  let length = 0;
  for await (const part of body) length += part.byteLength;
  return `${length}`;
});
const first = post(Path.of("first"), { inputs: { body: bodyStream({ max: 1e8 }) }, returns }, async ({ body }) => {
  const read = await body.read();
  return read.ok ? `${read.value?.byteLength}` : read.error.kind;
});
const routes = [size, name, stream, first];
const decompress = Decompress.make();
const noise = randomBytes(300_000);

const send = async (
  app: App,
  path: string,
  bytes: Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
) => {
  const init = { method: "POST", body: bytes, headers: { "content-encoding": "gzip", ...headers }, duplex: "half" };
  const response = await app.fetch(new Request(`http://localhost/${path}`, init as RequestInit));
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe("without the option", () => {
  it.each([
    ["size", "gzip", 415],
    ["name", "br", 415],
    ["stream", "unknown", 415],
    ["name", "identity", 200],
  ])("a body of %s in %s is %i", async (path, encoding, status) => {
    const app = App.make(routes);
    const { status: got, headers } = await send(app, path, Buffer.from('{"a":"x"}'), { "content-encoding": encoding });
    expect([got, headers.get("accept-encoding")]).toEqual([status, status === 415 ? "identity" : null]);
  });

  it.each(["size", "stream"])("a length of 0 is no body, which has no coding: %s", async (path) => {
    const { status, text } = await send(App.make(routes), path, new Uint8Array(), { "content-length": "0" });
    expect([status, text]).toEqual([200, "0"]);
  });

  it("is refused before a byte is read, and gets no 100 Continue", async () => {
    logWith({ level: "info" });
    const client = await clientOf(routes);
    client.send(
      "POST /size HTTP/1.1",
      "host: h",
      "expect: 100-continue",
      "content-encoding: gzip",
      "content-length: 9",
      "",
      "",
    );
    const { status, head } = await client.answer();
    expect([status, Object.fromEntries(head)["connection"]]).toEqual([415, "close"]);
    await eventually(() =>
      expect(messages("warn")).toContain(
        "POST /size: unsupported_media_type: the body has a Content-Encoding that is not read",
      ),
    );
  });
});

describe("limits", () => {
  it.each<readonly [options: DecompressOptions, length: number, status: number]>([
    [{}, 300_000, 413],
    [{ maxRatio: 2000 }, 300_000, 200],
    [{ maxRatio: 1.5 }, 65_536, 200],
    [{ maxRatio: 1.5 }, 65_537, 413],
  ])("%j of %i zeros are %i", async (options, length, status) => {
    const app = App.make(routes, { decompress: Decompress.make(options) });
    expect((await send(app, "size", gzipSync(Buffer.alloc(length)))).status).toBe(status);
  });

  it.each([
    [{ maxBody: 300_000 }, 200],
    [{ maxBody: 299_999 }, 413],
    [{ bodyBudget: 299_999 }, 503],
    [{ bodyBudget: 1_000_000, bodyShare: 299_999 }, 503],
  ])("%j apply to the decoded bytes: %i", async (limits, status) => {
    const client = await clientOf(routes, { ...limits, decompress });
    const bytes = gzipSync(noise.map((byte) => byte & 15));
    expect(bytes.length).toBeLessThan(200_000);
    client.send("POST /size HTTP/1.1", "host: h", "content-encoding: gzip", `content-length: ${bytes.length}`, "", "");
    client.socket.write(bytes);
    expect((await client.answer()).status).toBe(status);
  });

  it("read only the codings of the option", async () => {
    const app = App.make(routes, { decompress: Decompress.make({ encodings: ["br"] }) });
    const { status, headers } = await send(app, "size", gzipSync("x"));
    expect([status, headers.get("accept-encoding")]).toEqual([415, "br"]);
    expect((await send(app, "size", brotliCompressSync("xyz"), { "content-encoding": "br" })).text).toBe("3");
  });
});

describe("encoded bytes that arrive before any decoded byte", () => {
  const inParts = (bytes: Uint8Array, size: number): ReadableStream => {
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, (at += size)));
      },
    });
  };
  const app = App.make(routes, { decompress });

  // A block of zstd has up to 128 KiB, and this text shrinks to three quarters.
  it.skipIf(typeof zlib.zstdCompressSync !== "function").each([1000, 16_384, 65_536])(
    "may be a block of zstd, in parts of %i bytes",
    async (size) => {
      const text = noise.toString("base64");
      const sent = await send(app, "size", inParts(zlib.zstdCompressSync(text), size), { "content-encoding": "zstd" });
      expect([sent.status, sent.text]).toEqual([200, `${text.length}`]);
    },
  );

  it("are limited", async () => {
    const empty = gzipSync("");
    let pulled = 0;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue((pulled++, Uint8Array.from(empty))),
    });
    expect((await send(app, "size", endless)).status).toBe(413);
    expect(pulled * empty.length).toBeLessThan(300_000);
  });
});

describe("a client", () => {
  const begun = async (path: string, bytes: Uint8Array, declared: number) => {
    const client = await clientOf(routes, { decompress });
    client.send(`POST ${path} HTTP/1.1`, "host: h", "content-encoding: gzip", `content-length: ${declared}`, "", "");
    client.socket.write(bytes);
    return client;
  };

  it.each(["/size", "/stream"])("that ends in the middle of %s gets 400", async (path) => {
    const bytes = gzipSync(noise);
    const client = await begun(path, bytes.subarray(0, 100_000), bytes.length);
    client.halfClose();
    const { status, body } = await client.answer();
    expect([status, body]).toMatchObject([400, expect.stringContaining("unreadable")]);
    await client.closed();
  });

  it.each(["/size", "/stream"])(
    "that stops in the middle of %s gets 400 within the time limit of a body",
    async (path) => {
      holdClock();
      const client = await begun(path, gzipSync(noise).subarray(0, 1000), 200_000);
      await eventually(() => {
        vi.advanceTimersByTime(30_000);
        expect(client.socket.bytesRead).toBeGreaterThan(0);
      });
      expect((await client.answer()).status).toBe(400);
    },
  );

  it("gets 100 Continue when its body is read, and keeps its connection", async () => {
    const client = await clientOf(routes, { decompress });
    const bytes = gzipSync('{"a":"kim"}');
    const length = `content-length: ${bytes.length}`;
    client.send("POST /name HTTP/1.1", "host: h", "expect: 100-continue", "content-encoding: gzip", length, "", "");
    expect((await client.answer()).status).toBe(100);
    client.socket.write(bytes);
    expect((await client.answer()).body).toBe("kim");
    expect((await client.ask("POST /name", [], '{"a":"plain"}').answer()).body).toBe("plain");
  });
});

describe("a decoder", () => {
  it("decodes no more than is read: its source waits", async () => {
    const bytes = gzipSync(noise);
    let pulled = 0;
    const { passed, open } = gate();
    const slow = post(Path.of("slow"), { inputs: { body: bodyStream({ max: 1e8 }) }, returns }, async ({ body }) => {
      await body.read();
      await passed;
      let length = 0;
      for await (const part of body) length += part.byteLength;
      return `${length}`;
    });
    const source = new ReadableStream({
      pull(controller) {
        if (pulled >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(pulled, (pulled += 1000)));
      },
    });
    const sent = send(App.make([slow], { decompress }), "slow", source);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pulled).toBeLessThan(bytes.length / 2);
    open();
    expect(Number((await sent).text)).toBeGreaterThan(noise.length - 70_000);
  });

  it("is destroyed, whatever happens to its body", async () => {
    const made = vi.spyOn(zlib, "createGunzip");
    syncBuiltinESMExports();
    const app = App.make(routes, { decompress });
    const good = gzipSync(noise.subarray(0, 90_000));
    const bodies = [
      good,
      good.subarray(0, 50_000),
      Buffer.concat([good, good.subarray(5)]),
      gzipSync(Buffer.alloc(5e6)),
      Buffer.from("no"),
    ];
    for (const path of ["size", "stream", "first", "name"]) for (const bytes of bodies) await send(app, path, bytes);
    await eventually(() =>
      expect(made.mock.results.filter(({ value }) => !(value as zlib.Gunzip).destroyed)).toEqual([]),
    );
    expect(made.mock.results).toHaveLength(20);
    made.mockRestore();
    syncBuiltinESMExports();
  });
});

it("a body whose request is answered before it has arrived is incomplete", async () => {
  const handled = vi.fn(() => "handled");
  const early = gate<Answer>();
  let late: Promise<Answer> | undefined;
  const racing: Middleware = (_request, next) => {
    late = next();
    return early.passed;
  };
  const app = App.make([post(Path.of("size"), { inputs: { body }, returns }, handled)], {
    decompress,
    middleware: [racing],
  });
  let wire: ReadableStreamDefaultController<Uint8Array> | undefined;
  const arriving = new ReadableStream<Uint8Array>({ start: (to) => void (wire = to) });
  const answered = send(app, "size", arriving);
  wire?.enqueue(gzipSync(noise).subarray(0, 100_000));
  await new Promise((resolve) => setTimeout(resolve, 20));
  early.open(Answer.make("early"));
  expect((await answered).text).toBe("early");
  wire?.close();
  expect((await late)?.status).toBe(400);
  expect(handled).not.toHaveBeenCalled();
});

describe("a body that is closed", () => {
  const late = { kind: "unreadable", detail: "the request was answered before its body was read" };
  const begun = () => {
    let give: (part: Uint8Array) => void = () => {};
    const read = (): Promise<Uint8Array> => new Promise((resolve) => (give = resolve));
    const source = { length: undefined, read, whole: () => {} };
    const decoded = decompress.decoded(source, ["gzip"], { network: undefined }) as DecodedSource;
    return { decoded, give: (part: Uint8Array) => give(part) };
  };

  it("fails the read that waits, and each later one", async () => {
    const { decoded, give } = begun();
    const read = decoded.read();
    decoded.close();
    give(gzipSync(noise));
    expect([await read, await decoded.read()]).toEqual([late, late]);
  });

  it("after a part of it was read fails the next read, in place of an end", async () => {
    const { decoded, give } = begun();
    const read = decoded.read();
    give(gzipSync(noise).subarray(0, 100_000));
    expect(await read).toBeInstanceOf(Uint8Array);
    decoded.close();
    expect(await decoded.read()).toEqual(late);
  });
});

describe("Test.call", () => {
  it("sends an encoded body like any other", async () => {
    const app = Test.app(routes, { decompress });
    const headers = { "content-encoding": "gzip", "content-type": "application/json" };
    const { status, body } = await Test.call(app, "POST", "/name", { headers, body: gzipSync('{"a":"kim"}') as never });
    expect([status, body]).toEqual([200, "kim"]);
  });
});

type Operation = { readonly parameters?: unknown; readonly responses: Record<string, { readonly headers?: unknown }> };
type Document = { readonly paths: Record<string, { readonly post: Operation }> };

describe("the document", () => {
  it("has the codings of the app that serves it", async () => {
    const docs = Openapi.docs(routes);
    const asked = async (app: App) =>
      (await (await app.fetch(new Request("http://localhost/openapi.json"))).json()) as Document;
    const parameter = {
      name: "Content-Encoding",
      in: "header",
      description: "How the body is compressed, where it is.",
      required: false,
      schema: { type: "string", enum: ["gzip", "br"] },
    };
    const plain = await asked(App.make([...routes, ...docs]));
    const reads = Decompress.make({ encodings: ["gzip", "br"] });
    const decoding = await asked(App.make([...routes, ...docs], { decompress: reads }));
    expect([plain, decoding].map(({ paths }) => paths["/size"]?.post.parameters)).toEqual([undefined, [parameter]]);
    expect([plain, decoding].map(({ paths }) => paths["/size"]?.post.responses["415"]?.headers)).toEqual([
      undefined,
      { "Accept-Encoding": { description: expect.any(String), schema: { type: "string" } } },
    ]);
    expect(JSON.stringify(Openapi.document(routes, { decompress: reads }))).toBe(JSON.stringify(decoding));
  });
});

it.each([
  [{ maxRatio: 0.5 }, "Decompress.make: maxRatio is a number, and not a number, 1 or more"],
  [{ maxRatio: Number.NaN }, "maxRatio"],
  [{ maxRatio: "200" }, "maxRatio"],
  [{ encodings: [] }, "Decompress.make: encodings is a list, and not a list of"],
  [{ encodings: ["compress"] }, "encodings"],
  [{ encodings: "gzip" }, "encodings"],
  [null, "Decompress.make: options is null, and not an object"],
])("%j is refused", (options, sentence) => {
  expect(() => Decompress.make(options as never)).toThrow(sentence);
});

it.each([null, {}, true, "gzip"])("an app refuses decompress: %j", (decompress) => {
  expect(() => App.make(routes, { decompress: decompress as never })).toThrow("not made by Decompress.make");
});
