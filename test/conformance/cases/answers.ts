/** Answers of every kind, whole and streamed (contract 4.3; rows AN). */
import type { MessageCase } from "../case.ts";
import { empty, failed, html, json, streamed, text, typed } from "../expected.ts";

const digits = Array.from({ length: 32 }, (_, i) => String(i % 10).repeat(8192)).join("");

const declared: readonly MessageCase[] = [
  { name: "AN-01 a page", ask: "GET /html", answer: html("<p>höme</p>") },
  { name: "AN a page of a template", ask: "GET /template", answer: html('<p title="&quot;">&lt;é&gt;</p>') },
  {
    name: "AN a page of a template that becomes ready",
    ask: "GET /template/later",
    answer: streamed("text/html; charset=utf-8", "<p>&lt;é&gt;<i>0&amp;</i><i>1&amp;</i><i>2&amp;</i></p>"),
  },
  { name: "AN a page of a template that fails before its head", ask: "GET /template/wrong", answer: failed },
  { name: "AN UTF-8, its length in bytes", ask: "GET /utf8", answer: text("Grüße, 世界 🌍") },
  { name: "AN a text of nothing", ask: "GET /nothing", answer: text("") },
  { name: "AN a member that the shape does not name never leaves", ask: "GET /json", answer: json('{"a":"ü"}') },
  { name: "JB-22 a value that cannot be written", ask: "GET /unwritable", answer: failed },
  { name: "AN a 204 has no length", ask: "GET /empty", answer: empty() },
  { name: "AN an empty 200 has a length of 0", ask: "GET /empty/200", answer: empty(200) },
  { name: "AN an empty 205 has a length of 0", ask: "GET /empty/205", answer: empty(205) },
  { name: "AN-04 one status of several", ask: "PUT /people/kim", answer: json('"kim"', { status: 201 }) },
  { name: "AN-04 the other one", ask: "PUT /people/ada", answer: json('"ada"') },
  { name: "AN one empty status of several", ask: "POST /jobs", answer: empty(202) },
  { name: "AN the other empty one", ask: "POST /jobs?wait=true", answer: empty(204) },
];

// RFC 9110 §15.3.5, §15.3.6, §15.4.5. Only a 205 is framed by its length: of the others, none ends with the connection.
export const bodiless: readonly MessageCase[] = [204, 205, 304].flatMap((status) =>
  ["text", "bytes", "parts", "stream", "length"].flatMap((kind) =>
    ["GET", "HEAD"].map((method): MessageCase => {
      return {
        name: `AN a ${status} of ${kind} has no body, to ${method}`,
        ask: `${method} /bodiless/${status}/${kind}`,
        answer: typed("text/plain", "", { status, framing: status === 205 ? "length" : "none" }),
      };
    }),
  ),
);

const built: readonly MessageCase[] = [
  ...[200, 206, 299, 400, 404, 422, 429, 500, 502, 503, 599].map((status): MessageCase => {
    return {
      name: `AN a status of ${status}`,
      ask: `GET /status/${status}`,
      answer: text(`status ${status}`, { status }),
    };
  }),
  ...[100, 101, 199, 600, 1000].map((status): MessageCase => {
    return { name: `AN-13 a status of ${status} is none to end with`, ask: `GET /status/${status}`, answer: failed };
  }),
  ...bodiless,
  { name: "AN bytes of any type", ask: "GET /typed-answer", answer: typed("application/x-thing", "\u0000ü") },
  { name: "AN a 304 has neither length nor type", ask: "GET /not-modified", answer: empty(304, [["etag", '"a"']]) },
  { name: "AN-15 a redirect", ask: "GET /redirect", answer: empty(302, [["location", "/hello/kim?a=b%20c"]]) },
  {
    name: "AN-15 a redirect of another status",
    ask: "GET /redirect/308",
    answer: empty(308, [["location", "https://example.com/"]]),
  },
  {
    name: "AN a header of several lines keeps them",
    ask: "GET /repeated",
    answer: text("x", {
      headers: [
        ["x-mine", "1"],
        ["x-mine", "2, 3"],
        ["vary", "accept"],
      ],
    }),
  },
  {
    name: "AN the platform's own Response",
    ask: "GET /platform",
    answer: typed("text/x-own", "from the platform", { status: 203, headers: [["x-mine", "1"]] }),
  },
  { name: "AN the platform's own, empty", ask: "GET /platform/empty", answer: empty() },
  { name: "AN-19 an answer that closes", ask: "GET /close", answer: text("bye", { after: "closed" }) },
  {
    name: "AN-19 a stream that closes",
    ask: "GET /close/stream",
    answer: streamed("text/plain", "bye", { after: "closed" }),
  },
  { name: "AN a large answer", ask: "GET /large", answer: text("0123456789abcdef".repeat(16_384)) },
];

const plain = "text/plain";
const streams: readonly MessageCase[] = [
  {
    name: "AN-24 a stream with no length",
    ask: "GET /stream",
    answer: streamed("application/octet-stream", "one two three"),
  },
  { name: "AN a stream of nothing", ask: "GET /stream/empty", answer: streamed(plain, "") },
  { name: "AN an empty part does not end a stream", ask: "GET /stream/blanks", answer: streamed(plain, "ab") },
  { name: "AN-21 a stream with a length", ask: "GET /stream/length", answer: typed(plain, "hello") },
  {
    name: "AN-22 a stream past its length is cut there",
    ask: "GET /stream/long",
    answer: typed(plain, "hello", { after: "either" }),
  },
  { name: "AN a readable stream", ask: "GET /stream/readable", answer: streamed(plain, "a readable stream") },
  { name: "AN a stream of many parts", ask: "GET /stream/large", answer: streamed(plain, digits) },
];

export const answers: readonly MessageCase[] = [...declared, ...built, ...streams];
