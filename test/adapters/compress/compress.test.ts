/** Compressed answers: the rows CM, each coding, streams and events as they arrive, and the versions of each. */
import { once } from "node:events";
import { get as httpGet } from "node:http";
import type { IncomingMessage } from "node:http";
import { createGunzip, brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Answer, App, Cors, Event, Meta, Path, Refusal, Returns, get, html, post, refuse } from "usher-http";
import type { Middleware } from "usher-http";
import { Compress } from "usher-http/compress";
import { GzippedParts } from "../../../adapters/compress/gzip-parts.ts";
import { Conditional } from "usher-http/conditional";
import * as v from "valibot";
import { eventually } from "../../support/eventually.ts";
import { logWith, messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const large = JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ n, name: `item ${n}` })));
const hasZstd = typeof zstdDecompressSync === "function";
const decode = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;

async function ask(
  made: () => Answer | Promise<Answer>,
  headers: Headers | Record<string, string>,
  {
    method = "GET",
    middleware = Compress.make(),
    more = {},
  }: { method?: string; middleware?: Middleware; more?: object } = {},
) {
  const route = get(Path.root, { returns: Returns.response, ...more }, made as never);
  const { fetch } = App.make([route], { middleware: [middleware] });
  const response = await fetch(new Request("http://localhost/", { method, headers }));
  const bytes = Buffer.from(await response.arrayBuffer());
  const coding = response.headers.get("content-encoding") as keyof typeof decode | null;
  const text = bytes.length === 0 ? "" : (coding === null ? bytes : decode[coding](bytes)).toString();
  return { status: response.status, headers: response.headers, bytes, coding, text };
}
const json = (headers: readonly (readonly [string, string])[] = []) =>
  Answer.make(large, { contentType: "application/json", headers });

describe("a compressed answer", () => {
  it.each<readonly [id: string, accepts: readonly string[], coding: string | null]>([
    ["CM-01", ["gzip, br"], "gzip"],
    ["CM-03", ["br", "gzip"], "gzip"],
    ["CM-04", ["identity"], null],
    ["br alone", ["br"], "br"],
    ["br rather", ["gzip;q=0.5, br"], "br"],
    ["any", ["*"], "gzip"],
    ["any but gzip", ["gzip;q=0, *"], "br"],
    ["none of them", ["gzip;q=0, br;q=0, zstd;q=0"], null],
    ["rather plain", ["identity, gzip;q=0.5"], null],
    ["rather gzip", ["identity;q=0.5, gzip"], "gzip"],
    ["unknown", ["deflate, compress"], null],
    ["unreadable", ["gzip;q=2"], null],
    ["in capitals", ["GZIP"], "gzip"],
    ["gzip by its old name", ["X-GZip, br;q=0.5"], "gzip"],
    ["any but gzip by its old name", ["x-gzip;q=0, *"], "br"],
    ["another old name", ["x-compress"], null],
    ["empty", [""], null],
    ["nothing asked", [], null],
  ])("%s of %j is %s", async (_id, accepts, coding) => {
    const headers = new Headers();
    for (const line of accepts) headers.append("accept-encoding", line);
    const answered = await ask(() => json([["etag", '"v1"']]), headers);
    expect([answered.status, answered.coding, answered.text]).toEqual([200, coding, large]);
    expect(answered.headers.get("vary")).toBe("Accept-Encoding");
    expect(answered.headers.get("etag")).toBe(coding === null ? '"v1"' : `"v1-${coding}"`);
    expect(answered.headers.get("content-length")).toBe(String(answered.bytes.length));
  });

  it("CM-02 has the same Content-Length for HEAD", async () => {
    const accepts = { "accept-encoding": "gzip" };
    const [whole, head] = [await ask(json, accepts), await ask(json, accepts, { method: "HEAD" })];
    expect(head.headers.get("content-length")).toBe(String(whole.bytes.length));
    expect(head.bytes).toHaveLength(0);
  });

  it.skipIf(!hasZstd)("is compressed by zstd where the runtime has it", async () => {
    expect(await ask(json, { "accept-encoding": "zstd" })).toMatchObject({ coding: "zstd", text: large });
  });

  it.each<readonly [id: string, made: () => Answer, vary: string | null]>([
    ["CM-06 short", () => Answer.make("[1]", { contentType: "application/json" }), "Accept-Encoding"],
    ["CM-07 a picture", () => Answer.make(new Uint8Array(4096), { contentType: "image/png" }), null],
    ["CM-09 no-transform", () => json([["cache-control", "public, no-transform"]]), null],
    ["CM-10 its own coding", () => json([["content-encoding", "br"]]), null],
    ["CM-10 206", () => Answer.make(large, { status: 206 }), null],
    [
      "CM-13 a stream of a length",
      () => Answer.stream(parts(large), { length: large.length, contentType: "text/plain" }),
      null,
    ],
    ["bytes of no type", () => Answer.make(Buffer.from(large), { contentType: "application/octet-stream" }), null],
    ["empty", () => Answer.empty({ status: 200 }), null],
  ])("%s is not compressed", async (_id, made, vary) => {
    const { headers, text } = await ask(made, { "accept-encoding": "gzip" }).catch(() => ({
      headers: new Headers(),
      text: "",
    }));
    expect([headers.get("content-encoding") === "gzip", headers.get("vary")]).toEqual([false, vary]);
    expect(text.length).toBeLessThanOrEqual(large.length);
  });

  it("is not compressed on a route with compression off", async () => {
    const more = { meta: Meta.empty.add(Compress.never, true) };
    const { coding, headers } = await ask(json, { "accept-encoding": "gzip" }, { more });
    expect([coding, headers.get("vary")]).toEqual([null, null]);
  });
});

