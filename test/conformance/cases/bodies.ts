/** Bodies: held whole, read as they arrive, or unread (rows BS, SV-06). */
import type { Expected, MessageCase, WireCase } from "../case.ts";
import { missing, notAllowed, text, tooLong, unsupportedType } from "../expected.ts";
import { answers, closed, head, sends } from "../steps.ts";

const as = (type: string) => [["content-type", type]] as const;
const octets = as("application/octet-stream");
const every = Uint8Array.from({ length: 256 }, (_, i) => i);
const hex = Buffer.from(every).toString("hex");
const chunks = (count: number, size: number) => ({ chunks: Array.from({ length: count }, () => "x".repeat(size)) });

const whole: readonly MessageCase[] = [
  { name: "BS every byte there is", ask: "POST /bytes", body: every, answer: text(hex) },
  {
    name: "BS every byte there is, in chunks",
    ask: "POST /bytes",
    body: { chunks: [every.subarray(0, 100), every.subarray(100)] },
    answer: text(hex),
  },
  { name: "BS no body", ask: "POST /bytes", answer: text("") },
  { name: "BS a body of nothing", ask: "POST /bytes", body: "", answer: text("") },
  { name: "BS chunks of nothing", ask: "POST /bytes", body: { chunks: [] }, answer: text("") },
  { name: "BS many chunks", ask: "POST /size", body: chunks(500, 7), answer: text("3500 bytes") },
  { name: "BS a body of 1 MiB", ask: "POST /size", body: "x".repeat(1_048_576), answer: text("1048576 bytes") },
  {
    name: "BS-13 parsed by the application",
    ask: "POST /upper",
    headers: as("text/csv"),
    body: "abc",
    answer: text("ABC"),
  },
  { name: "BS-13 another type", ask: "POST /upper", headers: as("image/png"), body: "abc", answer: unsupportedType },
  { name: "BS-13 no type", ask: "POST /upper", body: "abc", answer: unsupportedType },
  {
    name: "IN-21 parsed once for its two users",
    ask: "POST /twice",
    headers: as("text/plain"),
    body: "ab",
    answer: text("ABAB"),
  },
];

const streamed: readonly MessageCase[] = [
  {
    name: "BS-01 read in parts",
    ask: "POST /upload",
    headers: octets,
    body: "x".repeat(150_000),
    answer: text("150000 bytes"),
  },
  {
    name: "BS-01 read in parts, in chunks",
    ask: "POST /upload",
    headers: octets,
    body: chunks(3, 60_000),
    answer: text("180000 bytes"),
  },
  { name: "BS-02 at its end at once", ask: "POST /upload", headers: octets, body: "", answer: text("0 bytes") },
  { name: "BS-02 none at all", ask: "POST /upload", headers: octets, answer: text("0 bytes") },
  { name: "BS-04 another type", ask: "POST /upload", headers: as("text/plain"), body: "abc", answer: unsupportedType },
  {
    name: "BS-06 a range of types, without case and parameters",
    ask: "POST /images",
    headers: as("IMAGE/png; q=1"),
    body: "abc",
    answer: text("abc"),
  },
  { name: "BS-06 a suffix", ask: "POST /images", headers: as("application/ld+json"), body: "abc", answer: text("abc") },
  { name: "BS-06 a type", ask: "POST /images", headers: as("text/csv"), body: "abc", answer: text("abc") },
  { name: "BS-06 none of them", ask: "POST /images", headers: as("text/html"), body: "abc", answer: unsupportedType },
  {
    name: "BS-08 the app's own limit is none of a stream's",
    on: "small",
    ask: "POST /any",
    body: "x".repeat(90),
    answer: text("90 bytes"),
  },
  { name: "BS-09 in chunks", ask: "POST /any", body: { chunks: ["hello ", "world"] }, answer: text("11 bytes") },
];

