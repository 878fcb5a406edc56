/** The value that a handler returns, written as its route declares it (contract 4.3; rows AN, RT-01, RT-51, JB-21, JB-22). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Path, Returns, Shape, Test, answer, get, param } from "usher-http";
import type { Returns as Kind } from "usher-http";
import { internal } from "../support/refusals.ts";
import { logged, messages } from "../support/logs.ts";

async function answers<A>(returns: Kind<A, unknown>, value: unknown) {
  const route = get(Path.of("x"), { returns }, () => value as never);
  const { status, body, headers } = await Test.call(Test.app([route]), "GET", "/x");
  return { status, body, type: headers.get("content-type"), length: headers.get("content-length") };
}

const Greeting = v.object({ name: v.string(), times: v.number() });

describe("one status", () => {
  it("RT-01 JSON is compact, its members in declared order", async () => {
    const name = Path.str("name");
    const hello = get(
      Path.of("hello", name),
      { inputs: { name: param(name) }, returns: Returns.json(Greeting) },
      ({ name }) => ({ times: 1, name }),
    );
    const { status, body, headers } = await Test.call(Test.app([hello]), "GET", "/hello/kim");
    expect([status, body, headers.get("content-type")]).toEqual([200, '{"name":"kim","times":1}', "application/json"]);
  });

  it.each([
    ["AN-01", Returns.html, "<p>é", 200, "<p>é", "text/html; charset=utf-8", "5"],
    ["AN", Returns.text, "é\n", 200, "é\n", "text/plain; charset=utf-8", "3"],
    ["AN", Returns.text, "", 200, "", "text/plain; charset=utf-8", "0"],
    [
      "AN-03",
      Returns.json(Greeting, { status: 201 }),
      { name: "kim", times: 2 },
      201,
      '{"name":"kim","times":2}',
      "application/json",
      "24",
    ],
    ["AN", Returns.json(v.nullable(v.string())), null, 200, "null", "application/json", "4"],
    ["AN", Returns.json(v.string()), '\u2028"\\\u0000🙂', 200, '"\u2028\\"\\\\\\u0000🙂"', "application/json", "19"],
    ["AN", Returns.empty(), undefined, 204, "", null, null],
    ["RT-51", Returns.empty({ status: 202 }), undefined, 202, "", null, "0"],
    ["RT-51", Returns.empty({ status: 205 }), undefined, 205, "", null, "0"],
    ["RT-51", Returns.empty({ status: 200 }), "ignored", 200, "", null, "0"],
  ])("%s %#", async (_id, returns, value, status, body, type, length) => {
    expect(await answers(returns as Kind<unknown>, value)).toEqual({ status, body, type, length });
  });

  it("AN a member that the shape does not declare is never sent", async () => {
    const kim = { name: "kim", times: 1, password: "s3cret", toJSON: () => "s3cret" };
    expect((await answers(Returns.json(Greeting), kim)).body).toBe('{"name":"kim","times":1}');
    const deep = Returns.json(v.array(v.object({ by: Greeting })));
    expect((await answers(deep, [{ by: kim, other: kim }])).body).toBe('[{"by":{"name":"kim","times":1}}]');
  });

  it("JB-21 an absent optional member is left out; a built-in shape is written in its own format", async () => {
    const Order = v.object({
      id: Shape.int64,
      note: v.optional(v.string()),
      placed_at: Shape.instant,
      day: Shape.date,
    });
    const order = { id: 9007199254740993n, placed_at: new Date(0), day: [2026, 9, 30] as const };
    const { body } = await answers(Returns.json(Order), order);
    expect(body).toBe('{"id":9007199254740993,"placed_at":"1970-01-01T00:00:00.000Z","day":"2026-09-30"}');
  });

  it("AN may be a promise of any kind", async () => {
    const thenable = { then: (done: (value: string) => void) => done("later") };
    expect((await answers(Returns.text, Promise.resolve("later"))).body).toBe("later");
    expect((await answers(Returns.text, thenable)).body).toBe("later");
  });
});

describe("several statuses", () => {
  const users = Returns.jsonResponse(v.string(), { 201: "Made.", 200: "Replaced." });
  it.each([
    ["AN-04", users, answer(201, "kim"), 201, '"kim"', "application/json"],
    ["AN-04", users, answer(200, "ada"), 200, '"ada"', "application/json"],
    ["AN-04", Returns.emptyResponse({ 201: "Made.", 204: "Done." }), answer(201), 201, "", null],
    ["AN-04", Returns.emptyResponse({ 201: "Made.", 204: "Done." }), answer(204), 204, "", null],
  ])("%s %#", async (_id, returns, value, status, body, type) => {
    expect(await answers(returns as Kind<unknown>, value)).toMatchObject({ status, body, type });
  });
});

describe("JB-22 a value that does not fit its declaration is a 500; the log has the detail, and no value", () => {
  const secret = "s3cret";
  const circular: unknown[] = [];
  circular.push(circular);
  it.each([
    ["text that is none", Returns.text, 7],
    ["a page that is none", Returns.html, undefined],
    ["a number that is none", Returns.json(v.number()), Number.NaN],
    ["infinity", Returns.json(v.object({ n: v.number() })), { n: Number.POSITIVE_INFINITY }],
    ["another sort", Returns.json(Greeting), { name: secret, times: secret }],
    ["a member missing", Returns.json(Greeting), { name: secret }],
    ["no object", Returns.json(Greeting), secret],
    ["undefined", Returns.json(Greeting), undefined],
    ["a word of no list", Returns.json(v.picklist(["a", "b"])), secret],
    ["half a character", Returns.json(v.string()), "\ud800"],
    ["an instant that is none", Returns.json(Shape.instant), new Date(Number.NaN)],
    ["a circle", Returns.json(v.any()), circular],
    ["a function", Returns.json(v.any()), () => secret],
    ["a bare value, where a status is to be named", Returns.jsonResponse(v.string(), { 200: "Yes." }), secret],
    ["a status that is none", Returns.jsonResponse(v.string(), { 200: "Yes." }), { status: "200", value: secret }],
    ["no status", Returns.emptyResponse({ 201: "Made." }), undefined],
  ])("%s", async (_what, returns, value) => {
    expect(await answers(returns as Kind<unknown>, value)).toMatchObject({
      status: 500,
      body: internal,
      type: "application/json",
    });
    const [detail, ...more] = messages("error");
    expect([more, logged().join("\n").includes(secret)]).toEqual([[], false]);
    expect(detail).toMatch(/^GET \/x: internal: \S/);
    expect(messages("info")).toEqual(["GET /x 500"]);
  });
});
