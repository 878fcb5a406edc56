/** A JSON body through HTTP (contract 4.5; rows JB). What each shape accepts is tested in test/schema. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Path, Refusal, Returns, Test, json, post } from "usher-http";
import { invalid, unsupported } from "../support/refusals.ts";
import { lines, messages } from "../support/logs.ts";

const int = v.pipe(v.number(), v.integer());
const Greeting = v.object({ name: v.optional(v.string(), "nobody"), times: v.optional(int, 1) });
const echo = post(
  Path.of("echo"),
  { inputs: { greeting: json(Greeting) }, returns: Returns.json(Greeting, { status: 201 }) },
  ({ greeting }) => greeting,
);
const Order = v.object({ item: v.string(), quantity: v.pipe(int, v.minValue(1)) });
const order = post(Path.of("orders"), { inputs: { order: json(Order) }, returns: Returns.empty() }, () => undefined);
const Lines = v.object({ items: v.array(v.object({ count: int })) });
const nested = post(Path.of("lines"), { inputs: { lines: json(Lines) }, returns: Returns.empty() }, () => undefined);
const Strict = v.strictObject({ a: v.optional(v.string()) });
const strict = post(Path.of("strict"), { inputs: { strict: json(Strict) }, returns: Returns.empty() }, () => undefined);
const Note = v.object({ note: v.optional(v.string()), kept: v.optional(v.string(), "here") });
const note = post(Path.of("notes"), { inputs: { note: json(Note) }, returns: Returns.json(Note) }, ({ note }) => note);
const app = Test.app([echo, order, nested, strict, note]);
const notWhole = "This must be a whole number, not text.";

async function sent(
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<readonly [number, string]> {
  const answered = await Test.call(app, "POST", path, { body, headers });
  return [answered.status, answered.body];
}

describe("a body that fits", () => {
  it("JB-01 an absent body is read as {}", async () => {
    const { status, body } = await Test.call(app, "POST", "/echo");
    expect([status, body]).toEqual([201, '{"name":"nobody","times":1}']);
  });

  it.each([
    ["JB-01", "", '{"name":"nobody","times":1}'],
    ["JB-01", " \r\n\t", '{"name":"nobody","times":1}'],
    ["JB-01", "{}", '{"name":"nobody","times":1}'],
    ["JB-02", '{"name":"lee","times":3}', '{"name":"lee","times":3}'],
    ["JB-02", ' {"times":3, "name":"l\\u0065\\ud83d\\ude42"} ', '{"name":"le🙂","times":3}'],
    ["JB", '{"name":"é","other":{"deep":[1]},"times":2.0}', '{"name":"é","times":2}'],
    ["JB-19", '{"name":null}', '{"name":"nobody","times":1}'],
  ])("%s %j → %s", async (_id, text, expected) => {
    expect(await sent("/echo", text)).toEqual([201, expected]);
  });

  it("JB-19, JB-21 an optional member may be absent or null, and is then left out of the answer", async () => {
    for (const text of ['{"note":null}', "{}", '{"kept":null}'])
      expect(await sent("/notes", text)).toEqual([200, '{"kept":"here"}']);
    expect(await sent("/notes", '{"note":"a","kept":"b"}')).toEqual([200, '{"note":"a","kept":"b"}']);
  });
});

describe("a body that does not fit", () => {
  it.each([
    ["JB-03", "/echo", '{"times":"many"}', invalid(["body.times", "unexpected_type", notWhole])],
    ["JB-04", "/echo", "not json", invalid(["body", "malformed", "This is not JSON."])],
    ["JB-04", "/echo", '{"name":"a"', invalid(["body", "malformed", "This is not JSON."])],
    ["JB-04", "/echo", '{"name":"a"} x', invalid(["body", "malformed", "This is not JSON."])],
    ["JB-04", "/echo", "{'name':1}", invalid(["body", "malformed", "This is not JSON."])],
    [
      "JB-06",
      "/orders",
      '{"item":"tea","quantity":0}',
      invalid(["body.quantity", "too_small", "This must be at least 1."]),
    ],
    [
      "JB-07",
      "/lines",
      '{"items":[{"count":1},{"count":2},{"count":"x"}]}',
      invalid(["body.items[2].count", "unexpected_type", notWhole]),
    ],
    ["JB-18", "/strict", '{"b":1}', invalid(["body.b", "unknown_member", "This is not a member this object has."])],
    ["JB", "/orders", "[]", invalid(["body", "unexpected_type", "This must be an object, not a list."])],
    ["JB", "/orders", "null", invalid(["body", "unexpected_type", "This must be an object, not null."])],
  ])("%s %s %j", async (_id, path, text, expected) => {
    expect(await sent(path, text)).toEqual([400, expected]);
  });

  it("JB every problem is reported: wrong members first, then missing ones", async () => {
    expect(await sent("/orders", "")).toEqual([
      400,
      invalid(["body.item", "required", "This is required."], ["body.quantity", "required", "This is required."]),
    ]);
    expect(await sent("/orders", '{"quantity":"x"}')).toEqual([
      400,
      invalid(["body.quantity", "unexpected_type", notWhole], ["body.item", "required", "This is required."]),
    ]);
  });

  it.each([
    ["a byte no UTF-8 has", [0x22, 0xff, 0x22]],
    ["half a character", [0x22, 0xc3, 0x22]],
    ["an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
    ["a surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ])("JB-04 %s is not JSON", async (_what, bytes) => {
    expect(await sent("/echo", Uint8Array.from(bytes))).toEqual([
      400,
      invalid(["body", "malformed", "This is not JSON."]),
    ]);
  });
});

describe("the content type of a JSON body", () => {
  it.each([
    ["JB-09", "application/json"],
    ["JB-09", "application/merge-patch+json"],
    ["JB-09", "Application/JSON; charset=utf-8"],
    ["JB-09", 'application/json;charset="utf-8"'],
    ["JB-09", "application/vnd.api+JSON"],
  ])("%s %s is accepted", async (_id, type) => {
    expect((await sent("/echo", '{"times":3}', { "content-type": type }))[0]).toBe(201);
  });

  // RFC 8259 §8.1, §11: JSON is UTF-8, and a charset has no effect.
  it.each(["utf-16", "iso-8859-1", "utf-7", '"', "x y"].map((charset) => `application/json; charset=${charset}`))(
    "JB-14 whatever charset it has (%s), the body is read as UTF-8, or not at all",
    async (type) => {
      const headers = { "content-type": type };
      const isType = !/["y]$/.test(type);
      const latin = Uint8Array.of(0x7b, 0x22, 0x6e, 0x61, 0x6d, 0x65, 0x22, 0x3a, 0x22, 0xe9, 0x22, 0x7d);
      const utf16 = Buffer.from('{"times":3}', "utf16le");
      const is400 = [400, invalid(["body", "malformed", "This is not JSON."])];
      expect((await sent("/echo", '{"name":"é"}', headers))[0]).toBe(isType ? 201 : 415);
      for (const body of [latin, utf16])
        expect(await sent("/echo", body, headers)).toEqual(isType ? is400 : [415, unsupported]);
    },
  );

  it("JB-15 a byte order mark is a 400 (RFC 8259 §8.1)", async () => {
    const bad = invalid(["body", "malformed", "This is not JSON."]);
    expect(await sent("/echo", "\ufeff{}")).toEqual([400, bad]);
    expect(await sent("/echo", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]))).toEqual([400, bad]);
  });

  it("JB-10 a JSON body without a content type is read", async () => {
    expect(await sent("/echo", '{"times":3}')).toEqual([201, '{"name":"nobody","times":3}']);
  });

  it.each([
    ["JB-11", "text/plain"],
    ["JB-11", "application/x-www-form-urlencoded"],
    ["JB-11", "text/json"],
    ["JB-11", "application/jsonx"],
    ["JB-11", "image/svg+json"],
    ["JB-11", "application/+json"],
    ["JB-12", "application/json; ="],
    ["JB-12", "application"],
    ["JB-12", ""],
    ["JB-12", "application/json, text/plain"],
    ["JB-12", "json"],
  ])("%s %j is a 415", async (_id, type) => {
    expect(await sent("/echo", "not json", { "content-type": type })).toEqual([415, unsupported]);
  });

  it("JB-12 two Content-Type lines are a 415", async () => {
    const headers = [
      ["content-type", "application/json"],
      ["content-type", "application/json"],
    ] as const;
    expect((await Test.call(app, "POST", "/echo", { headers, body: "{}" })).status).toBe(415);
  });
});

describe("a refusal of the route's own for an invalid body", () => {
  const wrongShape = Refusal.code("wrong_shape", { status: 400, doc: "Not that shape." });
  const options = { refusal: [wrongShape, "Not a greeting."] } as const;
  const own = post(
    Path.of("own"),
    { inputs: { greeting: json(v.object({ name: v.string(), n: int }), options) }, returns: Returns.empty() },
    () => undefined,
  );

  it.each(['{"name":3,"n":"s3cret"}', "s3cret", "[".repeat(10_000), "[]"])(
    "JB-13 is everything that the client gets: %.12j",
    async (body) => {
      const answered = await Test.call(Test.app([own]), "POST", "/own", { body });
      expect([answered.status, answered.body]).toEqual([400, '{"error":"wrong_shape","message":"Not a greeting."}']);
      expect(JSON.stringify(lines())).not.toContain("s3cret");
    },
  );

  it("JB-13 the log has the problems", async () => {
    await Test.call(Test.app([own]), "POST", "/own", { body: '{"name":3,"n":"x"}' });
    const [detail] = messages("warn");
    expect(detail).toMatch(/^POST \/own: wrong_shape: /);
    expect(detail).toContain("This must be text, not a number. (unexpected_type)");
    expect(detail).toContain(`; body.n: ${notWhole} (unexpected_type)`);
    expect(messages("error")).toEqual([]);
  });

  it("JB-13 a wrong content type is refused as usual", async () => {
    const { body } = await Test.call(Test.app([own]), "POST", "/own", {
      body: "{}",
      headers: { "content-type": "a/b" },
    });
    expect(body).toBe(unsupported);
  });
});

it("a body may arrive in chunks of any size", async () => {
  const text = new TextEncoder().encode('{"name":"é🙂","times":12}');
  const { fetch } = App.make([echo]);
  for (let at = 1; at < text.length; at++) {
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(text.subarray(0, at));
        controller.enqueue(new Uint8Array());
        controller.enqueue(text.subarray(at));
        controller.close();
      },
    });
    const init: RequestInit & { readonly duplex: "half" } = { method: "POST", body: stream, duplex: "half" };
    expect(await (await fetch(new Request("http://h/echo", init))).text()).toBe('{"name":"é🙂","times":12}');
  }
});
