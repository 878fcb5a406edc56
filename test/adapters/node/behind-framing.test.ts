/**
 * Bytes that are pipelined after a request with invalid framing (RFC 9112 §2.3, §6.1, §6.3, §7.1) are never answered, on any
 * Node. The cases are those that parsers of HTTP/1.1 are tested with.
 */
import { describe, expect, it } from "vitest";
import type { ServeOptions } from "usher-http/node";
import { nodes, programOf } from "./nodes.ts";

interface Options extends ServeOptions {
  readonly app: "plain";
}

const start = programOf<Options>(new URL("out-of-turn-program.ts", import.meta.url));

const post = "POST /size HTTP/1.1\r\nhost: h\r\n";
const chunked = "transfer-encoding: chunked\r\n";
const chunks = "5\r\nhello\r\n0\r\n\r\n";
const sized = (length: string): string => `${post}content-length: ${length}\r\n\r\nhello`;
const inChunks = (text: string): string => `${post}${chunked}\r\n${text}`;
const version = (text: string): string => `GET /ok ${text}\r\nhost: h\r\n\r\n`;

const rows: readonly (readonly [what: string, bytes: string, status: number])[] = [
  // An HTTP/1.0 proxy may see another end of the body, so the connection is closed (§6.1).
  ["chunks of HTTP/1.0", `POST /size HTTP/1.0\r\nhost: h\r\n${chunked}\r\n${chunks}`, 200],
  [
    "chunks of HTTP/1.0 that asks to go on",
    `POST /size HTTP/1.0\r\nhost: h\r\nconnection: keep-alive\r\n${chunked}\r\n${chunks}`,
    200,
  ],
  ...["HTTP/1.10", "HTTP/01.1", "HTTP/1.", "HTTP/1,1", "HTTP /1.1", "HTTP/1.1 ", "HTTP/1.1\t", "ICE/1.0"].map(
    (text) => [`the version ${JSON.stringify(text)}`, version(text), 400] as const,
  ),
  // Lengths above 2^64 and 2^32, whose remainder is the length of the bytes that follow.
  ["a length of 2^64 + 5", sized("18446744073709551621"), 400],
  ["a length of 2^32 + 5", sized("4294967301"), 413],
  ...["5.0", "5e0", "5_0", "-0", '"5"', "5;", "\u000b5", "5\u00a0"].map(
    (text) => [`a length of ${JSON.stringify(text)}`, sized(text), 400] as const,
  ),
  ["a chunk's size of 2^64 + 5", inChunks("10000000000000005\r\nhello\r\n0\r\n\r\n"), 400],
  ...["0x5", "+5", " 5", "5_0", "5 5", "5\0", ";a", "5;a\0", "5;a\rb", "5;a\nb", '5;a="b', "5\r"].map(
    (size) => [`a chunk's size of ${JSON.stringify(size)}`, inChunks(`${size}\r\nhello\r\n0\r\n\r\n`), 400] as const,
  ),
  ["a chunk that ends in other bytes", inChunks("5\r\nhelloXX0\r\n\r\n"), 400],
  ["chunks without a last one", inChunks("5\r\nhello\r\n\r\n"), 400],
  ["a request in place of trailers", inChunks("5\r\nhello\r\n0\r\nGET /ok HTTP/1.1\r\nhost: h\r\n\r\n"), 400],
  ["a length in a trailer", inChunks("5\r\nhello\r\n0\r\ncontent-length: 5\r\n\r\n"), 400],
  ["a coding in a trailer", inChunks(`5\r\nhello\r\n0\r\n${chunked}\r\n`), 400],
  ["a field that ends in two CRs", `GET /ok HTTP/1.1\r\nhost: h\r\nx: y\r\r\n\r\n`, 400],
  ["a CR before the next line", `GET /ok HTTP/1.1\r\nhost: h\r\n\rZGET /ok: HTTP/1.1\r\nhost: h\r\n\r\n`, 400],
];

describe.each(nodes)("after a request with invalid framing, on %s", (node) => {
  it("no further request is answered", async () => {
    const server = await start(node, { app: "plain" });
    for (const [what, bytes, status] of rows) {
      const client = await server.client();
      client.send(`${bytes}GET /held/hidden HTTP/1.1\r\nhost: h\r\n\r\n`);
      expect((await client.answer()).status, what).toBe(status);
      expect(await client.rest(), what).toBe("");
    }
    expect(server.logged.filter((line) => line.includes("hidden"))).toEqual([]);
  });
});
