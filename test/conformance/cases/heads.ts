/** Request heads, byte by byte (rows HD): an invalid one is a 400 with any body, and the connection is closed. */
import type { MessageCase, Step, WireCase } from "../case.ts";
import { bare, json, notImplemented, text } from "../expected.ts";
import { answers, asks, by, head, sends } from "../steps.ts";

const line = "GET /ok HTTP/1.1";
const host = "host: h";
const greeted = json('{"name":"kim","times":1}');

const malformed: readonly (readonly [id: string, what: string, ...lines: readonly string[]])[] = [
  ["HD-15", "a bare CR in the request line", "GET /o\rk HTTP/1.1", host],
  ["HD", "no version", "GET /ok", host],
  ["HD", "half a version", "GET /ok HTTP", host],
  ["HD-25", "a version in lower case", "GET /ok http/1.1", host],
  ["HD-24", "two blanks in it", "GET  /ok HTTP/1.1", host],
  ["HD-22", "a method that is no token", "GE(T /ok HTTP/1.1", host],
  ["HD", "a blank in the target", "GET /o k HTTP/1.1", host],
  ["HD", "a tab in the target", "GET /o\tk HTTP/1.1", host],
  ["HD", "a target with a byte past ASCII", "GET /\u00e9 HTTP/1.1", host],
  ["HD", "a target that begins with a backslash", "GET \\\\elsewhere.example/ok HTTP/1.1", host],
  ["HD-33", "GET of everything", "GET * HTTP/1.1", host],
  ["HD-31", "a target with userinfo", "GET http://u@h/ok HTTP/1.1", host],
  ["HD-30", "an absolute target and no Host", "GET http://h/ok HTTP/1.1", "x: y"],
  ["HD-34", "CONNECT of a path", "CONNECT /x HTTP/1.1", host],
  ["HD-36", "CONNECT of no host", "CONNECT :443 HTTP/1.1", host],
  ["HD-37", "CONNECT of no port", "CONNECT [::1] HTTP/1.1", host],
  ["HD-16", "a blank before the colon", line, host, "x : y"],
  ["HD-18", "a name that is no token", line, host, "x(y: z"],
  ["HD", "a name that is empty", line, host, ": z"],
  ["HD", "a field with no colon", line, host, "xyz"],
  ["HD", "a folded field", line, host, "x: a", " b"],
  ["HD", "a first field that is folded", line, " x: a", host],
  ["HD-19", "NUL in a value", line, host, "x: a\u0000b"],
  ["HD-20", "a control character in a value", line, host, "x: a\u0001b"],
  ["HD-21", "DEL in a value", line, host, "x: a\u007fb"],
  ["HD", "a bare CR in a value", line, host, "x: a\rb"],
  ["HD", "no Host", line, "x: y"],
  ["HD-27", "two Hosts", line, host, "host: other.example"],
  ["HD-27", "two Hosts that are one", line, host, host],
  ["HD-27", "two Hosts of HTTP/1.0", "GET /ok HTTP/1.0", host, "host: other.example"],
  ["HD-28", "a Host with a blank", line, "host: a b"],
  ["HD", "a Host with a path", line, "host: h/elsewhere?"],
  ["HD", "a Host with userinfo", line, "host: u@h"],
  ["HD", "a Host past ASCII", line, "host: h\u00ff"],
  ["HD-39", "a Host of half an IPv6 address", line, "host: [1::2::3]"],
  ["HD-40", "a Host of nine groups", line, "host: [1:2:3:4:5:6:7:8:9]"],
  ["HD", "the first bytes of TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000"],
  ["HD", "the preface of HTTP/2", "PRI * HTTP/2.0", "", "SM", ""],
  ["HD", "words", "no request"],
];

const others: readonly (readonly [id: string, what: string, status: number, ...lines: readonly string[]])[] = [
  ["HD-42", "HTTP/2.0 is another version", 505, "GET /ok HTTP/2.0", host],
  ["HD-43", "a field past the limit of a head", 431, line, host, `x: ${"a".repeat(20_000)}`],
  ["HD-43", "many fields past it", 431, line, host, ...Array.from({ length: 2500 }, (_, i) => `x-${i}: 1`)],
  ["SV-07", "a request line past it", 414, `GET /${"a".repeat(20_000)} HTTP/1.1`, host],
];

