/** Headers that a handler sets, headers that it may not set, cookies, and its refusals (rows AN, CK, RF). */
import type { Lines, MessageCase } from "../case.ts";
import { failed, json, malformed, refused, text } from "../expected.ts";

/** The answer of `/forbidden`: a 500, framed once, and the connection stays open. */
const forbidden: readonly (readonly [id: string, ...names: readonly string[]])[] = [
  ["AN-09", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer"],
  ["AN", "date", "x-request-id"],
  ["AN-12", "line-feed", "carriage-return", "nul", "control", "delete", "beyond-ascii", "name-with-blank"],
  ["AN-12", "empty-name", "control-in-type", "line-feed-in-location"],
  ["AN-13", "status-1000", "status-103", "status-101"],
];

const guard: readonly MessageCase[] = [
  ...forbidden.flatMap(([id, ...names]) =>
    names.map((name): MessageCase => {
      return { name: `${id} an answer of its own ${name} is a 500`, ask: `GET /forbidden/${name}`, answer: failed };
    }),
  ),
  ...["set-cookie", "content-type", "content-length"].map((name): MessageCase => {
    return { name: `AN-10 a handler that adds ${name} is a 500`, ask: `GET /add/${name}`, answer: failed };
  }),
  {
    name: "AN-10 a handler that adds a header of its own",
    ask: "GET /add/X-Mine",
    answer: text("added", { headers: [["x-mine", "a"]] }),
  },
];

const mine = "mine=v; Path=/in; HttpOnly; Secure; SameSite=Lax; Max-Age=60";
const seen = "seen=2; Path=/; Secure; SameSite=Strict";
const cleared = "mine=; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0";
const set = (...lines: readonly string[]): { readonly headers: Lines } => ({
  headers: lines.map((line) => ["set-cookie", line] as const),
});
const insecure = (line: string): string => line.replace("; Secure", "");
const all = [mine, seen, cleared];

const cookies: readonly MessageCase[] = [
  {
    name: "AN-07 what is set goes with the answer",
    ask: "GET /sets",
    answer: text("set", {
      headers: [
        ["x-seen", "yes"],
        ["set-cookie", "seen=1; Path=/; HttpOnly; Secure; SameSite=Lax"],
      ],
    }),
  },
  { name: "AN-07 and not with a refusal", ask: "GET /sets?fail=true", answer: refused(410, "gone", "It went.") },
  {
    name: "CK-01, CK-07, CK-12 one line each, in the order set, attributes in theirs",
    ask: "GET /cookies",
    answer: text("set", set(...all)),
  },
  {
    name: "CK-03 a host that looks like loopback",
    ask: "GET /cookies",
    headers: [["host", "localhost.example.com"]],
    answer: text("set", set(...all)),
  },
  ...["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:80", "[::1]:8080"].map((host): MessageCase => {
    const answer = text("set", set(...all.map(insecure)));
    return { name: `CK-02 of ${host} it is not Secure`, ask: "GET /cookies", headers: [["host", host]], answer };
  }),
  {
    name: "CK-04 but behind a proxy that came by HTTPS",
    on: "proxied",
    ask: "GET /cookies",
    headers: [
      ["host", "localhost"],
      ["x-forwarded-proto", "https"],
    ],
    answer: text("set", set(...all)),
  },
  {
    name: "CK-09 a cookie that is absent",
    ask: "GET /who",
    headers: [["cookie", "a=1"]],
    answer: json('["-","-","-","-"]'),
  },
  {
    name: "CK-10 a cookie that does not parse",
    ask: "GET /typed",
    headers: [["cookie", "n=x"]],
    answer: malformed("cookie.n", "This is not a whole number."),
  },
  {
    name: "IN-43 of a cookie named twice, the first",
    ask: "GET /who",
    headers: [["cookie", "b=1; b=2"]],
    answer: json('["-","-","1","-"]'),
  },
  {
    name: "CD-135 a cookie of any text",
    ask: "GET /cookie",
    headers: [["cookie", "k=Z3LDvMOfZQ"]],
    answer: json('["grüße"]'),
  },
  {
    name: "CD-136 a cookie this server never wrote",
    ask: "GET /cookie",
    headers: [["cookie", "k=not*base64"]],
    answer: malformed("cookie.k", "This is not a value this server wrote."),
  },
  {
    name: "CD-136 half of one",
    ask: "GET /cookie",
    headers: [["cookie", "k=a"]],
    answer: malformed("cookie.k", "This is not a value this server wrote."),
  },
];

const refusals: readonly MessageCase[] = [
  { name: "RF-01 a refusal, and its detail is not told", ask: "GET /gone", answer: refused(410, "gone", "It went.") },
  { name: "RF-01 one that is thrown", ask: "GET /gone/thrown", answer: refused(410, "gone", "It went.") },
  { name: "RF-01 one that comes later", ask: "GET /gone/later", answer: refused(410, "gone", "It went.") },
  { name: "RF-01 one as an answer", ask: "GET /refusal", answer: refused(410, "gone", "It went.") },
  {
    name: "RF-06 a challenge",
    ask: "GET /nobody",
    answer: refused(401, "nobody", "Who are you?", { headers: [["www-authenticate", 'Test realm="t"']] }),
  },
  { name: "RF-07 a handler that raises", ask: "GET /raises", answer: failed },
  { name: "RF-07 one that raises later", ask: "GET /raises/later", answer: failed },
  { name: "RF-07 an input that raises", ask: "GET /raises/in-input", answer: failed },
  { name: "RF-07 one that rejects with nothing", ask: "GET /raises/nothing", answer: failed },
];

export const headers: readonly MessageCase[] = [...guard, ...cookies, ...refusals];
