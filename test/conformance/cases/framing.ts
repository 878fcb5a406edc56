/** The framing of a body (rows BD, AT): invalid framing ends the connection. */
import type { Expected, MessageCase, WireCase } from "../case.ts";
import { bare, broken, text } from "../expected.ts";
import { answers, halfCloses, head, sends } from "../steps.ts";

const chunked = "transfer-encoding: chunked";
const path = "POST /trailers";
const hello = text("hello -");
const unreadable: Expected = { ...broken, after: "closed" };
const lines = (headers: readonly string[]): readonly (readonly [string, string])[] =>
  headers.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()] as const);

type Row = readonly [id: string, what: string, framing: readonly string[], wire: string];

const reads: readonly Row[] = [
  ["BD-01", "a length", ["content-length: 5"], "hello"],
  ["BD-02", "one length on two lines", ["content-length: 5", "content-length: 5"], "hello"],
  ["BD-03", "a list of one length, twice", ["content-length: 5, 5"], "hello"],
  ["BD-04", "a list with nothing between", ["content-length: 5, , 5"], "hello"],
  ["BD-06", "a chunk with an extension", [chunked], "2;a=b\r\nhe\r\n3\r\nllo\r\n0;c\r\n\r\n"],
  ["BD-06", "an extension with a quoted value", [chunked], '5;a="b;c"\r\nhello\r\n0\r\n\r\n'],
  ["BD", "an extension with blanks around", [chunked], "5 ; a = b\r\nhello\r\n0\r\n\r\n"],
  ["BD-07, WR-12", "a trailer, which is no header", [chunked], "5\r\nhello\r\n0\r\nx-late: y\r\n\r\n"],
  ["BD-09", "a length with leading zeros", ["content-length: 0005"], "hello"],
  ["BD-10", "a chunk size with leading zeros", [chunked], "0005\r\nhello\r\n000\r\n\r\n"],
  ["BD", "a coding in capitals", ["Transfer-Encoding: CHUNKED"], "5\r\nhello\r\n0\r\n\r\n"],
];

const refused: readonly Row[] = [
  ["BD-12", "two lengths", ["content-length: 5", "content-length: 6"], "hello"],
  ["BD-13", "a list of two lengths", ["content-length: 5, 6"], "hello"],
  ["BD-15, AT-01", "a length beside chunks", ["content-length: 5", chunked], "0\r\n\r\n"],
  ["BD-15, AT-15", "chunks beside a length", [chunked, "content-length: 5"], "0\r\n\r\n"],
  ["BD-16", "gzip and no chunks", ["transfer-encoding: gzip"], "hello"],
  ["BD-16", "chunks that are not the last coding", ["transfer-encoding: chunked, gzip"], "hello"],
  ["BD-18", "chunked twice", ["transfer-encoding: chunked, chunked"], "0\r\n\r\n"],
  ["BD-19, AT-19", "chunked in two fields", [chunked, chunked], "0\r\n\r\n"],
  ["BD-21", "a length in hexadecimal", ["content-length: 0x2b"], "hello"],
  ["BD-22", "a length with a blank in it", ["content-length: 4 3"], "hello"],
  ["BD", "a length below 0", ["content-length: -5"], "hello"],
  ["BD", "a length with a plus", ["content-length: +5"], "hello"],
  ["BD", "a length past any integer", ["content-length: 99999999999999999999"], "hello"],
  ["BD", "an empty length", ["content-length:"], "hello"],
  [
    "AT-03",
    "a coding with a tab behind it, and a length",
    ["content-length: 5", "transfer-encoding: chunked\t"],
    "0\r\n\r\n",
  ],
  ["AT-04", "a coding in capitals, and a length", ["content-length: 5", "Transfer-Encoding: CHUNKED"], "0\r\n\r\n"],
  ["AT-06", "a coding like chunked, and a length", ["content-length: 5", "transfer-encoding: xchunked"], "0\r\n\r\n"],
  [
    "AT-07",
    "identity behind chunked, and a length",
    ["content-length: 5", "transfer-encoding: chunked, identity"],
    "0\r\n\r\n",
  ],
  [
    "AT-09",
    "a coding with a vertical tab, and a length",
    ["content-length: 5", "transfer-encoding:\u000bchunked"],
    "0\r\n\r\n",
  ],
  [
    "AT-10",
    "a coding with a blank before its colon, and a length",
    ["content-length: 5", "transfer-encoding : chunked"],
    "0\r\n\r\n",
  ],
  [
    "AT-12",
    "a coding folded onto the line before, and a length",
    ["content-length: 5", "x: y", " transfer-encoding: chunked"],
    "0\r\n\r\n",
  ],
  [
    "AT-13",
    "a coding behind a bare LF, and a length",
    ["content-length: 5", "x: y\ntransfer-encoding: chunked"],
    "0\r\n\r\n",
  ],
  [
    "AT-16",
    "chunked and another coding in two fields",
    [chunked, "transfer-encoding: x", "content-length: 5"],
    "0\r\n\r\n",
  ],
];

