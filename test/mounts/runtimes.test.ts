/** Mounts, and what `fetch` got, on each runtime. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { serverOfFile } from "../support/http-server.ts";
import { ways } from "./routes.ts";
import { started } from "./started.ts";

const plain = Buffer.from("hello hello hello");
// The oldest Node cannot make it.
const zstd = Buffer.from("KLUv/SARZQAAMGhlbGxvIAEAMUoR", "base64");
const encoded: { readonly [coding: string]: Buffer } = {
  gzip: gzipSync(plain),
  GZIP: gzipSync(plain),
  "x-gzip": gzipSync(plain),
  deflate: deflateSync(plain),
  br: brotliCompressSync(plain),
  zstd,
  "gzip, br": brotliCompressSync(gzipSync(plain)),
  "not-a-coding": plain,
  identity: plain,
};

/** The other server: codings by their name, the digest of an upload, a stream of events, a body that is cut. */
async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, kind, name = ""] = (asked.url ?? "").split("/");
  if (kind === "coding") {
    const coding = decodeURIComponent(name);
    const bytes = encoded[coding] ?? plain;
    response.writeHead(200, { "content-encoding": coding, "content-length": bytes.length, etag: '"one"' });
    response.end(asked.method === "HEAD" ? undefined : bytes);
  } else if (kind === "upload") {
    const hash = createHash("sha256");
    let length = 0;
    for await (const part of asked) {
      hash.update(part as Buffer);
      length += (part as Buffer).length;
    }
    response.end(JSON.stringify({ length, hash: hash.digest("hex"), via: asked.headers["x-one"] ?? null }));
  } else if (kind === "half") {
    asked.on("data", () => half.push("part"));
    asked.on("end", () => half.push("whole"));
    asked.on("close", () => half.push("closed"));
    asked.on("error", () => {});
  } else if (kind === "events") {
    response.writeHead(200, { "content-type": "text/event-stream", connection: "x-hop", "x-hop": "1", "x-kept": "1" });
    response.write("data: one\n\n");
    // workerd tells that a client has gone only when more is sent to it.
    const ticking = name === "ticking" ? setInterval(() => response.write("data: more\n\n"), 50) : undefined;
    response.on("close", () => {
      clearInterval(ticking);
      leftEvents++;
    });
  } else if (kind === "silent") {
    asked.resume();
    silent++;
    response.on("close", () => leftSilent++);
  } else if (kind === "cut") {
    response.writeHead(200, { "content-length": "100" });
    response.write("part");
    setImmediate(() => response.destroy());
  } else {
    response.writeHead(404, { "set-cookie": ["a=1", "b=2"], date: "Mon, 01 Jan 2001 00:00:00 GMT" });
    response.end("none");
  }
}

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** How many requests got no answer, and how many of those have ended. */
let silent = 0;
let leftSilent = 0;
/** What arrived of an upload whose client left in the middle of it. */
let half: string[] = [];
/** How many streams of events have ended. */
let leftEvents = 0;
let url: string;
let at: number;
function ask(path: string, method = "GET", body?: Buffer, upstream = url): Promise<Got> {
  const headers = { "x-upstream": path.startsWith("/coding/") ? `${url}${path}` : upstream, "x-one": "1" };
  return new Promise((resolve, reject) => {
    const read = async (came: IncomingMessage): Promise<Got> => {
      const parts: Buffer[] = [];
      for await (const part of came) parts.push(part as Buffer);
      const { statusCode: status = 0, headers, rawHeaders } = came;
      return { status, headers, rawHeaders, body: Buffer.concat(parts) };
    };
    const asking = request({ port: at, host: "127.0.0.1", path, method, headers, agent: false });
    asking.on("response", (came) => void read(came).then(resolve, reject));
    asking.on("error", reject).end(body);
  });
}

beforeAll(async () => {
  ({ url } = await serverOfFile((asked, response) => void answer(asked, response)));
});

