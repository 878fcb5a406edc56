/** Answers, events and messages of sockets by schemas of other libraries than Valibot: validated, and written as JSON. */
import { describe, expect, it } from "vitest";
import {
  Answer,
  Broadcast,
  Client,
  Event,
  Path,
  RefusalFormat,
  Returns,
  Socket,
  Test,
  answer,
  get,
  json,
  post,
} from "usher-http";
import type { Route, Shape } from "usher-http";
import * as z from "zod";
import { logged, messages } from "../support/logs.ts";
import { arktype, effects, zod } from "./libraries.ts";

type Standard = Shape.StandardSchema;
const libraries = [zod, arktype, effects];
const good = { item: "pen", count: 3, tags: ["a"], state: "new", buyer: { name: "Kim" } };

async function told(route: Route): Promise<readonly [status: number, body: string]> {
  const { status, body } = await Test.call(Test.app([route]), "GET", "/told");
  return [status, body];
}

const at = Path.of("told");
const returning = (schema: Standard, value: unknown): Route => get(at, { returns: Returns.json(schema) }, () => value);

describe.each(libraries)("an answer by $name", ({ name, ...library }) => {
  const order = library.order as Standard;

  it("is validated and written, without undeclared members", async () => {
    expect(await told(returning(order, { ...good, password: "s3cret" }))).toEqual([200, JSON.stringify(good)]);
    expect(await told(returning(library.length as Standard, "seven"))).toEqual([200, "5"]);
    const day = "2026-09-30T12:00:00.000Z";
    expect(await told(returning(library.day as Standard, day))).toEqual([200, JSON.stringify(day)]);
    expect(await told(returning(library.defaulted as Standard, {}))).toEqual([200, '{"note":"none"}']);
    const several = Returns.jsonResponse(order, { 200: "Here.", 201: "Made." });
    expect(await told(get(at, { returns: several }, () => answer(201, good)))).toEqual([201, JSON.stringify(good)]);
    const built = get(at, { returns: Returns.response }, () => Answer.json(order, good, { status: 202 }));
    expect(await told(built)).toEqual([202, JSON.stringify(good)]);
  });

  it("that its schema refuses is a 500, and the log has its place and no value", async () => {
    const [status] = await told(returning(order, { ...good, buyer: { name: 987654321012 }, state: "s3cret" }));
    expect(status).toBe(500);
    expect(messages("error").join("\n")).toMatch(
      new RegExp(
        `GET /told: internal: an answer its shape cannot write: value\\.(buyer\\.name|state) is refused by its schema \\(${name}\\)`,
      ),
    );
    expect(logged().join("\n")).not.toMatch(/s3cret|987654321012/);
  });

  it("may be an event, and one that its schema refuses is not sent", async () => {
    const kind = Event.json("order", order);
    const events = get(at, { returns: Returns.events([kind]) }, () => async (send) => {
      await send(Event.make(kind, { ...good, state: "s3cret" }));
      await send(Event.make(kind, { ...good, password: "s3cret" }, { id: "7" }));
    });
    const { body } = await Test.call(Test.app([events]), "GET", "/told");
    expect(body).toBe(`event: order\nid: 7\ndata: ${JSON.stringify(good)}\n\n`);
    expect(messages("error")).toEqual([
      expect.stringMatching(/^the event "order" could not be made: value\.state is refused by its schema/),
    ]);
    expect(logged().join("\n")).not.toContain("s3cret");
  });

  it("may be a message of a WebSocket, in both directions", async () => {
    const protocol = Socket.protocol({ client: Socket.json(library.length as Standard), server: Socket.json(order) });
    const lengths: unknown[] = [];
    const room = get(at, { returns: Returns.websocket(protocol) }, () => async (socket) => {
      for await (const length of socket) {
        lengths.push(length);
        await socket.send({ ...good, password: "s3cret" });
        await socket.send(Socket.encode(protocol.server, good));
      }
    });
    const app = Test.app([room]);
    const heard = await Test.websocket(app, protocol, "/told", async (socket) => {
      await socket.send("seven");
      return [await socket.receive(), await socket.receive()];
    });
    expect(lengths).toEqual([5]);
    expect(heard).toEqual({
      ok: true,
      value: [
        { ok: true, value: good },
        { ok: true, value: good },
      ],
    });
    const wrong = await Test.websocket(app, protocol, "/told", async (socket) => {
      await socket.send({ password: "s3cret" });
      return socket.receive();
    });
    expect(wrong).toMatchObject({ value: { ok: false, error: { code: 1007 } } });
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});

/** A schema whose output is any value. */
const any = (output: unknown): Standard => z.unknown().transform(() => output);

class Point {
  readonly x = 1;
  get y(): number {
    return 2;
  }
}
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const endless = { toJSON: (): unknown => endless };
let deep: unknown = 1;
for (let level = 0; level < 513; level++) deep = [deep];

describe("the output of a schema", () => {
  it.each<readonly [what: string, output: unknown, json: string]>([
    ["text", "a", '"a"'],
    ["null", null, "null"],
    ["a Date", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["a URL", new URL("https://example.com/a"), '"https://example.com/a"'],
    ["a class's own members", new Point(), '{"x":1}'],
    ["members that are undefined", { a: undefined, b: 1 }, '{"b":1}'],
    ["a member named __proto__", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    ["toJSON", { toJSON: () => ({ a: [new Date(0)] }) }, '{"a":["1970-01-01T00:00:00.000Z"]}'],
  ])("may be %s", async (_what, output, json) => {
    expect(await told(returning(any(output), 1))).toEqual([200, json]);
  });

  it.each<readonly [what: string, output: unknown, said: string]>([
    ["undefined", undefined, "value is missing: it must be JSON"],
    ["a bigint", { id: 1n }, "value.id is a bigint"],
    ["a Map", { m: new Map() }, "value.m is an object that is not JSON"],
    ["a Set", [new Set()], "value[0] is an object that is not JSON"],
    ["bytes", new Uint8Array(2), "value is an object that is not JSON"],
    ["a promise", Promise.resolve(1), "its schema (zod) validates by a promise"],
    ["a promise within", { p: Promise.resolve(1) }, "value.p is an object that is not JSON"],
    ["a function", { f: () => 1 }, "value.f must be JSON, not something else"],
    ["a symbol", [Symbol("s3cret")], "value[0] must be JSON, not something else"],
    ["a hole in a list", [undefined], "value[0] is missing: it must be JSON"],
    ["NaN", { n: Number.NaN }, "value.n must be a finite number"],
    ["infinity", Infinity, "value must be a finite number"],
    ["an invalid Date", new Date(Number.NaN), "value is an invalid Date"],
    ["itself", cyclic, "is nested more than 512 deep, or holds itself"],
    ["a toJSON without end", endless, "is nested more than 512 deep, or holds itself"],
    ["too deep", deep, "is nested more than 512 deep, or holds itself"],
    ["half of a surrogate pair", { a: "\ud800" }, "value.a holds half of a surrogate pair"],
  ])("that is %s is a 500 with a message", async (_what, output, said) => {
    expect((await told(returning(any(output), 1)))[0]).toBe(500);
    expect(messages("error").join("\n")).toContain(`an answer its shape cannot write: `);
    expect(messages("error").join("\n")).toContain(said);
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});

/** A library that returns this result. */
const answering = (validate: (value: unknown) => unknown, more: object = {}): Standard =>
  ({ "~standard": { version: 1, vendor: "odd", validate, ...more } }) as Standard;

const revoked = Proxy.revocable({}, {});
revoked.revoke();

describe("a library that violates the standard", () => {
  it.each<readonly [what: string, result: unknown, said: string]>([
    ["undefined", undefined, "its schema (odd) answered its validation with no object"],
    ["text", "s3cret", "its schema (odd) answered its validation with no object"],
    ["neither", {}, "its schema (odd) answered its validation with neither a value nor issues"],
    ["issues that are no list", { issues: "s3cret" }, "answered its validation with issues that are no list"],
    ["no issue", { issues: [] }, "answered its validation with issues that are no list"],
    ["an issue that is no object", { issues: ["s3cret"] }, "answered an issue that is no object"],
  ])("and returns %s: a 500, also from a promise", async (_what, result, said) => {
    for (const validate of [() => result, () => Promise.resolve(result)]) {
      const route = post(at, { inputs: { body: json(answering(validate)) }, returns: Returns.text }, () => "");
      const { status, body } = await Test.call(Test.app([route]), "POST", "/told", { body: "{}" });
      expect([status, body]).toEqual([500, expect.not.stringContaining("odd")]);
    }
    expect(messages("error")).toHaveLength(2);
    for (const message of messages("error")) expect(message).toMatch(/^POST \/told/);
    expect(messages("error").join("\n")).toContain(said);
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});

describe("an issue of a library", () => {
  it.each<readonly [what: string, issue: object, problem: object]>([
    ["no message", {}, { at: "body", code: "malformed", message: "This could not be read." }],
    ["a message that is no text", { message: { a: 1 } }, { at: "body", message: "This could not be read." }],
    ["a code that is no token", { message: "m", code: "Too_Small" }, { code: "malformed", message: "m" }],
    ["a code of the library", { message: "m", code: "too_small" }, { code: "too_small" }],
    ["a path of objects", { message: "m", path: [{ key: "list" }, { key: 0 }] }, { at: "body.list[0]" }],
    ["digits as text within a list", { message: "m", path: ["list", "0"] }, { at: "body.list[0]" }],
    ["a name that is odd", { message: "m", path: ["a b", "__proto__"] }, { at: 'body["a b"].__proto__' }],
    ["a symbol in its path", { message: "m", path: ["list", Symbol("s3cret"), "x"] }, { at: "body.list" }],
    ["a path that is no list", { message: "m", path: "list" }, { at: "body" }],
    ["a path without end", { message: "m", path: Array(1e6).fill("a") }, { at: `body${".a".repeat(512)}` }],
    ["a message without end", { message: "m".repeat(1e6) }, { message: `${"m".repeat(499)}…` }],
    ["what is missing", { message: "m", code: "odd", path: ["gone"] }, { at: "body.gone", code: "required" }],
    ["what is inherited", { message: "m", code: "odd", path: ["toString"] }, { code: "required" }],
    ["the value", { message: 'Not "s3cret-text".', path: ["text"] }, { message: "This could not be read." }],
    ["the value at its end", { message: "Bad, got s3cret-text", path: ["text"] }, { message: "Bad" }],
    [
      "the start of the value",
      { message: "Not s3cret-long-text-th…", path: ["long"] },
      { message: "This could not be read." },
    ],
    ["a short value", { message: "The code ab is unknown.", path: ["short"] }, { message: "This could not be read." }],
    ["a word that has the value in it", { message: "An absent one.", path: ["short"] }, { message: "An absent one." }],
    ["a number", { message: "Not 987654321012!", path: ["number"] }, { message: "This could not be read." }],
    ["a longer number", { message: "At most 9876543210120.", path: ["number"] }, { message: "At most 9876543210120." }],
    ["true", { message: "It was true.", path: ["yes"] }, { message: "It" }],
    ["a part of the value", { message: 'In {"text":"s3cret-text"}' }, { message: "This could not be read." }],
    ["a number of the value", { message: 'In {"number":987654321012}' }, { message: "This could not be read." }],
    [
      "ArkType's own words",
      { message: "n must be odd (was 987654321012)", expected: "odd", path: ["number"] },
      { message: "This must be odd." },
    ],
  ])("with %s is a problem", async (_what, issue, problem) => {
    const route = post(
      at,
      { inputs: { body: json(answering(() => ({ issues: [issue] }))) }, returns: Returns.text },
      () => "",
    );
    const body = JSON.stringify({
      list: [1],
      text: "s3cret-text",
      long: "s3cret-long-text-that-goes-on",
      short: "ab",
      number: 987654321012,
      yes: true,
    });
    const { status, json: parsed } = await Test.call(Test.app([route]), "POST", "/told", { body });
    expect(status).toBe(400);
    expect(parsed()).toMatchObject({ problems: [problem] });
    expect(logged().join("\n")).not.toMatch(/s3cret|987654321012/);
  });
});

describe("a library", () => {
  it("that throws is a 500, whatever it throws", async () => {
    for (const thrown of [new TypeError("s3cret"), "s3cret", revoked.proxy]) {
      const schema = answering(() => {
        throw thrown;
      });
      const route = post(at, { inputs: { body: json(schema) }, returns: Returns.json(schema) }, () => 1);
      expect((await Test.call(Test.app([route]), "POST", "/told", { body: "{}" })).status).toBe(500);
    }
    expect(logged().join("\n")).not.toContain("s3cret");
  });

  const noShape = "A shape must be a schema of Valibot, or of another library of Standard Schema.";
  const version = "its schema (odd) is of another version";
  const validate = "its schema (odd) has no ~standard.validate";
  it.each<readonly [what: string, schema: unknown, said: string, where: string]>([
    ["no schema", { type: "string" }, noShape, "its shape is another object, and not a schema"],
    ["undefined", undefined, noShape, "its shape is undefined, and not a schema"],
    ["text", "string", noShape, "its shape is a string, and not a schema"],
    ["another version", answering(() => 1, { version: 2 }), version, version],
    ["no validate", answering(() => 1, { validate: undefined }), validate, validate],
  ])("that is %s is refused when the app is made", (_what, schema, said, where) => {
    const body = post(at, { inputs: { body: json(schema as Standard) }, returns: Returns.text }, () => "");
    const answered = get(at, { returns: Returns.json(schema as Standard) }, () => 1);
    expect(() => Test.app([body])).toThrow(`POST /told: ${said}`);
    expect(() => Test.app([answered])).toThrow(`GET /told: ${said}`);
    expect(() => Event.json("a", schema as Standard)).toThrow(where);
    expect(() => Socket.json(schema as Standard)).toThrow(where);
  });
});

describe("a body of many values with one problem at its root", () => {
  it("costs no more than a limit", async () => {
    let calls = 0;
    const schema = answering(() => {
      calls++;
      return { issues: Array.from({ length: 1000 }, () => ({ message: "They are not alike." })) };
    });
    const route = post(at, { inputs: { body: json(schema) }, returns: Returns.text }, () => "");
    const body = JSON.stringify(Array.from({ length: 400_000 }, () => 7));
    const { status } = await Test.call(Test.app([route]), "POST", "/told", { body });
    expect([status, calls]).toEqual([400, 1]);
  });
});

describe("a hub", () => {
  it("carries events and messages of any schema", async () => {
    const kind = Event.json("order", z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }));
    const hub = Broadcast.create<typeof kind>();
    const subscription = hub.subscribe("orders");
    hub.publish("orders", Event.make(kind, { at: "2026-09-30T12:00:00.000Z" }));
    expect((await subscription.next())?.wire).toBe('event: order\ndata: {"at":"2026-09-30T12:00:00.000Z"}\n\n');
    hub.close();
  });
});

describe("a typed client", () => {
  it("calls a route with schemas of Zod", async () => {
    const Placed = z.object({
      id: z.string().transform(Number),
      at: z.iso.datetime().transform((text) => new Date(text)),
    });
    const place = post(
      Path.of("orders"),
      { inputs: { order: json(z.object({ count: z.string().transform(Number) })) }, returns: Returns.json(Placed) },
      ({ order }) => ({ id: String(order.count + 1), at: "2026-09-30T12:00:00.000Z" }),
    );
    const { app } = Test.app([place]);
    const routes = [place] as const;
    const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch: (request) => app.fetch(request) });
    const placed = await api["POST /orders"]({ json: { count: "7" } });
    expect(placed).toMatchObject({ ok: true, value: { id: 8, at: "2026-09-30T12:00:00.000Z" } });
    if (placed.ok)
      expect(placed.value.at.toUpperCase() + placed.value.id.toFixed(1)).toBe("2026-09-30T12:00:00.000Z8.0");
    expect(await api["POST /orders"]({ json: { count: 7 as never } })).toMatchObject({
      ok: false,
      error: "invalid",
      problems: [{ at: "body.count", code: "invalid_type" }],
    });
  });
});

describe.each(libraries)("a format of refusals by $name", ({ name, ...library }) => {
  it("is validated and written", async () => {
    const shape = library.order as Standard;
    const write = (): object => ({ ...good, password: "s3cret" });
    const app = Test.app([], { refusalFormat: RefusalFormat.json({ shape, write }) });
    const { status, body } = await Test.call(app, "GET", "/gone");
    expect([name, status, body]).toEqual([name, 404, JSON.stringify(good)]);
  });
});
