/** What hostile and clumsy clients do, as data that fast-check makes and shrinks: a few connections, and steps on each. */
import fc from "fast-check";

/** One thing that the client of one connection does. */
export type Step =
  /** Bytes, a character each, which reach the server in pieces of at most `piece` bytes. */
  | { readonly does: "send"; readonly bytes: string; readonly piece: number }
  /** Another connection's request is answered before the next step, so that the server has read the earlier bytes. */
  | { readonly does: "turn" }
  /** Waits for bytes that were not there yet, or for a turn of the server where none come. */
  | { readonly does: "look" }
  | { readonly does: "stop-reading" }
  | { readonly does: "read-on" }
  | { readonly does: "half-close" }
  | { readonly does: "close" }
  | { readonly does: "reset" };

/** Steps in the order in which they happen; `on` is the connection. */
export type Script = readonly { readonly on: number; readonly step: Step }[];

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "FOO"];
const weightedMethod = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("GET", "POST") },
  { weight: 2, arbitrary: fc.constantFrom("CONNECT", "HEAD") },
  { weight: 2, arbitrary: fc.constantFrom(...methods) },
);

/** Of the application that the conformance cases ask. `k` is a gate that is never opened. */
const targets = [
  "/ok",
  "/hello/kim",
  "/echo",
  "/size",
  "/upload",
  "/any",
  "/parts",
  "/profile",
  "/picture",
  "/ignored",
  "/ignored/later",
  "/large",
  "/nowhere",
  "/several",
  "/wait/k",
  "/never/k",
  "/held/k",
  "/reading/k",
  "/stream/head/k",
  "/stream/quiet/k",
  "/stream/endless/k",
  "/stream/flood/k",
  "/stream/download/length/k",
  "/events/all",
  "/events/none",
  "/events/wait/k",
  "/events/quiet/k",
  "/taken/k",
  "/taken/k/floods",
  "/socket/lines",
  "/socket/bytes",
  "/socket/named/k",
  "/socket/texts/k",
  "/socket/small/k",
  "/socket/silent/k",
  "/socket/later/k",
  "/socket/refuses",
  "/socket/returns",
  "/socket/closes/k",
  "/socket/floods/k",
  "/socket/waits/k",
  "/socket/deaf/k",
];
const odd = ["*", "a:80", ":", "a:99999", "http://a/ok", "http://[::1/ok", "/%zz", "//", "/\xff", "?", "/ok#a", "/a b"];
const target = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...targets) },
  { weight: 1, arbitrary: fc.constantFrom(...odd) },
);

const key = "dGhlIHNhbXBsZSBub25jZQ==";
const handshake = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  `Sec-WebSocket-Key: ${key}`,
];
const lines = [
  "Host: b",
  "Host: a b",
  "Connection: close",
  "Connection: keep-alive",
  "Connection: Upgrade",
  "Connection: keep-alive, upgrade",
  "Connection: close, upgrade",
  "Upgrade: websocket",
  "Upgrade: h2c",
  "Upgrade: h2c, websocket",
  "Upgrade: ",
  "Upgrade: echo",
  "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
  "Sec-WebSocket-Version: 12",
  `Sec-WebSocket-Key: ${key}`,
  "Sec-WebSocket-Key: a",
  "Sec-WebSocket-Protocol: chat",
  "Sec-WebSocket-Protocol: chat, chat",
  "Sec-WebSocket-Protocol: chat,,x",
  "Sec-WebSocket-Extensions: permessage-deflate",
  "Sec-WebSocket-Extensions: ;;=",
  "Expect: 100-continue",
  "Expect: y 100-continue",
  "Expect: 200-ok",
  "Transfer-Encoding: ",
  "Transfer-Encoding: gzip",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: \xa0chunked",
  "Content-Length: 3",
  "Content-Length: -1",
  "Content-Length: 99999999999999999999",
  "Content-Type: application/json",
  "Content-Type: application/x-www-form-urlencoded",
  "Content-Type: multipart/form-data; boundary=x",
  "Content-Type: multipart/form-data",
  "Origin: http://elsewhere",
  "Sec-Fetch-Site: cross-site",
  "Cookie: a=b; ;=",
  "Range: bytes=0-1",
  "X-A : b",
  " folded",
  "X-\x00: a",
];
const line = fc.constantFrom(...lines);

