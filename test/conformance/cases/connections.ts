/** Connections: pipelining, cut requests, `Expect`, and ends (rows WR, AN-19, AT-21). */
import type { WireCase } from "../case.ts";
import { failed, json, missing, text, tooLong, unsupportedType } from "../expected.ts";
import {
  answers,
  answersHead,
  asks,
  by,
  closed,
  ended,
  goOn,
  halfCloses,
  head,
  noted,
  opens,
  sees,
  sends,
} from "../steps.ts";

const ok = text("ok");
const last = { after: "closed" } as const;
const post = (path: string, ...headers: readonly string[]) => head(`POST ${path} HTTP/1.1`, "host: h", ...headers);
const expects = (path: string, ...headers: readonly string[]) =>
  post(path, "expect: 100-continue", "content-length: 4", ...headers);

export const connections: readonly WireCase[] = [
  {
    name: "WR-01 pipelined requests are answered in order, and closed when asked",
    steps: [
      asks("GET /wait/pipelined", "GET /text/a", { ask: "POST /ignored" }, "HEAD /ok", {
        ask: "GET /ok",
        headers: [["connection", "close"]],
      }),
      noted("pipelined asked", "yes"),
      opens("pipelined"),
      answers(text("waited for pipelined")),
      answers(json('"a"')),
      answers(text("ignored")),
      answersHead(ok),
      answers(text("ok", last)),
      closed,
    ],
  },
  {
    name: "WR-01 pipelined bodies are each its own",
    steps: [
      asks({ ask: "POST /size", body: "one" }, { ask: "POST /size", body: { chunks: ["th", "ree"] } }, "GET /ok", {
        ask: "POST /echo",
        body: '{"name":"kim"}',
      }),
      answers(text("3 bytes")),
      answers(text("5 bytes")),
      answers(ok),
      answers(json('{"name":"kim","times":1}', { status: 201 })),
    ],
  },
  {
    name: "WR-01 a pipelined refusal is in its place",
    steps: [
      asks("GET /raises", "GET /wait/refusal", "GET /nowhere"),
      answers(failed),
      opens("refusal"),
      answers(text("waited for refusal")),
      answers(missing),
    ],
  },
  {
    name: "AN-19 what comes behind an answer that closes is no request",
    steps: [asks("GET /close", "GET /ok"), answers(text("bye", last)), closed],
  },
  {
    name: "WR a request in pieces",
    steps: [
      sends("G"),
      sends("ET /hel"),
      sends("lo/kim HTTP/1.1\r"),
      sends("\nhost: h\r\nx"),
      sends(": y\r\n\r"),
      sends("\n"),
      answers(json('{"name":"kim","times":1}')),
    ],
  },
  {
    name: "BS a body in pieces is there as it comes",
    steps: [
      post("/reading/pieces", "content-length: 6"),
      sends("ab"),
      noted("pieces read", "ab"),
      sends("cdef"),
      answers(text("abcdef")),
      asks("GET /ok"),
      answers(ok),
    ],
  },
  {
    name: "BS a body in chunks is there as it comes",
    steps: [
      post("/reading/chunks", "transfer-encoding: chunked"),
      sends("2\r\nab\r\n"),
      noted("chunks read", "ab"),
      sends("4\r\ncd"),
      sends("ef\r\n0\r\n\r\n"),
      answers(text("abcdef")),
    ],
  },
  {
    name: "WR a handler that never answers stops nobody else",
    steps: [
      asks("GET /never/stuck"),
      noted("stuck asked", "yes"),
      ...by("another", asks("GET /hello/kim"), answers(json('{"name":"kim","times":1}')), asks("GET /ok"), answers(ok)),
    ],
  },
  {
    name: "WR a client that ends its side behind a request is answered",
    steps: [asks("GET /ok"), halfCloses, answers(ok), ended],
  },
  {
    // A half-closed client may still read: a handler that uses clientGone sees it abort, and its answer is sent anyway.
    name: "WR a client that ends its side while its handler waits is answered",
    steps: [
      asks("GET /gone/wait/half"),
      noted("half asked", "there"),
      halfCloses,
      noted("half ended", "gone"),
      answers(text("waited for half")),
      ended,
    ],
  },
  {
    name: "WR what is no request, behind one that waits, overtakes no answer",
    steps: [
      asks("GET /wait/overtaken"),
      noted("overtaken asked", "yes"),
      head("no request"),
      ...by("another", asks("GET /ok"), answers(ok)),
      opens("overtaken"),
      sees("HTTP/1.1 200 "),
      answers(text("waited for overtaken")),
    ],
  },
  {
    name: "WR-07 Expect, where the body is read",
    steps: [expects("/size"), goOn, sends("four"), answers(text("4 bytes")), asks("GET /ok"), answers(ok)],
  },
  {
    name: "WR-07 Expect, where a stream reads it",
    steps: [expects("/reading/expected"), goOn, sends("four"), answers(text("four")), asks("GET /ok"), answers(ok)],
  },
  {
    // U+00A0 is no white space of HTTP (RFC 9110 §5.6.3), so this is not 100-continue, and is ignored (§10.1.1).
    name: "WR-07 an expectation with a no-break space before it is another",
    steps: [
      // In one piece: Deno closes the connection of a body that arrives after its head.
      sends("POST /size HTTP/1.1\r\nhost: h\r\nexpect: \xa0100-continue\r\ncontent-length: 4\r\n\r\nfour"),
      answers(text("4 bytes")),
      asks("GET /ok"),
      answers(ok),
    ],
  },
  { name: "WR-07 Expect, where nobody reads it", steps: [expects("/ignored"), answers(text("ignored", last)), closed] },
  {
    name: "WR-07 Expect, where there is no route",
    steps: [expects("/nowhere"), answers({ ...missing, ...last }), closed],
  },
  {
    name: "WR-07 Expect, where the type is refused",
    steps: [expects("/echo", "content-type: text/plain"), answers({ ...unsupportedType, ...last }), closed],
  },
  {
    name: "WR-07 Expect, where the body is too long",
    on: "small",
    steps: [post("/size", "expect: 100-continue", "content-length: 33"), answers(tooLong(last)), closed],
  },
  {
    name: "AT-21 Expect, and its body comes unasked: answered once",
    steps: [expects("/ignored"), sends("four"), answers(text("ignored", last)), closed],
  },
];
