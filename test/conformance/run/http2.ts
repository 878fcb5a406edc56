import type { ClientHttp2Session } from "node:http2";
import { http2Ask } from "../../support/http2-client.ts";
import type { Expected, MessageCase } from "../case.ts";
import { lineOf } from "./request-bytes.ts";
import { differences } from "./seen.ts";
import type { Allowance } from "./seen.ts";

/** Fields of one HTTP/1.1 connection (RFC 9113 §8.2.2). */
const ofConnection = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te"]);
/** Fields that Node's client sends in one line. */
const single = new Set(["authorization", "content-type", "content-length", "if-none-match", "etag", "range", "origin"]);
const printable = /^[\t\x20-\x7e]*$/;

/** Why a case has no meaning in HTTP/2, or cannot be sent by Node's client; undefined if it can. */
export function withoutHttp2({ ask, headers = [], hostless, body, answer }: MessageCase): string | undefined {
  const [method = "", target = "", version = ""] = lineOf(ask).split(" ");
  const names = headers.map(([name]) => name.toLowerCase());
  const hosts = names.filter((name) => name === "host");
  if (answer.bare === true || version !== "HTTP/1.1") return "it is of HTTP/1.1's own syntax";
  if (hostless === true || hosts.length > 1) return "an authority is one";
  if (typeof body === "object" && "wire" in body) return "HTTP/2 frames a body itself";
  if (names.some((name) => ofConnection.has(name))) return "HTTP/2 has no such field";
  if (/^[a-z]+:/i.test(target) || method === "CONNECT") return "a target has its scheme and authority apart";
  if (names.some((name, i) => single.has(name) && names.indexOf(name) !== i)) return "Node's client sends one line";
  if (headers.some(([, value]) => !printable.test(value))) return "Node's client encodes such a value another way";
  return undefined;
}

/** Sends over HTTP/2; a body twice, with Content-Length and without, because frames end it (RFC 9113 §8.1). */
export async function askHttp2(
  session: () => Promise<ClientHttp2Session>,
  one: MessageCase,
  allows: Allowance,
): Promise<readonly string[]> {
  const { body } = one;
  const head = headOf(one);
  if (typeof body !== "string" && !ArrayBuffer.isView(body)) return askOnce(await session(), head, one, allows);
  const length = String(Buffer.byteLength(body));
  const wrong = await askOnce(await session(), { "content-length": length, ...head }, one, allows);
  if (wrong.length > 0 || head["content-length"] !== undefined) return wrong;
  const without = await askOnce(await session(), head, one, allows);
  return without.map((what) => `without its length: ${what}`);
}

type Head = Record<string, string | string[]>;

function headOf({ ask, headers = [] }: MessageCase): Head {
  const [method = "", target = ""] = lineOf(ask).split(" ");
  const head: Head = { ":method": method, ":path": target, ":authority": "h" };
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    const before = head[name];
    if (name === "host") head[":authority"] = value;
    else if (before === undefined) head[name] = value;
    else head[name] = [before, value].flat();
  }
  return head;
}

async function askOnce(
  session: ClientHttp2Session,
  head: Head,
  { body, answer }: MessageCase,
  allows: Allowance,
): Promise<readonly string[]> {
  const parts = typeof body === "object" && "chunks" in body ? body.chunks : (body as string | Uint8Array | undefined);
  const { status, raw, body: text } = await http2Ask(session, head, parts);
  const lines = raw.flatMap((name, i) => (i % 2 === 1 || name.startsWith(":") ? [] : [[name, raw[i + 1]] as const]));
  const seen = { status, head: lines as (readonly [string, string])[], body: text };
  return differences(seen, overHttp2(answer), {
    toHead: head[":method"] === "HEAD",
    oldVersion: false,
    allows,
  });
}

/** The parts of an answer in HTTP/2: frames end it, and the connection is kept. */
function overHttp2(answer: Expected): Expected {
  return { ...answer, framing: answer.framing === "chunked" ? "none" : answer.framing, after: "kept" };
}