/** After a head: nothing, a whole body, one that lacks its end, one that is too long, or bytes that are not HTTP. */
interface Body {
  readonly framing: readonly string[];
  readonly bytes: string;
}
const text = fc.oneof(
  fc.constantFrom(
    "",
    "abc",
    "{}",
    '{"a":',
    "a=b&c",
    "%&".repeat(20),
    "--x\r\n\r\n",
    "x".repeat(5000),
    "x".repeat(70_000),
  ),
  fc.constant('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'),
);
const body: fc.Arbitrary<Body> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ framing: [], bytes: "" }) },
  { weight: 2, arbitrary: text.map((bytes) => ({ framing: [`Content-Length: ${bytes.length}`], bytes })) },
  { weight: 2, arbitrary: text.map((bytes) => ({ framing: [`Content-Length: ${bytes.length + 7}`], bytes })) },
  { weight: 1, arbitrary: text.map((bytes) => ({ framing: ["Content-Length: 1"], bytes })) },
  {
    weight: 2,
    arbitrary: text.map((bytes) => ({ framing: ["Transfer-Encoding: chunked"], bytes: `${chunk(bytes)}0\r\n\r\n` })),
  },
  { weight: 1, arbitrary: text.map((bytes) => ({ framing: ["Transfer-Encoding: chunked"], bytes: chunk(bytes) })) },
  { weight: 1, arbitrary: fc.constant({ framing: ["Transfer-Encoding: chunked"], bytes: "zz\r\nabc\r\n" }) },
  { weight: 1, arbitrary: fc.constant({ framing: ["Transfer-Encoding: chunked"], bytes: "0\r\nA: b\r\n\r\n" }) },
);

function chunk(bytes: string): string {
  return bytes === "" ? "" : `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
}

const version = fc.oneof(
  { weight: 12, arbitrary: fc.constant("HTTP/1.1") },
  { weight: 1, arbitrary: fc.constantFrom("HTTP/1.0", "HTTP/2.0", "HTTP/1.9", "HTTX/1.1") },
);
const plain = fc
  .tuple(weightedMethod, target, version, fc.array(line, { maxLength: 3 }), body)
  .map(([method, target, version, lines, { framing, bytes }]) => {
    return `${[`${method} ${target} ${version}`, "Host: a", ...lines, ...framing, "", ""].join("\r\n")}${bytes}`;
  });
const upgrade = fc
  .tuple(
    fc.constantFrom("GET", "GET", "HEAD", "POST"),
    target,
    fc.subarray(handshake, { minLength: 2 }),
    fc.array(line, { maxLength: 2 }),
    body,
  )
  .map(([method, target, handshake, lines, { framing, bytes }]) => {
    return `${[`${method} ${target} HTTP/1.1`, "Host: a", ...handshake, ...lines, ...framing, "", ""].join("\r\n")}${bytes}`;
  });
const wholeUpgrade = fc
  .constantFrom(
    "/socket/texts/k",
    "/socket/named/k",
    "/socket/floods/k",
    "/socket/waits/k",
    "/socket/later/k",
    "/taken/k",
  )
  .map((target) => [`GET ${target} HTTP/1.1`, "Host: a", ...handshake, "", ""].join("\r\n"));

/** Frames of a WebSocket, masked by zeroes; some break RFC 6455. */
const frames = [
  "\x81\x82\0\0\0\0hi",
  "\x82\x82\0\0\0\0hi",
  "\x01\x82\0\0\0\0hi",
  "\x80\x82\0\0\0\0hi",
  "\x89\x80\0\0\0\0",
  "\x8a\x80\0\0\0\0",
  "\x88\x80\0\0\0\0",
  "\x88\x82\0\0\0\0\x03\xe8",
  "\x88\x81\0\0\0\0a",
  "\x88\x82\0\0\0\0\0\0",
  "\x81\x02hi",
  "\xf1\x80\0\0\0\0",
  "\x83\x80\0\0\0\0",
  "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",
  "\x81\x81\0\0\0\0\xff",
  `\x81\xfe\x03\xe8\0\0\0\0${"x".repeat(1000)}`,
];
const junk = fc.oneof(
  fc.constantFrom(
    ...frames,
    ...frames,
    "\r\n",
    "\r\n\r\n",
    "\0",
    "0\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\x16\x03\x01\0",
  ),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCodePoint(code)), maxLength: 40 }),
);

const request = fc.oneof(
  { weight: 5, arbitrary: plain },
  { weight: 2, arbitrary: upgrade },
  { weight: 1, arbitrary: wholeUpgrade },
);
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constant(1_000_000) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 }) },
);
/** Several requests in one write, as a pipeline is: the server is given them in one turn. */
const bytes = fc.oneof(
  { weight: 3, arbitrary: request },
  { weight: 4, arbitrary: fc.array(request, { minLength: 2, maxLength: 4 }).map((requests) => requests.join("")) },
  { weight: 1, arbitrary: junk },
  { weight: 1, arbitrary: fc.tuple(request, junk).map(([request, junk]) => request + junk) },
  { weight: 1, arbitrary: fc.tuple(request, fc.nat(200)).map(([request, end]) => request.slice(0, end)) },
);

const others = ["turn", "look", "stop-reading", "read-on", "half-close", "close", "reset"] as const;
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(bytes, piece).map(([bytes, piece]) => ({ does: "send" as const, bytes, piece })) },
  { weight: 4, arbitrary: fc.constantFrom("turn" as const, "look" as const).map((does) => ({ does })) },
  { weight: 3, arbitrary: fc.constantFrom(...others).map((does) => ({ does })) },
);

/** How many connections a script has. */
export const connections = 3;

/** Everything that the clients of one round do. */
export const script: fc.Arbitrary<Script> = fc.array(fc.record({ on: fc.nat(connections - 1), step }), {
  minLength: 1,
  maxLength: 14,
});
