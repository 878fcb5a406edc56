/** Time limits for a client, and memory limits for all of them (facts 8.1; rows SV-07 to SV-16). */
import type { MessageCase, WireCase } from "../case.ts";
import { bare, broken, crowded, json, text } from "../expected.ts";
import { answers, asks, by, closed, ended, head, noted, opens, sends } from "../steps.ts";

const ok = text("ok");
const slow = { ...broken, after: "closed" } as const;
const thirtyTwo = "x".repeat(32);
const post = (path: string, ...headers: readonly string[]) => head(`POST ${path} HTTP/1.1`, "host: h", ...headers);
const impatient = (name: string, ...steps: WireCase["steps"]): WireCase => ({ name, on: "impatient", steps });

export const heldTogether: readonly MessageCase[] = [
  {
    name: "SV-15 what holds nothing any more is asked for as often as one likes",
    on: "small",
    ask: "POST /size",
    body: thirtyTwo,
    answer: text("32 bytes"),
  },
];

export const limits: readonly WireCase[] = [
  impatient("SV-07 the first word of a head that does not come", sends("GET"), answers(bare(408))),
  impatient("SV-07 half a head that does not come", sends("GET /ok HTTP/1.1\r\nhost: h\r\nx: "), answers(bare(408))),
  impatient(
    "SV-07 half a second head that does not come",
    asks("GET /ok"),
    answers(ok),
    sends("GET /ok HTTP/1.1\r\nho"),
    answers(bare(408)),
  ),
  impatient(
    "SV-09 a kept connection with nothing to ask is closed, without a word",
    asks("GET /ok"),
    answers(ok),
    ended,
  ),
  impatient(
    "SV-07 a field past the limit",
    head("GET /ok HTTP/1.1", "host: h", `x: ${"a".repeat(2000)}`),
    answers(bare(431)),
  ),
  impatient(
    "SV-07 many fields past it",
    head("GET /ok HTTP/1.1", "host: h", ...Array.from({ length: 200 }, (_, i) => `x-${i}: 1`)),
    answers(bare(431)),
  ),
  impatient("SV-07 a target past it", head(`GET /${"a".repeat(2000)} HTTP/1.1`, "host: h"), answers(bare(414))),
  impatient("SV-10 a body that stops", post("/size", "content-length: 10"), sends("abc"), answers(slow), ended),
  impatient("SV-10 a body that does not begin", post("/size", "content-length: 10"), answers(slow), ended),
  impatient(
    "SV-10 chunks that stop",
    post("/size", "transfer-encoding: chunked"),
    sends("3\r\nabc\r\n"),
    answers(slow),
    ended,
  ),
  impatient(
    "SV-10 a chunk that stops",
    post("/size", "transfer-encoding: chunked"),
    sends("ff\r\nabc"),
    answers(slow),
    ended,
  ),
  impatient(
    "BS-12 a body that stops while a handler reads it",
    post("/any", "content-length: 10"),
    sends("abc"),
    answers(slow),
    ended,
  ),
  impatient("SV-10 JSON that stops", post("/echo", "content-length: 10"), sends('{"na'), answers(slow), ended),
  impatient(
    "SV a handler may take longer than any of that",
    asks("GET /wait/longer"),
    noted("longer asked", "yes"),
    ...by("idle", asks("GET /ok"), answers(ok), ended),
    opens("longer"),
    answers(text("waited for longer")),
  ),
  impatient(
    "SV a stream may be quiet for longer than any of that",
    asks("GET /stream/wait/quieter"),
    ...by("idle", asks("GET /ok"), answers(ok), ended),
    opens("quieter"),
    answers({ ...json("one two"), headers: [["content-type", "text/plain"]], framing: "chunked" }),
  ),
  {
    name: "SV-16 only what arrived counts",
    on: "small",
    steps: [
      ...["a", "b", "c"].flatMap((who) => by(who, post("/size", "content-length: 32"), sends("x"))),
      ...by("d", asks({ ask: "POST /size", body: thirtyTwo }), answers(text("32 bytes"))),
      ...["a", "b", "c"].flatMap((who) => by(who, sends("x".repeat(31)), answers(text("32 bytes")))),
    ],
  },
  {
    name: "SV-15 bodies held at once are bounded, and what is let go makes room",
    on: "small",
    steps: [
      ...["a", "b", "c"].flatMap((who) => [
        ...by(who, asks({ ask: `POST /held/budget-${who}`, body: thirtyTwo })),
        noted(`budget-${who} asked`, "yes"),
      ]),
      ...by("d", asks({ ask: "POST /size", body: "0123456789" }), answers(crowded), closed),
      ...by("e", asks({ ask: "POST /size", body: "abc" }), answers(text("3 bytes"))),
      ...["a", "b", "c"].flatMap((who) => [opens(`budget-${who}`), ...by(who, answers(text("32 bytes")))]),
      ...by("e", asks({ ask: "POST /size", body: thirtyTwo }), answers(text("32 bytes"))),
    ],
  },
];

export const logs: readonly WireCase[] = [
  {
    name: "LG an access line is on standard error, as JSON",
    steps: [
      asks("GET /text/logged?secret"),
      answers(json('"logged"')),
      { does: "logged", text: '"message":"GET /text/logged 200"' },
    ],
  },
  {
    name: "RF-07 what a handler raised is there by its kind",
    steps: [
      asks("GET /raises/later"),
      answers({
        ...json('{"error":"internal","message":"Something went wrong at our end. Please try again."}'),
        status: 500,
      }),
      { does: "logged", text: '"error.kind":"TypeError"' },
    ],
  },
];
