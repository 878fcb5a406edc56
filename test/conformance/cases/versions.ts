/** The version and `Connection` of a request, and of its answer (rows WR, AN-18, AN-25). */
import type { MessageCase } from "../case.ts";
import { json, missing, streamed, text } from "../expected.ts";

const ok = text("ok");
const last = { after: "closed" } as const;
const repeated = [
  ["content-type", "text/plain; charset=utf-8"],
  ["x-mine", "1"],
  ["x-mine", "2, 3"],
  ["vary", "accept"],
] as const;
const oldVersion = [["connection", "keep-alive"]] as const;

export const versions: readonly MessageCase[] = [
  { name: "WR-06 HTTP/1.0 is closed after its answer", ask: "GET /ok HTTP/1.0", answer: text("ok", last) },
  {
    name: "WR-06 HTTP/1.0 that asks for it is kept, and told so",
    ask: "GET /ok HTTP/1.0",
    headers: oldVersion,
    answer: ok,
  },
  {
    name: "WR-06 HTTP/1.0 that asks for both is closed",
    ask: "GET /ok HTTP/1.0",
    headers: [["connection", "keep-alive, close"]],
    answer: text("ok", last),
  },
  {
    name: "AN-25 a stream to HTTP/1.0 ends with its connection",
    ask: "GET /stream HTTP/1.0",
    headers: oldVersion,
    answer: streamed("application/octet-stream", "one two three", { framing: "none", ...last }),
  },
  {
    name: "AN-25 a stream with a length to HTTP/1.0 does not",
    ask: "GET /stream/length HTTP/1.0",
    headers: oldVersion,
    answer: { ...text("hello"), headers: [["content-type", "text/plain"]] },
  },
  {
    name: "WR-10 on HTTP/1.0, Expect is nothing",
    ask: "POST /size HTTP/1.0",
    headers: [["expect", "100-continue"]],
    body: "four",
    answer: text("4 bytes", last),
  },
  {
    name: "WR a client that asks for it is closed",
    ask: "GET /ok",
    headers: [["connection", "close"]],
    answer: text("ok", last),
  },
  {
    name: "WR a client that asks for it in capitals is closed",
    ask: "GET /ok",
    headers: [["Connection", "Close"]],
    answer: text("ok", last),
  },
  {
    name: "WR one that asks for it among others",
    ask: "GET /ok",
    headers: [["connection", "x-hop, close"]],
    answer: text("ok", last),
  },
  {
    name: "WR a refusal to a client that asks for it",
    ask: "GET /nowhere",
    headers: [["connection", "close"]],
    answer: { ...missing, ...last },
  },
  {
    name: "AN-18 the head has its names in lower case, and in their order",
    ask: "GET /repeated",
    headers: [["connection", "close"]],
    answer: {
      ...text("x", last),
      headers: repeated,
      names: ["content-type", "x-mine", "x-mine", "vary", "x-request-id", "date", "content-length", "connection"],
    },
  },
  {
    name: "AN-18 cookies stand behind the id",
    ask: "GET /sets",
    answer: text("set", {
      headers: [
        ["x-seen", "yes"],
        ["set-cookie", "seen=1; Path=/; HttpOnly; Secure; SameSite=Lax"],
      ],
      names: ["content-type", "x-seen", "x-request-id", "set-cookie", "date", "content-length"],
    }),
  },
  { name: "WR a status has RFC 9110's phrase", ask: "GET /ok", answer: text("ok", { phrase: "OK" }) },
  {
    name: "WR 422 has RFC 9110's phrase",
    ask: "GET /status/422",
    answer: text("status 422", { status: 422, phrase: "Unprocessable Content" }),
  },
  {
    name: "WR a status of no name has none",
    ask: "GET /status/299",
    answer: text("status 299", { status: 299, phrase: "" }),
  },
  { name: "WR-09 Expect with no body", ask: "GET /ok", headers: [["expect", "100-continue"]], answer: ok },
  {
    name: "WR an upgrade that nobody takes is a request like any other",
    ask: "GET /hello/kim",
    headers: [
      ["connection", "upgrade"],
      ["upgrade", "websocket"],
      ["sec-websocket-version", "13"],
      ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ],
    answer: json('{"name":"kim","times":1}'),
  },
  {
    name: "WR an upgrade to HTTP/2 is a request like any other",
    ask: "GET /hello/kim",
    headers: [
      ["connection", "upgrade, http2-settings"],
      ["upgrade", "h2c"],
      ["http2-settings", "AAMAAABkAAQAAP__"],
    ],
    answer: json('{"name":"kim","times":1}'),
  },
];
