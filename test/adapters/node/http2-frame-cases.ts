/** What a client may write on an HTTP/2 connection, and the expected response (RFC 9113, RFC 9110). Only data. */
import { frame, headerBlock, requestBlock } from "../../support/http2-client.ts";

const endStream = 1;
export const endHeaders = 4;
export const whole: number = endStream | endHeaders;
const [padded, priority] = [8, 0x20];

const [protocolError, flowControlError, streamClosed, frameSizeError, compressionError] = [1, 3, 5, 6, 9];

/** The result for stream 1, or for the connection. */
export type Outcome =
  | { readonly statuses: readonly number[]; readonly text?: string | undefined }
  | { readonly reset: number }
  | { readonly goaway: number }
  /** Either of both, depending on the version of nghttp2: an error of a stream may end its connection (RFC 9113 §5.4.1). */
  | { readonly refused: number };

export type FrameCase = readonly [name: string, frames: readonly Uint8Array[], outcome: Outcome];

const path = (target: string): readonly [string, string][] => [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", target],
  [":authority", "h"],
];
const ok = path("/ok");
const post = (target: string): readonly [string, string][] => [[":method", "POST"], ...path(target).slice(1)];

type Fields = readonly (readonly [string, string])[];
/** A request without a body. */
const ask = (fields: Fields, stream = 1): Uint8Array => frame("headers", whole, stream, headerBlock(fields));
/** The head of a request whose body follows. */
const begin = (fields: Fields, stream = 1): Uint8Array => frame("headers", endHeaders, stream, headerBlock(fields));
const data = (text: string, flags = 0): Uint8Array => frame("data", flags, 1, Buffer.from(text));
const without = (name: string): Fields => ok.filter(([given]) => given !== name);
const field = (name: string, value: string): readonly Uint8Array[] => [ask([...ok, [name, value]])];
/** nghttp2 drops a field that is forbidden in a request (RFC 9113 §8.2.1), and Node does not report it: no handler sees it. */
const dropped = (name: string, value: string): readonly [readonly Uint8Array[], Outcome] => [
  [ask([...path("/fields"), [name, value]])],
  { statuses: [200], text: "" },
];
const answered: Outcome = { statuses: [200], text: "ok" };
const refused = (code: number): Outcome => ({ refused: code });
const malformed: Outcome = { reset: protocolError };

/** RFC 9113 §8.2: fields that make a request malformed. */
export const fieldCases: readonly FrameCase[] = [
  ["a name in capitals", field("X-Upper", "a"), malformed],
  ["a name with a blank, dropped", ...dropped("x y", "a")],
  ["a name with a colon, dropped", ...dropped("x:y", "a")],
  ["connection", field("connection", "close"), malformed],
  ["keep-alive", field("keep-alive", "timeout=5"), malformed],
  ["proxy-connection", field("proxy-connection", "keep-alive"), malformed],
  ["transfer-encoding", field("transfer-encoding", "chunked"), malformed],
  ["upgrade", field("upgrade", "websocket"), malformed],
  ["te of gzip", field("te", "gzip"), malformed],
  ["te of trailers", field("te", "trailers"), answered],
  ["a value with a line feed, dropped", ...dropped("x", "a\nb: c")],
  ["a value with a carriage return, dropped", ...dropped("x", "a\rb")],
  ["a value with a NUL, dropped", ...dropped("x", "a\0b")],
  ["an empty value", field("x", ""), answered],
  [
    "content-length twice, of two values",
    [begin([...post("/size"), ["content-length", "1"], ["content-length", "2"]])],
    malformed,
  ],
  ["content-length that is negative", [begin([...post("/size"), ["content-length", "-1"]])], malformed],
  ["content-length that is no number", [begin([...post("/size"), ["content-length", "1a"]])], malformed],
  ["content-length past 2^64", [begin([...post("/size"), ["content-length", "99999999999999999999"]])], malformed],
  ["an expectation that is unknown", field("expect", "more"), answered],
];