describe("a compressed answer of any kind", () => {
  it.each([
    ["vary", "Accept", "Accept, Accept-Encoding"],
    ["Vary", "accept-encoding, Accept", "accept-encoding, Accept"],
    ["vary", "*", "*"],
  ])("has %s: %s as %s", async (name, value, vary) => {
    expect((await ask(() => json([[name, value]]), { "accept-encoding": "gzip" })).headers.get("vary")).toBe(vary);
  });

  it("keeps the Vary of CORS", async () => {
    const route = get(Path.root, { returns: Returns.response }, () => json());
    const cors = Cors.make({ origins: ["https://a.example"] });
    const { fetch } = App.make([route], { cors, middleware: [Compress.make()] });
    const headers = { "accept-encoding": "gzip", origin: "https://a.example" };
    const vary = (await fetch(new Request("http://localhost/", { headers }))).headers.get("vary")?.toLowerCase();
    expect(vary?.split(", ").toSorted()).toEqual(["accept-encoding", "origin"]);
  });

  it("of any text can be decoded", async () => {
    const middleware = Compress.make({ minBytes: 0 });
    const coding = fc.constantFrom("gzip", "br");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 2000 }), coding, async (text, coding) => {
        const answered = await ask(() => Answer.make(text), { "accept-encoding": coding }, { middleware });
        expect(answered.text).toBe(text);
      }),
      { numRuns: 100 },
    );
  });

  it("that is a long refusal is compressed, with its own status", async () => {
    const wrong = Refusal.code("wrong", { status: 422, doc: "It is wrong." });
    const long = "no ".repeat(1000);
    const { status, text, coding } = await ask(
      () => refuse(wrong, long) as never,
      { "accept-encoding": "gzip" },
      { more: { refuses: [wrong] } },
    );
    expect([status, JSON.parse(text).message, coding]).toEqual([422, long, "gzip"]);
  });
});

