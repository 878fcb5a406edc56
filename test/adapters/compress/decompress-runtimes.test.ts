/** Encoded bodies on every runtime, over its own listener: what is read, and what becomes of one that lies. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { get as httpGet } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { RawClient, header } from "../../support/raw-client.ts";
import type { RawAnswer } from "../../support/raw-client.ts";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import { rows as rowsOfRun } from "../../support/wide.ts";
import { bundle, start as startWorker } from "../workers/running.ts";

const program = join(import.meta.dirname, "program.mjs");
const json = Buffer.from('{"a":"hello"}');
const random = randomBytes(90_000);
const zeros = (length: number): Buffer => Buffer.alloc(length);
const cut = (bytes: Buffer): Buffer => bytes.subarray(0, -6);
const broken = (bytes: Buffer, from: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[bytes.length + from] = (copy[bytes.length + from] as number) ^ 0xff;
  return copy;
};
const gzipped = gzipSync(json);
// This Node may have no zstd.
const zstd = {
  json: Buffer.from("KLUv/SANaQAAeyJhIjoiaGVsbG8ifQ==", "base64"),
  zeros: Buffer.from("KLUv/aCghgEAVQAAEAAAAQCbhjnAAg==", "base64"),
  wide: Buffer.from("KLUv/QSIaQAAeyJhIjoiaGVsbG8ifWU7TTootS/9JAABAACZ6dhR", "base64"),
};
// A skippable frame of three bytes (RFC 8878 §3.1.2).
const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const boundary = "content-type: multipart/form-data; boundary=B";
const form = (file: Buffer): Buffer => {
  const head = '--B\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n';
  return Buffer.concat([Buffer.from(head), file, Buffer.from("\r\n--B--\r\n")]);
};

type Row = readonly [
  name: string,
  path: string,
  headers: readonly string[],
  body: Buffer,
  answer: string | 400 | 413 | 415,
  /** Of a decoder that reads every frame of zstd: those of Bun and of Node since 26. */
  everyFrame?: string,
];
const rows: readonly Row[] = [
  ["gzip", "/json", ["content-encoding: gzip"], gzipped, "hello"],
  ["in capitals", "/json", ["content-encoding: GZip"], gzipped, "hello"],
  ["by its old name", "/json", ["content-encoding: x-gzip"], gzipped, "hello"],
  ["identity", "/json", ["content-encoding: identity"], json, "hello"],
  ["identity beside", "/json", ["content-encoding: , identity, gzip"], gzipped, "hello"],
  ["an empty field", "/json", ["content-encoding:"], json, "hello"],
  ["br", "/json", ["content-encoding: br"], brotliCompressSync(json), "hello"],
  ["zstd", "/json", ["content-encoding: zstd"], zstd.json, "hello"],
  ["deflate", "/json", ["content-encoding: deflate"], deflateSync(json), "hello"],
  [
    "a form",
    "/form",
    ["content-type: application/x-www-form-urlencoded", "content-encoding: gzip"],
    gzipSync("a=one+two"),
    "one two",
  ],
  ["a file of a form", "/file", [boundary, "content-encoding: br"], brotliCompressSync(form(random)), "90000"],
  ["parts", "/parts", [boundary, "content-encoding: gzip"], gzipSync(form(random)), "90000"],
  ["bytes", "/bytes", ["content-encoding: gzip"], gzipSync(random), "90000"],
  ["text", "/text", ["content-type: text/plain", "content-encoding: br"], brotliCompressSync("words"), "words"],
  ["a stream", "/stream", ["content-encoding: gzip"], gzipSync(Buffer.concat(Array(20).fill(random))), "1800000"],
  ["a body that no route reads", "/unread", ["content-encoding: gzip"], gzipped, "unread"],
  ["the header's own reader", "/raw", ["content-encoding: br, gzip"], gzipped, `br, gzip ${gzipped.length}`],
  ["two members", "/bytes", ["content-encoding: gzip"], Buffer.concat([gzipped, gzipped]), "26"],
  [
    "as long as the limit",
    "/bytes",
    ["content-encoding: gzip"],
    gzipSync(Buffer.concat([random, json]), { level: 0 }),
    "90013",
  ],
  ["nothing", "/bytes", ["content-encoding: gzip"], Buffer.alloc(0), "0"],
  ["gzip of nothing", "/bytes", ["content-encoding: gzip"], gzipSync(""), "0"],
  ["two frames of zstd", "/bytes", ["content-encoding: zstd"], Buffer.concat([zstd.json, zstd.json]), 400, "26"],
  ["a frame to skip, and one", "/json", ["content-encoding: zstd"], Buffer.concat([skipped, zstd.json]), 400, "hello"],
  // What lies.
  ["plain text", "/bytes", ["content-encoding: gzip"], json, 400],
  ["plain text as br", "/bytes", ["content-encoding: br"], json, 400],
  ["plain text as zstd", "/bytes", ["content-encoding: zstd"], json, 400],
  ["plain text as deflate", "/bytes", ["content-encoding: deflate"], json, 400],
  ["deflate without zlib's frame", "/bytes", ["content-encoding: deflate"], deflateRawSync(json), 400],
  ["gzip cut", "/bytes", ["content-encoding: gzip"], cut(gzipSync(random)), 400],
  ["one byte of gzip", "/bytes", ["content-encoding: gzip"], gzipped.subarray(0, 1), 400],
  ["br cut", "/bytes", ["content-encoding: br"], cut(brotliCompressSync(random)), 400],
  ["zstd cut", "/bytes", ["content-encoding: zstd"], cut(zstd.json), 400],
  ["deflate cut", "/stream", ["content-encoding: deflate"], cut(deflateSync(random)), 400],
  ["a wrong checksum", "/bytes", ["content-encoding: gzip"], broken(gzipped, -6), 400],
  ["a wrong length", "/bytes", ["content-encoding: gzip"], broken(gzipped, -1), 400],
  ["more behind gzip", "/bytes", ["content-encoding: gzip"], Buffer.concat([gzipped, json]), 400],
  ["zeros behind gzip", "/bytes", ["content-encoding: gzip"], Buffer.concat([gzipped, zeros(8)]), 400],
  ["more behind br", "/bytes", ["content-encoding: br"], Buffer.concat([brotliCompressSync(json), json]), 400],
  ["more behind deflate", "/bytes", ["content-encoding: deflate"], Buffer.concat([deflateSync(json), json]), 400],
  ["more behind zstd", "/bytes", ["content-encoding: zstd"], Buffer.concat([zstd.json, json]), 400],
  ["a window of 128 MiB", "/bytes", ["content-encoding: zstd"], zstd.wide, 400],
  // What is too long.
  ["one byte too long", "/bytes", ["content-encoding: gzip"], gzipSync(zeros(100_001)), 413],
  ["a bomb of gzip", "/bytes", ["content-encoding: gzip"], gzipSync(zeros(10_000_000)), 413],
  ["a bomb of br", "/json", ["content-encoding: br"], brotliCompressSync(zeros(10_000_000)), 413],
  [
    "a bomb of deflate",
    "/form",
    ["content-type: application/x-www-form-urlencoded", "content-encoding: deflate"],
    deflateSync(zeros(10_000_000)),
    413,
  ],
  ["a bomb of zstd, within the limit", "/bytes", ["content-encoding: zstd"], zstd.zeros, 413],
  ["a bomb within the limit", "/bytes", ["content-encoding: gzip"], gzipSync(zeros(99_000)), 413],
  ["a bomb in a stream", "/stream", ["content-encoding: gzip"], gzipSync(zeros(3_000_000)), 413],
  ["a bomb in a form", "/parts", [boundary, "content-encoding: br"], brotliCompressSync(form(zeros(3_000_000))), 413],
  [
    "empty members for ever",
    "/stream",
    ["content-encoding: gzip"],
    Buffer.concat(Array(20_000).fill(gzipSync(""))),
    413,
  ],
  ["a declared length past it", "/bytes", ["content-encoding: gzip"], gzipSync(Buffer.concat([random, random])), 413],
  // What is not read.
  ["gzip twice", "/json", ["content-encoding: gzip, gzip"], gzipSync(gzipped), 415],
  ["gzip on two lines", "/json", ["content-encoding: gzip", "content-encoding: gzip"], gzipSync(gzipped), 415],
  ["another coding", "/json", ["content-encoding: compress"], gzipped, 415],
  ["no coding", "/bytes", ["content-encoding: gzip;q=1"], gzipped, 415],
  ["16 KiB of codings", "/bytes", [`content-encoding: ${"gzip,".repeat(1600)}`], gzipped, 415],
];
const codes = { 400: "unreadable", 413: "too_large", 415: "unsupported_media_type" } as const;