const accepted: readonly MessageCase[] = [
  { name: "HD-04 a Host of IPv6", ask: "GET /host", headers: [["Host", "[::1]:8443"]], answer: text("[::1]:8443") },
  {
    name: "HD-12 a Host of IPv4 in IPv6",
    ask: "GET /host",
    headers: [["Host", "[::ffff:192.0.2.1]"]],
    answer: text("[::ffff:192.0.2.1]"),
  },
  {
    name: "HD-13 a Host of an address of the future",
    ask: "GET /host",
    headers: [["Host", "[v1.fe80::a+en1]"]],
    answer: text("[v1.fe80::a+en1]"),
  },
  { name: "HD a Host that is empty", ask: "GET /host", headers: [["Host", ""]], answer: text("") },
  {
    name: "HD a Host in capitals is told in small letters",
    ask: "GET /host",
    headers: [["HOST", "Shop.Example"]],
    answer: text("shop.example"),
  },
  { name: "HD names without case", ask: "GET /count", headers: [["X-COUNT", "1"]], answer: json('["1"]') },
  { name: "HD a value of Latin-1", ask: "GET /value", headers: [["x-value", "caf\u00e9"]], answer: json('["café"]') },
  {
    name: "HD a hundred fields",
    ask: "GET /hello/kim",
    headers: Array.from({ length: 100 }, (_, i) => [`x-${i}`, "1"] as const),
    answer: greeted,
  },
  { name: "HD a field of 8 KiB", ask: "GET /hello/kim", headers: [["x", "a".repeat(8192)]], answer: greeted },
  { name: "HD a target of 4 KiB", ask: `GET /hello/kim?${"a".repeat(4096)}`, answer: greeted },
  {
    name: "HD-06 HTTP/1.0 with no Host",
    ask: "GET /host HTTP/1.0",
    hostless: true,
    answer: text("-", { after: "closed" }),
  },
  {
    name: "CK-06 which is taken for a safe one",
    ask: "GET /sets HTTP/1.0",
    hostless: true,
    answer: text("set", {
      after: "closed",
      headers: [
        ["x-seen", "yes"],
        ["set-cookie", "seen=1; Path=/; HttpOnly; Secure; SameSite=Lax"],
      ],
    }),
  },
];

const long = "a".repeat(10_000);
/** Another client is answered between two of them: the server has then read the earlier bytes, as a packet of their own. */
const answeredInPieces = (name: string, status: number, pieces: readonly string[]): WireCase => {
  const other = by("other", asks("GET /ok"), answers(text("ok")));
  return { name, steps: [...pieces.flatMap((piece) => [sends(piece), ...other]), answers(bare(status))] };
};
const answered = (name: string, ...steps: readonly Step[]): WireCase => ({ name, steps });

export const heads: readonly MessageCase[] = accepted;
export const headLines: readonly WireCase[] = [
  ...malformed.map(([id, what, ...lines]) => answered(`${id} ${what} is a 400`, head(...lines), answers(bare(400)))),
  ...others.map(([id, what, status, ...lines]) =>
    answered(`${id} ${what}: ${status}`, head(...lines), answers(bare(status))),
  ),
  answeredInPieces("SV-07 a request line past it, in pieces", 414, [
    "GET /",
    long,
    long,
    ` HTTP/1.1\r\n${host}\r\n\r\n`,
  ]),
  answeredInPieces("SV-07 a field past it, in pieces", 431, [`${line}\r\n${host}\r\nx: `, long, long, "\r\n\r\n"]),
  answered("HD-01 empty lines before a request", head("", "", line, host), answers(text("ok"))),
  answered("HD-02 lines that end in LF alone", sends(`${line}\n${host}\n\n`), answers(text("ok"))),
  answered("HD-03 HTTP/1.2 is 1.1", head("GET /ok HTTP/1.2", host), answers(text("ok"))),
  answered(
    "HD-09 CONNECT of a host",
    head("CONNECT h:443 HTTP/1.1", "host: h:443"),
    answers({ ...notImplemented, after: "closed" }),
  ),
  answered(
    "HD-10 CONNECT of an address",
    head("CONNECT [::1]:443 HTTP/1.1", "host: [::1]:443"),
    answers({ ...notImplemented, after: "closed" }),
  ),
  answered(
    "HD behind a good request, a bad one ends the connection",
    asks("GET /ok"),
    answers(text("ok")),
    head("no request"),
    answers(bare(400)),
  ),
  answered(
    "WR-15 a refusal reaches a client that still sends",
    head("no request", "", "x".repeat(32_768)),
    answers(bare(400)),
  ),
];