async function* parts(text: string, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

describe("conditional requests with compression", () => {
  const versioned = () => Conditional.answer(json(), { etag: "v1" });
  it.each([
    [{ "if-none-match": '"v1-gzip"', "accept-encoding": "gzip" }, 304, '"v1-gzip"'],
    [{ "if-none-match": '"v1"', "accept-encoding": "gzip" }, 304, '"v1-gzip"'],
    [{ "if-none-match": '"v1"' }, 304, '"v1"'],
    [{ "if-none-match": '"v1-gzip"' }, 200, '"v1"'],
    [{ "if-none-match": '"v2-gzip"', "accept-encoding": "gzip" }, 200, '"v1-gzip"'],
    [{ "if-match": '"v1-gzip"', "accept-encoding": "gzip" }, 200, '"v1-gzip"'],
    [{ "if-match": '"v2"', "accept-encoding": "gzip" }, 412, null],
  ])("%j is %i with %s", async (headers, status, etag) => {
    const answered = await ask(versioned, headers);
    expect([answered.status, answered.headers.get("etag")]).toEqual([status, etag]);
    if (status !== 412) expect(answered.headers.get("vary")).toBe("Accept-Encoding");
  });

  it.each([
    ['"v1"', 206],
    // Its bytes would not continue those that the client has.
    ['"v1-gzip"', 200],
    ['"v2"', 200],
  ])("of If-Range: %s give %i", async (tag, status) => {
    const ranged = () => Conditional.ranged(Buffer.from(large), { etag: "v1", contentType: "application/json" });
    const headers = { range: "bytes=100-1999", "if-range": tag, "accept-encoding": "gzip" };
    const { status: got, coding, text } = await ask(ranged, headers);
    expect([got, coding, text]).toEqual(status === 206 ? [206, null, large.slice(100, 2000)] : [200, "gzip", large]);
  });

  it.each([
    ['"v1-gzip"', 200],
    ['"v1-br"', 200],
    ['"v0", "v1-zstd"', 200],
    ['"v1"', 200],
    ['W/"v1-gzip"', 412],
    ['"v2-gzip"', 412],
    ['"v1-other"', 412],
    ['"v1-gzip-gzip"', 412],
  ])("of a PUT or DELETE with If-Match that was read as %s end with %i", async (tag, status) => {
    const inputs = { precondition: Conditional.precondition };
    const refuses = [Conditional.preconditionFailed];
    const change = post(Path.root, { inputs, returns: Returns.text, refuses }, ({ precondition }) => {
      return precondition({ etag: "v1" }) ?? "changed";
    });
    const { fetch } = App.make([change], { middleware: [Compress.make()] });
    const headers = { "if-match": tag };
    expect((await fetch(new Request("http://localhost/", { method: "POST", headers }))).status).toBe(status);
  });

  it("are evaluated before compression, ranges too", async () => {
    const ranged = () => Conditional.ranged(Buffer.from(large), { etag: "v1", contentType: "application/json" });
    const part = await ask(ranged, { range: "bytes=0-1999", "accept-encoding": "gzip" });
    expect([part.status, part.coding, part.text]).toEqual([206, null, large.slice(0, 2000)]);
    const whole = await ask(ranged, { "accept-encoding": "gzip" });
    expect([whole.coding, whole.text, whole.headers.get("accept-ranges")]).toEqual(["gzip", large, null]);
  });

  it("work with the tags of JSON for each coding", async () => {
    const Item = v.object({ text: v.string() });
    const routes = Conditional.tagJson([get(Path.root, { returns: Returns.json(Item) }, () => ({ text: large }))]);
    const { fetch } = App.make(routes, { middleware: [Compress.make()] });
    const first = await fetch(new Request("http://localhost/", { headers: { "accept-encoding": "br" } }));
    const etag = first.headers.get("etag") as string;
    expect(etag).toMatch(/^W\/"[^"]+-br"$/);
    const headers = { "accept-encoding": "br", "if-none-match": etag };
    expect((await fetch(new Request("http://localhost/", { headers }))).status).toBe(304);
  });
});

describe("a compressed stream", () => {
  it("may be a platform stream, or a streamed page", async () => {
    const accepts = { "accept-encoding": "gzip" };
    const stream = () => Answer.stream(new Blob([large]).stream(), { contentType: "text/plain" });
    expect(await ask(stream, accepts)).toMatchObject({ coding: "gzip", text: large });
    async function* rows() {
      for (let n = 0; n < 3; n++) yield await new Promise<string>((resolve) => setTimeout(resolve, 2, `<${n}`));
    }
    const page = () => Answer.html(html`<p>${rows()}</p>`);
    expect(await ask(page, accepts)).toMatchObject({ coding: "gzip", text: "<p>&lt;0&lt;1&lt;2</p>" });
  });

  it("of any chunks can be decoded, and ends with a trailer", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 10 }), async (all) => {
        async function* made() {
          yield* all;
        }
        const stream = () => Answer.stream(made(), { contentType: "text/plain" });
        const { coding, bytes } = await ask(stream, { "accept-encoding": "gzip" });
        expect(coding).toBe("gzip");
        expect(gunzipSync(bytes)).toEqual(Buffer.concat(all));
      }),
      { numRuns: 50 },
    );
  });

  it("of one chunk of ten megabytes can be decoded", async () => {
    const part = Buffer.alloc(10_000_000, "abcdefg");
    async function* made() {
      yield part;
      yield part;
    }
    const { bytes } = await ask(() => Answer.stream(made(), { contentType: "text/plain" }), {
      "accept-encoding": "gzip",
    });
    expect(gunzipSync(bytes).equals(Buffer.concat([part, part]))).toBe(true);
  });

  it("is gzip only: a client that accepts only brotli gets it uncompressed", async () => {
    const stream = () => Answer.stream(parts(large), { contentType: "text/plain" });
    expect(await ask(stream, { "accept-encoding": "br" })).toMatchObject({ coding: null, text: large });
    expect(await ask(stream, { "accept-encoding": "br, gzip;q=0.1" })).toMatchObject({ coding: "gzip", text: large });
  });

  it("that fails is cut off, and its producer ends", async () => {
    logWith({ level: "error" });
    let ended = false;
    async function* failing() {
      try {
        yield Buffer.from("begun");
        throw new Error("no");
      } finally {
        ended = true;
      }
    }
    const route = get(Path.root, { returns: Returns.response }, () =>
      Answer.stream(failing(), { contentType: "text/plain" }),
    );
    const { port } = await start([route], { middleware: [Compress.make()] });
    const client = await RawClient.to(port);
    client.ask("GET /", ["Accept-Encoding: gzip"]);
    await client.closed();
    expect(ended).toBe(true);
    expect(messages("error")).toHaveLength(1);
  });
});