const root = join(import.meta.dirname, "../../..");
const access = ["--allow-read", "--allow-env", "--allow-net", "--allow-sys"];
const deno = ["run", "--no-config", "--node-modules-dir=manual", ...access];
// The paths of tsconfig.json lead Bun to the source.
const bun = ["--tsconfig-override", join(root, "examples/tsconfig.json")];

const worker = `
import { options, routes } from "../compress/encoded-routes.mjs";
import { worker } from "../../../adapters/workers/index.ts";
export default worker(routes, options);`;

type Connect = () => Promise<RawClient>;
const spawned = (...command: readonly [string, ...string[]]): Promise<Connect> =>
  SpawnedServer.start(command, program).then(
    ({ port }) =>
      () =>
        RawClient.to(port),
  );
const workerd = async (): Promise<Connect> => {
  const running = await startWorker(await bundle({ contents: worker }), { flags: ["nodejs_compat"] });
  return () => running.client();
};

const servers = rowsOfRun<readonly [name: string, started: () => Promise<Connect>]>(
  [
    ["the newest Node", () => spawned(runtimes["node-newest"]())],
    ["Bun", () => spawned(runtimes.bun(), ...bun)],
    ["Deno", () => spawned(runtimes.deno(), ...deno)],
    ["Workers", workerd],
  ],
  [
    ["the oldest Node", () => spawned(runtimes["node-oldest"]())],
    ["Node 22", () => spawned(runtimes["node-22"]())],
    ["Node 24", () => spawned(runtimes["node-24"]())],
  ],
);