describe.each(Object.keys(started))("on %s", (runtime) => {
  it("mounts, passes on, and says of each body what its bytes are", async () => {
    at = await (started[runtime] as () => Promise<number>)();
    const other = await ask("/other/a%20b?c", "PUT", Buffer.from("text"));
    expect(other).toMatchObject({ status: 203, headers: { "x-method": "PUT", "x-path": "/other/a%20b" } });
    expect(other.body.toString()).toBe("text");
    expect(other.headers["set-cookie"]).toEqual(["a=1; Path=/", "b=2; Expires=Wed, 09 Jun 2027 10:18:14 GMT"]);

    for (const coding of Object.keys(encoded)) {
      const { status, headers, body } = await ask(`/coding/${encodeURIComponent(coding)}`);
      const named = headers["content-encoding"];
      const isPlain = named === undefined || coding === "not-a-coding" || coding === "identity";
      const etag = named === undefined ? 'W/"one"' : '"one"';
      expect([coding, status, body.toString("base64"), headers.etag]).toEqual([
        coding,
        200,
        (isPlain ? plain : (encoded[coding] as Buffer)).toString("base64"),
        etag,
      ]);
      expect([undefined, String(body.length)]).toContain(headers["content-length"]);
    }

    const none = await ask("/proxy/none");
    expect([none.status, none.body.toString(), none.headers["set-cookie"]]).toEqual([404, "none", ["a=1", "b=2"]]);
    expect(none.rawHeaders.filter((name) => name.toLowerCase() === "date").length).toBeLessThanOrEqual(1);
    expect(none.headers.date).not.toContain("2001");

    const sent = Buffer.alloc(3_000_000, "abcdefg");
    const uploaded = await ask("/proxy/upload", "POST", sent);
    expect(JSON.parse(uploaded.body.toString())).toEqual({
      length: sent.length,
      hash: createHash("sha256").update(sent).digest("hex"),
      via: "1",
    });

    await expect(ask("/proxy/cut")).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
    // What comes after is whole.
    expect((await ask("/other")).status).toBe(203);
  });

  it("passes on an event as it comes, and ends the other server's answer when the client leaves", async () => {
    at = await (started[runtime] as () => Promise<number>)();
    const path = runtime === "workers" ? "/proxy/events/ticking" : "/proxy/events";
    const asking = request({
      port: at,
      host: "127.0.0.1",
      path,
      headers: { "x-upstream": url },
    }).end();
    const [came] = (await once(asking, "response")) as [IncomingMessage];
    const [first] = (await once(came, "data")) as [Buffer];
    expect(first.toString()).toBe("data: one\n\n");
    expect(came.headers).toMatchObject({ "content-type": "text/event-stream", "x-kept": "1" });
    expect(came.headers).not.toHaveProperty("x-hop");
    came.destroy();
    await expect.poll(() => leftEvents, { timeout: 20_000 }).toBeGreaterThan(0);
    leftEvents = 0;
  });

  // workerd ends a body whose length it does not know as if it were whole, without Usher, too.
  const knowsLengths = runtime === "workers";
  const streaming = ways.filter((way) => !["its signal", "AbortSignal.any"].includes(way));
  const cut = knowsLengths ? ["a body of its length"] : streaming;
  const framings = knowsLengths ? ["content-length"] : ["content-length", "transfer-encoding"];
  it.each(framings)("sends no half of an upload on as a whole one, where its client leaves: %s", async (framing) => {
    at = await (started[runtime] as () => Promise<number>)();
    const lengths = framing === "content-length" ? { "content-length": 20_000 } : {};
    for (const way of cut) {
      half = [];
      const headers = { "x-upstream": `${url}/half`, ...lengths };
      const path = `/use/${encodeURIComponent(way)}`;
      const asking = request({ port: at, host: "127.0.0.1", path, method: "POST", headers, agent: false });
      asking.on("error", () => {});
      asking.write(Buffer.alloc(10_000));
      await expect.poll(() => half, { timeout: 20_000 }).toContain("part");
      asking.destroy();
      await expect.poll(() => [way, ...new Set(half)], { timeout: 20_000 }).toEqual([way, "part", "closed"]);
    }
  });

  it("gives a Request that can be copied, cloned and sent on, and whose body is read once", async () => {
    at = await (started[runtime] as () => Promise<number>)();
    for (const way of ways) {
      const got = await ask(`/use/${encodeURIComponent(way)}`, "POST", Buffer.from("text"), `${url}/upload`);
      const { "x-is": is, "x-aborted": aborted } = got.headers;
      expect([way, got.status, is, aborted]).toEqual([way, 200, "true", "false"]);
      expect(JSON.parse(got.body.toString())).toMatchObject({ length: 4, via: "1" });
      expect([way, (await ask(`/use/${encodeURIComponent(way)}`, "GET", undefined, `${url}/none`)).status]).toEqual([
        way,
        404,
      ]);
    }
  });

  // workerd reports a client that has gone only when something is sent to it.
  it.skipIf(runtime === "workers")("ends what was sent on when the client leaves, in each way", async () => {
    at = await (started[runtime] as () => Promise<number>)();
    for (const way of ways) {
      silent = 0;
      leftSilent = 0;
      const headers = { "x-upstream": `${url}/silent` };
      const path = `/use/${encodeURIComponent(way)}`;
      const asking = request({ port: at, host: "127.0.0.1", path, headers, agent: false }).end();
      asking.on("error", () => {});
      await expect.poll(() => silent, { timeout: 20_000 }).toBe(1);
      asking.destroy();
      await expect.poll(() => [way, leftSilent], { timeout: 20_000 }).toEqual([way, 1]);
    }
  });
});