const unreadables: readonly Row[] = [
  ["BD-24", "a chunk size past any integer", [chunked], "fffffffffffffffff\r\nhello\r\n0\r\n\r\n"],
  ["BD-25", "a chunk size that is not hexadecimal", [chunked], "5\r\nhello\r\nzz\r\n"],
  ["BD-25", "a chunk size below 0", [chunked], "-1\r\n"],
  ["BD-25", "no chunk size", [chunked], "\r\nhello\r\n0\r\n\r\n"],
  ["BD-25", "a chunk longer than its size", [chunked], "3\r\nhello\r\n0\r\n\r\n"],
  ["BD-30", "a bare LF after the last chunk", [chunked], "5\r\nhello\r\n0\r\n\n"],
  ["BD-31", "a bare LF after a chunk", [chunked], "5\r\nhello\n0\r\n\r\n"],
  ["BD-31", "a bare LF after a chunk's size", [chunked], "5\nhello\r\n0\r\n\r\n"],
  ["BD-33", "a trailer with no colon", [chunked], "5\r\nhello\r\n0\r\nxyz\r\n\r\n"],
  ["BD-33", "a trailer with a control character", [chunked], "5\r\nhello\r\n0\r\nx: \u0001\r\n\r\n"],
  ["BD-34", "a folded trailer", [chunked], "5\r\nhello\r\n0\r\nx: y\r\n z\r\n\r\n"],
];

const cutShort: readonly Row[] = [
  ["BD-27", "a length", ["content-length: 9"], "hello"],
  ["BD-28", "chunks", [chunked], "5\r\nhello\r\n"],
  ["BD-28", "a chunk", [chunked], "9\r\nhello"],
];

const wire = (name: string, framing: readonly string[], bytes: string, ...rest: WireCase["steps"]): WireCase => {
  return { name, steps: [head(`${path} HTTP/1.1`, "host: h", ...framing), sends(bytes), ...rest] };
};

export const framing: readonly MessageCase[] = [
  ...reads.map(([id, what, framing, bytes]): MessageCase => {
    return { name: `${id} ${what} is read`, ask: path, headers: lines(framing), body: { wire: bytes }, answer: hello };
  }),
  ...unreadables.map(([id, what, framing, bytes]): MessageCase => {
    const name = `${id} ${what} is unreadable`;
    return { name, ask: path, headers: lines(framing), body: { wire: bytes }, answer: unreadable };
  }),
];

export const framingLines: readonly WireCase[] = [
  ...refused.map(([id, what, framing, bytes]) => wire(`${id} ${what} is refused`, framing, bytes, answers(bare(400)))),
  wire(
    "AT-18 gzip under chunks is refused",
    ["transfer-encoding: gzip, chunked"],
    "5\r\nhello\r\n0\r\n\r\n",
    answers(bare(501)),
  ),
  wire(
    "AT-18 identity, then chunks, is refused",
    ["transfer-encoding: identity", chunked],
    "5\r\nhello\r\n0\r\n\r\n",
    answers(bare(501)),
  ),
  ...cutShort.map(([id, what, framing, bytes]) =>
    wire(`${id} ${what} cut short is unreadable`, framing, bytes, halfCloses, answers(unreadable)),
  ),
];