it.each(servers)("an encoded body on %s is read, or refused", async (name, started) => {
  const connect = await started();
  const hasZstd = name !== "the oldest Node";
  const [got, expected]: unknown[][] = [[], []];
  for (const framing of ["length", "chunked"] as const) {
    for (const [what, path, headers, body, usual, everyFrame = usual] of rows) {
      const given = name === "Bun" || name === "the newest Node" ? everyFrame : usual;
      const answer = headers.includes("content-encoding: zstd") && !hasZstd ? 415 : given;
      const sent = await answered(await connect(), path, headers, body, framing);
      got?.push([framing, what, sent.status, sent.status === 200 ? sent.body : errorOf(sent.body), codings(sent)]);
      const accepted = answer === 415 ? (hasZstd ? "gzip, br, zstd, deflate" : "gzip, br, deflate") : undefined;
      const told = typeof answer === "string" ? [200, answer] : [answer, codes[answer]];
      expected?.push([framing, what, ...told, accepted]);
    }
  }
  expect(got).toEqual(expected);
  // A length of 0 is no body. A body in chunks has one, which nothing knows to be empty before it is read.
  const coded = ["content-encoding: compress"];
  const none = await answered(await connect(), "/bytes", coded, Buffer.alloc(0), "length");
  expect([none.status, none.body]).toEqual([200, "0"]);
  expect((await answered(await connect(), "/bytes", coded, Buffer.alloc(0), "chunked")).status).toBe(415);
  const events = await sent(await connect(), "/events", "gzip");
  const words = ["one", "two", "x".repeat(100_000), "three"];
  expect(gunzipSync(events).toString()).toBe(words.map((word) => `event: said\ndata: ${word}\n\n`).join(""));
  for (const [field, coding] of accepting) {
    const large = await sent(await connect(), "/large", field);
    const text = coding === "gzip" ? gunzipSync(large) : coding === "br" ? brotliDecompressSync(large) : large;
    expect([field.slice(0, 30), text.toString()]).toEqual([field.slice(0, 30), "a line of text\n".repeat(1000)]);
  }
  expect((await (await connect()).ask("POST /json", [], '{"a":"plain"}').answer()).body).toBe("plain");
});

async function answered(
  client: RawClient,
  path: string,
  headers: readonly string[],
  body: Buffer,
  framing: "length" | "chunked",
): Promise<RawAnswer> {
  const framed = framing === "length" ? `content-length: ${body.length}` : "transfer-encoding: chunked";
  client.send(`POST ${path} HTTP/1.1`, "host: h", framed, ...headers, "", "");
  client.socket.write(framing === "length" ? body : chunks(body));
  const answer = await client.answer();
  client.leave();
  return answer;
}

/** What a field that no client should send gets; the first row is one that they do. */
const accepting: readonly (readonly [field: string, coding: "gzip" | "br" | "none"])[] = [
  ["gzip, deflate, br", "gzip"],
  ["gzip;q=1e9", "none"],
  ["gzip;q=-1", "none"],
  ["gzip;q=0.0001", "none"],
  ["gzip;q=", "none"],
  ["gzip;q=1;q=0", "none"],
  ["gzip;q=0, gzip", "none"],
  ["gzip, gzip;q=0", "gzip"],
  ["*;q=0", "none"],
  ["*;q=0, br", "br"],
  ["identity;q=0", "none"],
  ["identity;q=0, *;q=0", "none"],
  ["gzip,,,, ,\tbr", "gzip"],
  ["gzip\u00e9", "none"],
  ['"gzip"', "none"],
  ["gzip ".repeat(2700), "none"],
  [",".repeat(14_000), "none"],
  ["gzip,".repeat(2700), "gzip"],
  [`${"a;q=0.5,".repeat(1700)}br`, "br"],
];

/** The body of a response as it was sent. */
async function sent(client: RawClient, path: string, accepts: string): Promise<Buffer> {
  const port = client.socket.remotePort;
  const asked = httpGet({ port, host: "127.0.0.1", path, agent: false, headers: { "accept-encoding": accepts } });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  client.leave();
  return Buffer.concat(parts);
}

const codings = (sent: RawAnswer): string | undefined => header(sent, "accept-encoding");
const errorOf = (text: string): unknown => (JSON.parse(text) as { readonly error: string }).error;

function chunks(body: Buffer): Buffer {
  const size = 5000;
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}