/** RFC 9113 §8.3: pseudo-headers, the target and the authority. */
export const pseudoCases: readonly FrameCase[] = [
  ["no :method", [ask(without(":method"))], malformed],
  ["no :path", [ask(without(":path"))], malformed],
  ["no :scheme", [ask(without(":scheme"))], malformed],
  ["no :authority and no Host", [ask(without(":authority"))], malformed],
  ["Host in place of :authority", [ask([...without(":authority"), ["host", "h"]])], answered],
  ["an empty :path", [ask(path(""))], malformed],
  ["a :path without its slash", [ask(path("ok"))], malformed],
  ["a :path that is a URL", [ask(path("http://h/ok"))], malformed],
  ["* for a GET", [ask(path("*"))], malformed],
  ["a :path with a fragment", [ask(path("/ok#a"))], answered],
  ["a :path with a blank", [ask(path("/o k"))], malformed],
  [":path twice", [ask([...ok, [":path", "/none"]])], malformed],
  [":method twice", [ask([[":method", "POST"], ...ok])], malformed],
  [":authority twice", [ask([...ok, [":authority", "g"]])], malformed],
  [":status", [ask([...ok, [":status", "200"]])], malformed],
  ["an unknown one", [ask([...ok, [":foo", "a"]])], malformed],
  ["one behind a field", [ask([["x", "a"], ...ok])], malformed],
  [":protocol where no route is a WebSocket", [ask([[":protocol", "websocket"], ...ok])], malformed],
  ["CONNECT with a :path", [ask([[":method", "CONNECT"], ...without(":method")])], malformed],
  ["CONNECT without :authority", [ask([[":method", "CONNECT"]])], malformed],
  [
    "CONNECT",
    [
      begin([
        [":method", "CONNECT"],
        [":authority", "h:80"],
      ]),
    ],
    { statuses: [501] },
  ],
  ["TRACE", [ask([[":method", "TRACE"], ...without(":method")])], { statuses: [501] }],
  ["a method in small letters", [ask([[":method", "get"], ...without(":method")])], { statuses: [501] }],
];

/** RFC 9113 §8.1, RFC 9110 §8.6: bodies, their length and the frames after them. */
export const bodyCases: readonly FrameCase[] = [
  ["two parts", [begin(post("/size")), data("abc"), data("de", endStream)], { statuses: [200], text: "5 bytes" }],
  ["an end of its own", [begin(post("/size")), data("abc"), data("", endStream)], { statuses: [200], text: "3 bytes" }],
  ["no part", [begin(post("/size")), data("", endStream)], { statuses: [200], text: "0 bytes" }],
  [
    "its length",
    [begin([...post("/size"), ["content-length", "3"]]), data("abc", endStream)],
    { statuses: [200], text: "3 bytes" },
  ],
  [
    "padding",
    [begin(post("/size")), frame("data", padded | endStream, 1, Buffer.from("\x04abc\0\0\0\0"))],
    { statuses: [200], text: "3 bytes" },
  ],
  ["trailers", [begin(post("/size")), data("abc"), ask([["x-sum", "1"]])], { statuses: [200], text: "3 bytes" }],
  ["trailers with a pseudo-header", [begin(post("/size")), data("abc"), ask(ok)], malformed],
  ["trailers that end nothing", [begin(post("/size")), data("abc"), begin([["x-sum", "1"]])], malformed],
  [
    "more than its length",
    [begin([...post("/size"), ["content-length", "2"]]), data("abc", endStream)],
    refused(protocolError),
  ],
  ["less than its length", [begin([...post("/size"), ["content-length", "4"]]), data("abc", endStream)], malformed],
  ["a length without a body", [ask([...post("/size"), ["content-length", "4"]])], malformed],
  ["a length of a GET without a body", [ask([...ok, ["content-length", "4"]])], malformed],
  ["that a GET has", [begin(ok), data("abc", endStream)], answered],
  [
    "100-continue, where it is read",
    [begin([...post("/size"), ["expect", "100-continue"]]), data("abc", endStream)],
    { statuses: [100, 200], text: "3 bytes" },
  ],
  [
    "100-continue, where nobody reads it",
    [begin([...post("/ignored"), ["expect", "100-continue"]])],
    { statuses: [200], text: "ignored" },
  ],
  ["that nobody reads", [begin(post("/ignored")), data("abc")], { statuses: [200], text: "ignored" }],
  [
    "that nobody reads, to its end",
    [begin(post("/ignored")), data("abc", endStream)],
    { statuses: [200], text: "ignored" },
  ],
  ["of no route", [begin(post("/nowhere")), data("abc")], { statuses: [404] }],
];

/** Responses without a body, and one with a field that occurs twice. */
export const responseCases: readonly FrameCase[] = [
  ["to HEAD", [ask([[":method", "HEAD"], ...without(":method")])], { statuses: [200], text: "" }],
  ["to HEAD of nothing", [ask([[":method", "HEAD"], ...path("/nowhere").slice(1)])], { statuses: [404], text: "" }],
  ["204", [ask(path("/none"))], { statuses: [204], text: "" }],
  ["304", [ask(path("/same"))], { statuses: [304], text: "" }],
  ["a field twice", [ask(path("/two"))], { statuses: [200], text: "two" }],
  ["OPTIONS *", [ask([[":method", "OPTIONS"], ...path("*").slice(1)])], { statuses: [204], text: "" }],
];

const settings = (...bytes: readonly number[]): Uint8Array => frame("settings", 0, 0, Buffer.from(bytes));
const unknown = Buffer.from(frame("ping", 0xff, 1, Buffer.from("abc")));
unknown[3] = 0xbe;
const update = Buffer.from(frame("ping", 0, 0, Buffer.from([0, 0, 0, 1, 0x75])));
update[3] = 0x10;
const long = Buffer.alloc(9);
long.writeUIntBE(16_385, 0, 3);
long[8] = 1;
const one = frame("headers", endStream, 1, requestBlock("/ok").subarray(0, 10));
const window = (stream: number, by: number): Uint8Array => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(by);
  return frame("window", 0, stream, bytes);
};
const wrong: Outcome = { goaway: protocolError };
const wrongSize: Outcome = { goaway: frameSizeError };

