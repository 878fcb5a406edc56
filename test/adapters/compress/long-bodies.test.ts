/** Long bodies are compressed outside of the event loop, in a bounded number, and callers take turns. */
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Returns, body, get, post } from "usher-http";
import type { Middleware } from "usher-http";
import { Compress, Decompress } from "usher-http/compress";
import { Conditional } from "usher-http/conditional";
import { compressBytes, encodings, longBytes } from "../../../adapters/compress/codings.ts";
import { CompressionTurns } from "../../../adapters/compress/turns.ts";
import { ZstdFrames } from "../../../adapters/compress/zstd-frames.ts";
import { logged } from "../../support/logs.ts";
import { gate } from "../../support/gate.ts";
import type { Gate } from "../../support/gate.ts";
import { played } from "../../models/seeds.ts";

const decode = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;
const items = Array.from({ length: 30_000 }, (_, n) => `{"n":${n},"name":"item ${n * 7919}"}`);
const long = `[${items.join()}]`;
const at = Path.of("x");

const app = App.make(
  [
    get(at, { returns: Returns.response }, () =>
      Answer.make(long, { contentType: "application/json", headers: [["etag", '"v1"']] }),
    ),
    ...Conditional.tagJson([get(Path.of("tagged"), { returns: Returns.json(v.string()) }, () => long)]),
    get(Path.of("stream"), { returns: Returns.response }, () => {
      async function* parts() {
        yield new TextEncoder().encode(long);
        yield new TextEncoder().encode("end");
      }
      return Answer.stream(parts(), { contentType: "text/plain" });
    }),
  ],
  { middleware: [Compress.make()] },
);
const ask = (path: string, init: RequestInit & { readonly coding?: string } = {}, peer = "192.0.2.1") => {
  const { coding = "gzip", ...request } = init;
  const headers = new Headers(request.headers);
  headers.set("accept-encoding", coding);
  return app.fetch(new Request(`http://h${path}`, { ...request, headers }), { peer });
};

describe("a long body", () => {
  it.each(encodings)("is compressed by %s with its length, its tag, and the same for HEAD", async (coding) => {
    const [whole, head] = [await ask("/x", { coding }), await ask("/x", { coding, method: "HEAD" })];
    const bytes = new Uint8Array(await whole.arrayBuffer());
    expect(decode[coding](bytes).toString()).toBe(long);
    for (const { status, headers } of [whole, head]) {
      expect([status, headers.get("content-encoding"), headers.get("etag")]).toEqual([200, coding, `"v1-${coding}"`]);
      expect([headers.get("content-length"), headers.get("vary")]).toEqual([
        String(bytes.byteLength),
        "Accept-Encoding",
      ]);
    }
    // As small as at once, except for what each coding writes of its length.
    const once = compressBytes(new TextEncoder().encode(long), coding, 6).byteLength;
    expect(Math.abs(bytes.byteLength - once)).toBeLessThan(once / 100);
  });

  it("is a 500 where middleware gave it a header that cannot be written", async () => {
    const wrong: Middleware = async (_request, next) => ({ ...(await next()), headers: [["no name", "s3cret"]] });
    const route = get(at, { returns: Returns.response }, () => Answer.make(long));
    const headers = { "accept-encoding": "gzip" };
    for (const [middleware, status] of [
      [[Compress.make()], 200],
      [[wrong, Compress.make()], 500],
    ] as const) {
      const response = await App.make([route], { middleware }).fetch(new Request("http://h/x", { headers }));
      expect(response.status).toBe(status);
      await response.arrayBuffer();
    }
    expect(logged().join("\n")).not.toContain("s3cret");
  });

  it("is not compressed where the client has the version", async () => {
    const { headers } = await ask("/tagged");
    const tag = headers.get("etag") ?? "";
    const again = await ask("/tagged", { headers: { "if-none-match": tag } });
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, tag, ""]);
  });

  it.each(encodings)("leaves the event loop turns while it is compressed by %s", async (coding) => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await (await ask("/x", { coding })).arrayBuffer();
    isOver = true;
    // Each of its slices is a turn, at least.
    expect(turns).toBeGreaterThan(Math.floor(long.length / 262_144));
  });

  it("of a stream is compressed in slices, and is the same", async () => {
    const answer = await ask("/stream");
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()).toBe(`${long}end`);
  });

  it("of a client that leaves in the middle takes no turn from another one", async () => {
    const leaving = Array.from({ length: 10 }, () => new AbortController());
    const left = leaving.map(({ signal }) =>
      ask("/x", { signal }).then(
        (answer) => answer.arrayBuffer(),
        () => undefined,
      ),
    );
    await new Promise(setImmediate);
    for (const controller of leaving) controller.abort();
    expect((await ask("/x")).headers.get("content-encoding")).toBe("gzip");
    await Promise.all(left);
  });

  it("is sent as it is where too many wait, and that of another client is compressed", async () => {
    const flood = Array.from({ length: 30 }, () => ask("/x"));
    const other = await ask("/x", {}, "198.51.100.7");
    expect(other.headers.get("content-encoding")).toBe("gzip");
    const codings = await Promise.all(
      flood.map(async (answer) => {
        const { headers } = await answer;
        const text = new Uint8Array(await (await answer).arrayBuffer());
        const coding = headers.get("content-encoding");
        expect((coding === null ? Buffer.from(text) : gunzipSync(text)).toString()).toBe(long);
        expect([headers.get("vary"), headers.get("etag")]).toEqual([
          "Accept-Encoding",
          coding === null ? '"v1"' : '"v1-gzip"',
        ]);
        return coding;
      }),
    );
    // Two run and sixteen wait, of one client.
    expect(codings.filter((coding) => coding === "gzip")).toHaveLength(18);
  });

  it("of the longest length that is compressed at once makes no turn", async () => {
    const text = "x".repeat(longBytes);
    const short = App.make([get(at, { returns: Returns.text }, () => text)], { middleware: [Compress.make()] });
    const answer = await short.fetch(new Request("http://h/x", { headers: { "accept-encoding": "gzip" } }));
    expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()).toBe(text);
  });
});

