/** A path parameter is validated even if its route does not read it (contract 4.2 rule 2). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Codec,
  Cookie,
  Dep,
  Header,
  Openapi,
  Path,
  Query,
  Refusal,
  Result,
  Returns,
  Socket,
  Test,
  get,
  json,
  param,
  post,
  refuse,
  request,
} from "usher-http";
import type { Inputs } from "usher-http";
import { invalid, notFound } from "../support/refusals.ts";
import "../support/logs.ts";

const x = Path.str("x");
const n = Path.int("n");
const int32 = Path.int32("int32");
const big = Path.int64("big");
const rest = Path.rest("rest");
const even = Path.param(
  "even",
  Codec.custom({
    kind: "even",
    parse: (text) => (Number(text) % 2 === 0 ? Result.ok(Number(text)) : Result.error("This is not even.")),
    print: String,
  }),
);
const declining = Path.int("d", { unparsed: "next-route" });
const notText = "This is not text.";
const notWhole = "This is not a whole number.";

let ran = 0;
function routeOf(path: Path.Path, inputs: Inputs = {}) {
  return get(path, { inputs, returns: Returns.text }, () => {
    ran++;
    return "ran";
  });
}

async function answered(path: Path.Path, target: string, inputs?: Inputs, method = "GET") {
  ran = 0;
  const { status, body } = await Test.call(Test.app([routeOf(path, inputs)]), method, target);
  return { status, body, ran };
}

type Problems = readonly (readonly [at: string, code: string, message: string])[];

const q = Query.required("q", Codec.int);
const read = { q, h: Header.required("h", Codec.string), c: Cookie.required(Cookie.named("c", Codec.string)) };
const others: Problems = [
  ["query.q", "required", "This is required."],
  ["header.h", "required", "This is required."],
  ["cookie.c", "required", "This is required."],
];
const waits = Dep.ofRequest(async () => "waited for");
const bound = Dep.bind(Dep.return(1), () => param(n));

const wrong: readonly (readonly [string, Path.Path, string, Inputs, Problems])[] = [
  ["text", Path.of("t", x), "/t/%zz", {}, [["path.x", "malformed", notText]]],
  ["text that is no UTF-8", Path.of("t", x), "/t/%ff", {}, [["path.x", "malformed", notText]]],
  ["a whole number", Path.of("o", n), "/o/abc", {}, [["path.n", "malformed", notWhole]]],
  ["a whole number that is none", Path.of("o", n), "/o/%zz", {}, [["path.n", "malformed", notWhole]]],
  [
    "32 bits",
    Path.of("o", int32),
    "/o/2147483648",
    {},
    [["path.int32", "malformed", "This is not a whole number from -2147483648 to 2147483647."]],
  ],
  ["64 bits", Path.of("o", big), "/o/9223372036854775808", {}, [["path.big", "malformed", notWhole]]],
  ["the application's own", Path.of("o", even), "/o/3", {}, [["path.even", "malformed", "This is not even."]]],
  ["a rest", Path.of("r", rest), "/r/a/%zz/b", {}, [["path.rest", "malformed", notText]]],
  ["in the middle", Path.of("o", n, "end"), "/o/abc/end", {}, [["path.n", "malformed", notWhole]]],
  [
    "several, in their order",
    Path.of(n, x, rest),
    "/abc/%zz/%zz",
    {},
    [
      ["path.n", "malformed", notWhole],
      ["path.x", "malformed", notText],
      ["path.rest", "malformed", notText],
    ],
  ],
  ["with every other problem", Path.of("o", n), "/o/abc", read, [["path.n", "malformed", notWhole], ...others]],
  [
    "beside one that is read",
    Path.of(n, big),
    "/abc/def?q=x",
    { q, big: param(big) },
    [
      ["path.n", "malformed", notWhole],
      ["query.q", "malformed", notWhole],
      ["path.big", "malformed", notWhole],
    ],
  ],
  ["beside what is waited for", Path.of("o", n), "/o/abc", { waits }, [["path.n", "malformed", notWhole]]],
  ["where the request is read whole", Path.of("o", n), "/o/abc", { request }, [["path.n", "malformed", notWhole]]],
  ["read behind a bind, told once", Path.of("o", n), "/o/abc", { bound }, [["path.n", "malformed", notWhole]]],
  ["read, told once", Path.of("o", n), "/o/abc", { n: param(n) }, [["path.n", "malformed", notWhole]]],
  [
    "read within another, told once",
    Path.of("o", n),
    "/o/abc",
    { n: Dep.all({ n: Dep.map(param(n), String), again: param(n) }) },
    [["path.n", "malformed", notWhole]],
  ],
];

describe("a path parameter that does not parse", () => {
  it.each(wrong)("%s", async (_what, path, target, inputs, problems) => {
    expect(await answered(path, target, inputs)).toEqual({ status: 400, body: invalid(...problems), ran: 0 });
    expect(await answered(path, target, inputs, "HEAD")).toMatchObject({ status: 400, ran: 0 });
  });

  it.each([
    ["text", Path.of("t", x), "/t/%2F%C3%BC", {}],
    ["a whole number", Path.of("o", n), "/o/-12", {}],
    ["64 bits", Path.of("o", big), "/o/9223372036854775807", {}],
    ["the application's own", Path.of("o", even), "/o/4", {}],
    ["a rest", Path.of("r", rest), "/r/a%20b/c", {}],
    ["a rest of nothing", Path.of("r", rest), "/r", {}],
    ["beside other inputs", Path.of("o", n), "/o/1?q=2", { q, waits }],
  ] as const)("%s that does parse is passed to the handler", async (_what, path, target, inputs) => {
    expect(await answered(path, target, inputs)).toEqual({ status: 200, body: "ran", ran: 1 });
  });

  it("that passes on leaves the path to the next route", async () => {
    expect(await answered(Path.of("d", declining), "/d/abc")).toEqual({ status: 404, body: notFound, ran: 0 });
    expect(await answered(Path.of("d", declining), "/d/5")).toEqual({ status: 200, body: "ran", ran: 1 });
    const routes = [routeOf(Path.of("d", declining)), get(Path.of("d", x), { returns: Returns.text }, () => "next")];
    for (const [target, body] of [
      ["/d/abc", "next"],
      ["/d/5", "ran"],
      ["/d/%zz", invalid(["path.x", "malformed", notText])],
    ] as const) {
      expect((await Test.call(Test.app(routes), "GET", target)).body).toBe(body);
    }
  });

  it("is not reported if an input refuses, which ends the request", async () => {
    const denied = Refusal.code("denied", { status: 403, doc: "No." });
    const inputs = { who: Dep.join({}, () => refuse(denied, "No."), { refuses: [denied] }) };
    expect(await answered(Path.of("o", n), "/o/abc", inputs)).toEqual({
      status: 403,
      body: '{"error":"denied","message":"No."}',
      ran: 0,
    });
  });

  it("is reported before the body is read", async () => {
    const route = post(Path.of("o", n), { inputs: { body: json(v.number()) }, returns: Returns.text }, () => "ran");
    const { status, body } = await Test.call(Test.app([route]), "POST", "/o/abc", { body: '"no number"' });
    expect([status, body]).toEqual([400, invalid(["path.n", "malformed", notWhole])]);
  });

  it("opens no WebSocket and starts no stream", async () => {
    const protocol = Socket.protocol({ client: Socket.text, server: Socket.text });
    const routes = [
      get(Path.of("socket", n), { returns: Returns.websocket(protocol) }, () => async () => {}),
      get(Path.of("events", n), { returns: Returns.events([]) }, () => () => {}),
    ];
    const app = Test.app(routes);
    const opened = await Test.websocket(app, protocol, "/socket/abc", async () => "opened");
    expect(opened).toMatchObject({ ok: false, error: { status: 400 } });
    expect((await Test.call(app, "GET", "/events/abc")).status).toBe(400);
    expect(await Test.websocket(app, protocol, "/socket/1", async () => "opened")).toEqual(Result.ok("opened"));
  });
});

describe("the API document lists the code invalid", () => {
  const codesOf = (path: Path.Path, inputs: Inputs = {}): unknown => {
    const document = JSON.parse(JSON.stringify(Openapi.document([routeOf(path, inputs)]))) as {
      readonly paths: { readonly [path: string]: { readonly get: { readonly responses: object } } };
    };
    return Object.keys(Object.values(document.paths)[0]?.get.responses ?? {});
  };
  it.each([
    ["where a parameter can fail", Path.of("o", n), {}, true],
    ["also a text, which may be no UTF-8", Path.of("t", x), {}, true],
    ["and not where it declines", Path.of("d", declining), {}, false],
    ["but where one that declines is read", Path.of("d", declining), { d: param(declining) }, true],
    ["and not where there is none", Path.of("d"), {}, false],
  ] as const)("%s", (_what, path, inputs, isListed) => {
    expect(codesOf(path, inputs)).toEqual(["200", ...(isListed ? ["400"] : []), "500", "503"]);
  });
});