/** RFC 9113 §5 and §6: frames. */
export const frameCases: readonly FrameCase[] = [
  ["an unknown frame is ignored", [unknown, ask(ok)], answered],
  ["PRIORITY_UPDATE is ignored", [update, ask(ok)], answered],
  ["PRIORITY before its stream", [frame("priority", 0, 1, Buffer.from([0, 0, 0, 3, 9])), ask(ok)], answered],
  [
    "a head with its priority",
    [frame("headers", whole | priority, 1, Buffer.concat([Buffer.from([0x80, 0, 0, 0, 255]), headerBlock(ok)]))],
    answered,
  ],
  [
    "a head in padding",
    [frame("headers", whole | padded, 1, Buffer.concat([Buffer.from([2]), headerBlock(ok), Buffer.alloc(2)]))],
    answered,
  ],
  ["a head in CONTINUATION", [one, frame("continuation", endHeaders, 1, requestBlock("/ok").subarray(10))], answered],
  ["PRIORITY of four bytes", [frame("priority", 0, 1, Buffer.alloc(4))], wrongSize],
  ["CONTINUATION of nothing", [frame("continuation", endHeaders, 1, headerBlock(ok))], wrong],
  ["a head with a frame in the middle", [one, frame("ping", 0, 0, Buffer.alloc(8))], wrong],
  ["a head of an even stream", [ask(ok, 2)], wrong],
  ["a head of stream 0", [ask(ok, 0)], wrong],
  ["a head that is no HPACK", [frame("headers", whole, 1, Buffer.from([0x80]))], { goaway: compressionError }],
  [
    "a head with an index past the table",
    [frame("headers", whole, 1, Buffer.from([0xff, 0xff, 0x7f]))],
    { goaway: compressionError },
  ],
  ["padding longer than its frame", [begin(post("/size")), frame("data", padded, 1, Buffer.from([9, 1]))], wrong],
  ["DATA of a stream that is idle", [data("abc")], wrong],
  ["DATA of stream 0", [frame("data", 0, 0, Buffer.from("abc"))], wrong],
  ["a frame that is too long", [ask(ok), long, Buffer.alloc(16_385)], wrongSize],
  ["RST_STREAM of a stream that is idle", [frame("reset", 0, 1, Buffer.alloc(4))], wrong],
  ["RST_STREAM of three bytes", [begin(post("/size")), frame("reset", 0, 1, Buffer.alloc(3))], wrongSize],
  [
    "PUSH_PROMISE",
    [ask(ok), frame("push", endHeaders, 1, Buffer.concat([Buffer.from([0, 0, 0, 2]), headerBlock(ok)]))],
    wrong,
  ],
  ["PING of seven bytes", [frame("ping", 0, 0, Buffer.alloc(7))], wrongSize],
  ["PING of a stream", [frame("ping", 0, 1, Buffer.alloc(8))], wrong],
  ["GOAWAY of a stream", [frame("goaway", 0, 1, Buffer.alloc(8))], wrong],
  ["SETTINGS of a stream", [frame("settings", 0, 1)], wrong],
  ["SETTINGS of five bytes", [settings(0, 1, 0, 0, 0)], wrongSize],
  ["SETTINGS that acknowledge with a payload", [frame("settings", 1, 0, Buffer.alloc(6))], wrongSize],
  ["SETTINGS_ENABLE_PUSH of 2", [settings(0, 2, 0, 0, 0, 2)], wrong],
  ["SETTINGS_INITIAL_WINDOW_SIZE past 2^31", [settings(0, 4, 0x80, 0, 0, 0)], { goaway: flowControlError }],
  ["SETTINGS_MAX_FRAME_SIZE of 1", [settings(0, 5, 0, 0, 0, 1)], wrong],
  ["an unknown setting is ignored", [settings(0xaa, 0xaa, 0, 0, 0, 1), ask(ok)], answered],
  ["WINDOW_UPDATE of 0 for the connection", [window(0, 0)], wrong],
  ["WINDOW_UPDATE past 2^31 for the connection", [window(0, 2 ** 31 - 1)], { goaway: flowControlError }],
  ["WINDOW_UPDATE of 0 for a stream", [begin(post("/size")), window(1, 0)], refused(protocolError)],
  ["WINDOW_UPDATE past 2^31 for a stream", [begin(post("/size")), window(1, 2 ** 31 - 1)], refused(flowControlError)],
  ["DATA behind the end of a body", [begin(post("/size")), data("a", endStream), data("b")], { goaway: streamClosed }],
];