/** A compression in a model of turns. */
interface Waiting {
  readonly caller: string;
  readonly over: Gate;
  state: "waits" | "runs" | "over" | "left";
}

describe("the turns of compressions", () => {
  it("are two at once, callers take turns, and what may leave does so where its caller has sixteen", async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ caller: fc.constantFrom("a", "a", "a", "b", "c"), mayLeave: fc.boolean() }) },
      fc.record({ end: fc.nat({ max: 3 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const turns = new CompressionTurns();
        const all: Waiting[] = [];
        const started: Waiting[] = [];
        for (const one of steps) {
          if ("end" in one) {
            const running = all.filter(({ state }) => state === "runs");
            const ended = running[one.end % Math.max(1, running.length)];
            const next = nextOf(all);
            ended?.over.open();
            await new Promise(setImmediate);
            if (ended !== undefined && next !== undefined) expect(started.at(-1)?.caller).toBe(next);
          } else {
            const waiting: Waiting = { caller: one.caller, over: gate(), state: "waits" };
            const before = all.filter(({ caller, state }) => caller === one.caller && state === "waits").length;
            const isFull = all.filter(({ state }) => state === "runs").length === 2 && before >= 16;
            all.push(waiting);
            void turns
              .run(one.caller, one.mayLeave, async () => {
                waiting.state = "runs";
                started.push(waiting);
                await waiting.over.passed;
                return "done";
              })
              .then((done) => (waiting.state = done === undefined ? "left" : "over"));
            await new Promise(setImmediate);
            if (isFull) expect(waiting.state).toBe(one.mayLeave ? "left" : "waits");
          }
          const running = all.filter(({ state }) => state === "runs").length;
          expect(running).toBe(Math.min(2, all.filter(({ state }) => state === "runs" || state === "waits").length));
        }
        for (const { over } of all) over.open();
        for (let turn = 0; turn < all.length + 2; turn++) await new Promise(setImmediate);
        expect(all.every(({ state }) => state === "over" || state === "left")).toBe(true);
      }),
      played(60),
    );
  });
});

/** The caller whose turn is next, where only one waits. */
function nextOf(all: readonly Waiting[]): string | undefined {
  const waiting = new Set(all.filter(({ state }) => state === "waits").map(({ caller }) => caller));
  const [only] = waiting;
  return waiting.size === 1 ? only : undefined;
}

describe("the memory of decoders", () => {
  const taking = (maxMemory: number) =>
    App.make([post(at, { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength))], {
      decompress: Decompress.make({ maxMemory }),
    });
  /** A body whose first part has arrived, and whose rest has not. */
  const begun = (app: App, bytes: Uint8Array, coding: string, peer: string) => {
    let sending!: ReadableStreamDefaultController<Uint8Array>;
    const stream = new ReadableStream<Uint8Array>({ start: (to) => void (sending = to) });
    sending.enqueue(bytes.subarray(0, 20));
    const init: RequestInit = { method: "POST", body: stream, duplex: "half", headers: { "content-encoding": coding } };
    const answer = app.fetch(new Request("http://h/x", init), { peer });
    const end = async () => {
      sending.enqueue(bytes.subarray(20));
      sending.close();
      return (await answer).status;
    };
    return { answer, end };
  };
  const text = Buffer.from("text ".repeat(1000));
  const wide = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });

  it("is bounded for one client, and given back", async () => {
    const app = taking(100_000_000);
    const first = begun(app, wide, "br", "192.0.2.1");
    await new Promise(setImmediate);
    const second = await begun(app, wide, "br", "192.0.2.1").answer;
    expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await begun(app, wide, "br", "198.51.100.7").end()).toBe(200);
    expect(await begun(app, gzipSync(text), "gzip", "192.0.2.1").end()).toBe(200);
    expect(await first.end()).toBe(200);
    for (let round = 0; round < 10; round++) expect(await begun(app, wide, "br", "192.0.2.1").end()).toBe(200);
  });

  it.skipIf(!encodings.includes("zstd"))("counts the window that a frame of zstd has in its head", () => {
    for (const length of [0, 100, 300, 70_000, 5_000_000]) {
      const frames = new ZstdFrames();
      const bytes = zstdCompressSync(Buffer.alloc(length, "text "), { pledgedSrcSize: length });
      for (const byte of bytes) frames.take(Uint8Array.of(byte));
      expect(frames.isWhole).toBe(true);
      expect(frames.window).toBeGreaterThanOrEqual(Math.min(length, 1024));
      expect(frames.window).toBeLessThanOrEqual(8_388_608);
    }
  });
});