const limits: readonly MessageCase[] = [
  {
    name: "BS-03 past the route's limit, by its length",
    ask: "POST /images",
    headers: as("text/csv"),
    body: "x".repeat(1001),
    answer: tooLong(),
  },
  {
    name: "BS-10 past the route's limit, in chunks",
    ask: "POST /images",
    headers: as("text/csv"),
    body: chunks(1, 1001),
    answer: tooLong(),
  },
  { name: "SV-06 up to the limit", on: "small", ask: "POST /size", body: "x".repeat(32), answer: text("32 bytes") },
  {
    name: "SV-06 up to the limit, in chunks",
    on: "small",
    ask: "POST /size",
    body: chunks(2, 16),
    answer: text("32 bytes"),
  },
  {
    name: "SV-06 past it, and the connection is kept",
    on: "small",
    ask: "POST /size",
    body: "x".repeat(33),
    answer: tooLong(),
  },
  {
    name: "SV-06 past it in chunks, and the connection is kept",
    on: "small",
    ask: "POST /size",
    body: chunks(3, 11),
    answer: tooLong(),
  },
  {
    name: "SV-06 64 KiB past it, and the connection is kept",
    on: "small",
    ask: "POST /size",
    body: "x".repeat(65_536),
    answer: tooLong(),
  },
];

/** Unread bytes are never taken for a request. */
const smuggled = "GET /ok HTTP/1.1\r\nhost: h\r\n\r\n";
const nobodys: readonly MessageCase[] = [
  { name: "WR-03 a body that nobody reads", ask: "POST /ignored", body: smuggled, answer: text("ignored") },
  {
    name: "WR-03 one in chunks",
    ask: "POST /ignored",
    body: { chunks: [smuggled, smuggled] },
    answer: text("ignored"),
  },
  { name: "WR-03 one of a handler that waits", ask: "POST /ignored/later", body: smuggled, answer: text("ignored") },
  {
    name: "WR-03 one of a handler that waits, in chunks",
    ask: "POST /ignored/later",
    body: { chunks: [smuggled] },
    answer: text("ignored"),
  },
  { name: "WR-03 one of no route", ask: "POST /nowhere", body: smuggled, answer: missing },
  { name: "WR-03 one of another method", ask: "PUT /ok", body: smuggled, answer: notAllowed("GET, HEAD") },
  { name: "WR-03 one of a GET", ask: "GET /ok", body: smuggled, answer: text("ok") },
  { name: "WR-03 64 KiB of it", ask: "POST /ignored", body: "x".repeat(65_536), answer: text("ignored") },
];

// Not all of it is sent: a client that still sends on a closed connection may lose the answer.
const most = "x".repeat(65_536);
const twoChunks = `10000\r\n${most}\r\n`.repeat(2);
const unread = (name: string, path: string, framing: string, bytes: string, answer: Expected): WireCase => {
  return { name, steps: [head(`POST ${path} HTTP/1.1`, "host: h", framing), sends(bytes), answers(answer), closed] };
};
const ignored = text("ignored", { after: "closed" });
const refused = tooLong({ after: "closed" });

export const unreadBodies: readonly WireCase[] = [
  unread("SV-06 far past the limit is refused unread", "/size", "content-length: 2097152", "", refused),
  {
    ...unread(
      "SV-06 past the limit in chunks that never end",
      "/size",
      "transfer-encoding: chunked",
      twoChunks,
      refused,
    ),
    on: "small",
  },
  unread("WR-04 more than 64 KiB that nobody reads", "/ignored", "content-length: 131072", "", ignored),
  unread(
    "WR-04 more than 64 KiB that nobody reads, most of it sent",
    "/ignored",
    "content-length: 4194304",
    most,
    ignored,
  ),
  unread(
    "WR-04 more than 64 KiB that nobody reads, in chunks",
    "/ignored",
    "transfer-encoding: chunked",
    twoChunks,
    ignored,
  ),
];

export const bodies: readonly MessageCase[] = [...whole, ...streamed, ...limits, ...nobodys];