it("a compressed stream that ends while a part is made has no part any more", async () => {
  let give: (part: Uint8Array) => void = () => {};
  const cancel = async (): Promise<void> => {};
  const gzipped = new GzippedParts({ next: () => new Promise((resolve) => (give = resolve)), cancel }, 6, undefined);
  await gzipped.next();
  const next = gzipped.next();
  await gzipped.return();
  give(new Uint8Array(100));
  const end = { done: true, value: undefined };
  expect([await next, await gzipped.next()]).toEqual([end, end]);
});

describe("compressed event streams", () => {
  const said = Event.text("said");

  it("CM-12 can be read event by event, and end with a trailer", async () => {
    let go: (() => void) | undefined;
    const route = get(Path.root, { returns: Returns.events([said]) }, () => async (send) => {
      for (const word of ["one", "two", "three"]) {
        await send(Event.make(said, word));
        await new Promise<void>((resolve) => (go = resolve));
      }
    });
    const { port } = await start([route], { middleware: [Compress.make()] });
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { "accept-encoding": "identity" } });
    await response.body?.cancel();
    const gunzip = createGunzip();
    let text = "";
    gunzip.on("data", (bytes: Buffer) => (text += bytes.toString()));
    const ended = once(gunzip, "end");
    const asked = httpGet({ port, host: "127.0.0.1", headers: { "accept-encoding": "gzip" } });
    const [answered] = (await once(asked, "response")) as [IncomingMessage];
    answered.pipe(gunzip);
    for (const word of ["one", "two", "three"]) {
      await eventually(() => expect(text).toContain(`data: ${word}\n\n`));
      expect(text.endsWith(`data: ${word}\n\n`)).toBe(true);
      go?.();
    }
    await ended;
  });

  it("end when their client disconnects", async () => {
    let ended = 0;
    const route = get(Path.root, { returns: Returns.events([said]) }, () => async (send) => {
      try {
        for (;;) {
          if (!(await send(Event.make(said, "x".repeat(10_000)))).ok) return;
        }
      } finally {
        ended++;
      }
    });
    const { port } = await start([route], { middleware: [Compress.make()] });
    for (let i = 0; i < 5; i++) {
      const client = await RawClient.to(port);
      client.ask("GET /", ["Accept-Encoding: gzip"]);
      await once(client.socket, "data");
      client.leave();
    }
    await eventually(() => expect(ended).toBe(5));
  });
});

it.each<readonly [options: unknown, message: string]>([
  [null, "Compress.make: options is null, and not an object"],
  [{ minBytes: -1 }, "Compress.make: minBytes is a number, and not a number of bytes"],
  [{ minBytes: "1" }, "Compress.make: minBytes is a string"],
  [{ level: 0 }, "Compress.make: level is a number, and not a whole number from 1 to 9"],
  [{ level: 2.5 }, "Compress.make: level is a number"],
  [{ types: "text/html" }, "Compress.make: types is a string, and not a list of texts"],
  [{ encodings: ["deflate"] }, "Compress.make: encodings is a list, and not"],
  [{ encodings: "gzip" }, "Compress.make: encodings is a string, and not"],
])("wrong options are refused: %j", (options, message) => {
  expect(() => Compress.make(options as never)).toThrow(message);
});

it("accepts types and codings of the application", async () => {
  const middleware = Compress.make({ types: ["image/*", "x/y.z"], encodings: ["br"], minBytes: 10, level: 9 });
  const of = (contentType: string) => () => Answer.make(large, { contentType });
  const accepts = { "accept-encoding": "gzip, br;q=0.1" };
  expect((await ask(of("image/bmp"), accepts, { middleware })).coding).toBe("br");
  expect((await ask(of("x/y.z; a=b"), accepts, { middleware })).coding).toBe("br");
  expect((await ask(of("x/y-z"), accepts, { middleware })).coding).toBeNull();
  expect((await ask(of("text/html"), accepts, { middleware })).coding).toBeNull();
});
