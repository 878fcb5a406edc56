/** Answers that a route builds itself (contract 4.3; facts 4.2; rows AN, RT-46). AN-27 to AN-31 are in takeover.test.ts. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, App, Codec, Cookie, Path, Refusal, Returns, Test, get, refuse } from "usher-http";
import "../support/logs.ts";

const now = new Date(784_111_777_000);

async function sent(answer: Answer.Answer | Response) {
  const route = get(Path.of("x"), { returns: Returns.response }, () => answer);
  const { status, body, headers } = await Test.call(Test.app([route]), "GET", "/x", { now });
  return {
    status,
    body,
    headers: Object.fromEntries([...headers].filter(([name]) => !["date", "x-request-id"].includes(name))),
  };
}

const text = "text/plain; charset=utf-8";
const html = "text/html; charset=utf-8";
const gone = Refusal.code("gone", { status: 410, doc: "It went." });

describe("Answer: each", () => {
  const json = v.object({ a: v.number() });
  it.each([
    ["make", Answer.make("é"), 200, "é", { "content-type": text, "content-length": "2" }],
    [
      "make of bytes",
      Answer.make(Uint8Array.from([0x68, 0x69])),
      200,
      "hi",
      { "content-type": text, "content-length": "2" },
    ],
    [
      "make with all",
      Answer.make("x", {
        status: 299,
        contentType: "a/b",
        headers: [
          ["X-Mine", "1"],
          ["x-mine", "2"],
        ],
      }),
      299,
      "x",
      { "content-type": "a/b", "content-length": "1", "x-mine": "1, 2" },
    ],
    ["html", Answer.html("<p>", { status: 404 }), 404, "<p>", { "content-type": html, "content-length": "3" }],
    [
      "json",
      Answer.json(json, { a: 1 }, { status: 201 }),
      201,
      '{"a":1}',
      { "content-type": "application/json", "content-length": "7" },
    ],
    ["empty", Answer.empty(), 204, "", {}],
    ["empty with a status", Answer.empty({ status: 200 }), 200, "", { "content-length": "0" }],
    ["a 304", Answer.empty({ status: 304, headers: new Map([["etag", '"a"']]) }), 304, "", { etag: '"a"' }],
    ["AN-15 redirect", Answer.redirect("/there?x=1"), 302, "", { location: "/there?x=1", "content-length": "0" }],
    [
      "redirect whose location is not ASCII",
      Answer.redirect("https://a.example/café/%20?q=日本#é"),
      302,
      "",
      { location: "https://a.example/caf%C3%A9/%20?q=%E6%97%A5%E6%9C%AC#%C3%A9", "content-length": "0" },
    ],
    [
      "redirect whose location has white space",
      Answer.redirect("/a b/\tc?d=e f"),
      302,
      "",
      { location: "/a%20b/%09c?d=e%20f", "content-length": "0" },
    ],
    [
      "redirect with a status",
      Answer.redirect("/there", { status: 303, headers: [["x-a", "1"]] }),
      303,
      "",
      { location: "/there", "x-a": "1", "content-length": "0" },
    ],
    [
      "refusal",
      Answer.refusal(refuse(Refusal.notFound)),
      404,
      '{"error":"not_found","message":"There is nothing here."}',
      { "content-type": "application/json", "content-length": "56" },
    ],
    [
      "RT-46 a header of its own",
      Answer.make("x", { headers: [["x-mine", "1"]] }),
      200,
      "x",
      { "content-type": text, "content-length": "1", "x-mine": "1" },
    ],
  ])("%s", async (_what, answer, status, body, headers) => {
    expect(await sent(answer)).toEqual({ status, body, headers });
  });
});

describe("Answer: cookies and bodies", () => {
  it("CK-12 each cookie has a line of its own, in the order of the calls", async () => {
    const a = Cookie.named("a", Codec.string);
    const cookies = [Cookie.make(a, "1"), Cookie.clear(Cookie.named("b", Codec.int)), Cookie.make(a, "2")];
    for (const answer of [
      Answer.make("x", { cookies }),
      Answer.redirect("/", { cookies }),
      Answer.empty({ cookies }),
    ]) {
      const route = get(Path.of("x"), { returns: Returns.response }, () => answer);
      const { headers } = await Test.call(Test.app([route]), "GET", "/x");
      expect(headers.getSetCookie().map((line) => line.split(";")[0])).toEqual(["b=", "a=2"]);
    }
  });

  it("a status without a body has no body, even if one was built", async () => {
    for (const status of [204, 205, 304]) expect((await sent(Answer.make("text", { status }))).body).toBe("");
  });

  it("closeConnection changes only the connection, not the answer", async () => {
    const answer = Answer.closeConnection(Answer.make("bye"));
    expect(await sent(answer)).toEqual(await sent(Answer.make("bye")));
    const { fetch } = App.make([get(Path.of("x"), { returns: Returns.response }, () => answer)]);
    expect((await fetch(new Request("http://h/x"))).headers.get("connection")).toBe("close");
  });
});

describe("a standard Response", () => {
  it("is the answer: its status, headers and body are sent", async () => {
    const response = new Response("héllo", {
      status: 203,
      headers: [
        ["x-a", "1"],
        ["X-A", "2"],
      ],
    });
    expect(await sent(response)).toEqual({
      status: 203,
      body: "héllo",
      // All of it is there, so its length is known.
      headers: { "content-type": "text/plain;charset=UTF-8", "content-length": "6", "x-a": "1, 2" },
    });
  });

  it.each([
    [
      "of JSON",
      Response.json({ a: [1] }),
      200,
      '{"a":[1]}',
      { "content-type": "application/json", "content-length": "9" },
    ],
    ["with no body", new Response(null, { status: 204 }), 204, "", {}],
    ["with no body and a length", new Response(null), 200, "", { "content-length": "0" }],
    [
      "that redirects",
      Response.redirect("http://elsewhere.example/", 307),
      307,
      "",
      { location: "http://elsewhere.example/", "content-length": "0" },
    ],
  ])("%s", async (_what, response, status, body, headers) => {
    expect(await sent(response)).toEqual({ status, body, headers });
  });

  it("may be a promise, and may have a stream as its body", async () => {
    const parts = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const text of ["a", "é", "b"]) controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    });
    const route = get(Path.of("x"), { returns: Returns.response }, async () => new Response(parts));
    expect((await Test.call(Test.app([route]), "GET", "/x")).body).toBe("aéb");
  });
});

describe("the Date header", () => {
  const answers: readonly (readonly [number, Answer.Answer])[] = [
    [200, Answer.make("")],
    [204, Answer.empty()],
    [302, Answer.redirect("/")],
    [404, Answer.refusal(refuse(Refusal.notFound))],
    [410, Answer.refusal(refuse(gone))],
    [499, Answer.empty({ status: 499 })],
  ];
  it.each(answers)("AN-16 %i has a Date, from the app's clock", async (status, answer) => {
    const route = get(Path.of("x"), { returns: Returns.response, refuses: [gone] }, () => answer);
    for (const [options, call] of [
      [{ now: () => now }, {}],
      [{}, { now }],
    ] as const) {
      const answered = await Test.call(Test.app([route], options), "GET", "/x", call);
      expect([answered.status, answered.headers.get("date")]).toEqual([status, "Sun, 06 Nov 1994 08:49:37 GMT"]);
    }
  });

  it("AN-16 a 405 and a 308 have a Date; a 5xx has none", async () => {
    const routes = [get(Path.of("x"), { returns: Returns.response }, () => Answer.empty({ status: 503 }))];
    const app = Test.app(routes, { now: () => now, trailingSlash: "redirect" });
    for (const [method, target, status] of [
      ["POST", "/x", 405],
      ["GET", "/x/", 308],
    ] as const) {
      const answered = await Test.call(app, method, target);
      expect([answered.status, answered.headers.get("date")]).toEqual([status, "Sun, 06 Nov 1994 08:49:37 GMT"]);
    }
    for (const [method, target] of [
      ["GET", "/x"],
      ["PROPFIND", "/x"],
    ] as const) {
      const answered = await Test.call(app, method, target);
      expect([answered.status >= 500, answered.headers.get("date")]).toEqual([true, null]);
    }
  });

  it("AN-16 Date follows the clock if the answer has none of its own", async () => {
    const before = Math.floor(Date.now() / 1000) * 1000;
    const route = get(Path.of("x"), { returns: Returns.text }, () => "");
    const date = Date.parse((await Test.call(Test.app([route]), "GET", "/x")).headers.get("date") as string);
    expect(date).toBeGreaterThanOrEqual(before);
    expect(date).toBeLessThanOrEqual(Date.now());
  });
});
