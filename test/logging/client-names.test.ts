/** Names that a client chose are in no log line, span or metric: the log has the names of the schema, and `(unknown)` for others. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import { z } from "zod";
import {
  Cookie,
  Codec,
  Event,
  Form,
  Header,
  Log,
  Metrics,
  Path,
  Query,
  Refusal,
  Returns,
  Shape,
  Socket,
  Test,
  Trace,
  addHeader,
  get,
  json,
  jsonLines,
  multipart,
  post,
  request,
} from "usher-http";
import type { Route } from "usher-http";
import { describeRaised } from "../../src/logging/raised.ts";
import { lines, logWith, logged } from "../support/logs.ts";
import { played } from "../models/seeds.ts";
import { kept } from "../telemetry/kept-spans.ts";

const text = { returns: Returns.text };
const unfit = Refusal.code("unfit", { status: 422, doc: "Does not fit." });
// With what no id has: ids are random.
const mark = "zq_9";
const shop = Log.source("shop");

/** Shapes that have something to say of a member whose name they lack, or of a map's key. */
const shapes = {
  strict: v.strictObject({ count: v.optional(v.number()) }),
  rest: v.objectWithRest({ count: v.optional(v.number()) }, v.boolean()),
  record: v.record(v.string(), v.boolean()),
  "keys that are checked": v.record(v.pipe(v.string(), v.maxLength(2)), v.unknown()),
  nested: v.object({ inner: v.optional(v.record(v.string(), v.object({ count: v.number() }))) }),
  "a check that quotes": v.pipe(
    v.record(v.string(), v.unknown()),
    v.check(
      () => false,
      ({ input }) => `No ${Object.keys(input).join()}.`,
    ),
  ),
  "a check of its own": v.pipe(
    v.record(v.string(), v.unknown()),
    v.rawCheck(({ dataset, addIssue }) => {
      for (const key of Object.keys(dataset.value as object)) {
        const input = dataset.value as { [name: string]: unknown };
        addIssue({ message: `No ${key}.`, path: [{ type: "object", origin: "value", input, key, value: 1 }] });
      }
    }),
  ),
  union: v.union([v.record(v.string(), v.boolean()), v.number()]),
  "a shape by the value": v.lazy((given) =>
    v.object(Object.fromEntries(Object.keys(given ?? {}).map((name) => [name, v.boolean()]))),
  ),
  zod: z.strictObject({ count: z.number().optional() }),
  "a record of zod": z.record(z.string(), z.boolean()),
} as const;

const bodyRoutes: readonly Route[] = Object.entries(shapes).flatMap(([name, shape]) => [
  post(
    Path.of("json", name),
    { inputs: { sent: json(shape as v.GenericSchema, { refusal: [unfit, "No."] }) }, ...text },
    () => "",
  ),
  post(Path.of("listed", name), { inputs: { sent: json(shape as v.GenericSchema) }, ...text }, () => ""),
  post(
    Path.of("lines", name),
    { inputs: { sent: jsonLines(shape as v.GenericSchema, { max: 1e6 }) }, ...text },
    async ({ sent }) => {
      const read = await sent.read();
      if (!read.ok) shop.warn(read.error.detail);
      return "";
    },
  ),
]);

/** What fails, or raises, by a name of a client's. */
const nameRoutes: readonly Route[] = [
  post(
    Path.of("form"),
    { inputs: { count: Form.required("count", Codec.int), file: Form.File.required("file") }, ...text },
    () => "",
  ),
  post(Path.of("parts"), { inputs: { sent: multipart({ max: 1e6 }) }, ...text }, async ({ sent }) => {
    for await (const part of sent) if (part.filename !== undefined) throw new TypeError(part.name);
    return "";
  }),
  get(
    Path.of("head"),
    {
      inputs: {
        page: Query.optional("page", Codec.int),
        list: Query.list("ids", Codec.int),
        header: Header.optional("x-count", Codec.int),
        cookie: Cookie.optional(Cookie.named("seen", Codec.int)),
      },
      ...text,
    },
    () => "",
  ),
  get(Path.of("raises"), { inputs: { request }, ...text }, ({ request }) => {
    const name = request.query("name") ?? "";
    const { [name]: Named } = { [name]: class extends Error {} };
    const { [name]: named } = {
      [name]: () => {
        throw new (Named as new (message: string) => Error)(name);
      },
    };
    named?.();
    return "";
  }),
  get(Path.of("span"), { inputs: { request }, ...text }, ({ request }) => {
    const name = request.query("name") ?? "";
    const { [name]: Named } = { [name]: class extends Error {} };
    return Trace.span("work", () => Promise.reject(new (Named as new () => Error)()));
  }),
  get(Path.of("header"), { inputs: { request, addHeader }, ...text }, ({ request, addHeader }) => {
    addHeader(`${request.query("name")}\n`, "x");
    return "";
  }),
  get(
    Path.of("events"),
    { inputs: { request }, returns: Returns.events([Event.text("tick")]) },
    ({ request }) =>
      async () => {
        const name = request.query("name") ?? "";
        throw new (class extends Error {
          override readonly name = name;
        })(name);
      },
  ),
];

const protocol = Socket.protocol({ client: Socket.json(shapes.record), server: Socket.text });
const socket = get(Path.of("socket"), { returns: Returns.websocket(protocol) }, () => async (socket) => {
  const read = await socket.receive();
  if (!read.ok && "detail" in read.error) shop.warn(String(read.error.detail));
});

/** A name that no program has: no identifier, or too long for one. */
const hostile = fc
  .tuple(
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.constantFrom(" ", "\u0000", "'", '"', "-", "\n", "é", "(", "x".repeat(70)),
  )
  .map(([some, odd]) => `${mark}${odd}${some}`);

describe("a name that a client chose", () => {
  it("is in no log line, span or metric", async () => {
    const { trace, spans } = kept();
    const app = Test.app([...bodyRoutes, ...nameRoutes, socket, ...Metrics.routes()], { trace, checkOrigin: false });
    const call = (method: string, path: string, options: Parameters<typeof Test.call>[3]) =>
      Test.call(app, method, path, options).catch(() => undefined);
    await fc.assert(
      fc.asyncProperty(hostile, async (name) => {
        logWith({ level: "debug" });
        const sent = JSON.stringify({ inner: { [name]: 1 }, [name]: 1 });
        for (const { pattern } of bodyRoutes) {
          const type = pattern.startsWith("/lines") ? "application/jsonl" : "application/json";
          await call("POST", encodeURI(pattern), { headers: { "content-type": type }, body: sent });
        }
        const query = new URLSearchParams({ [name]: "x", name });
        const token = name.replaceAll(/[^\w-]/g, "-");
        const headers = { [token]: "x", cookie: `${token}=x; seen=x`, "x-count": "x" };
        for (const path of ["head", "raises", "span", "header"])
          await call("GET", `/${path}?page=x&ids=x&${query}`, { headers });
        const form = new FormData();
        form.append(name, "x");
        form.append(name, new File(["x"], name));
        for (const path of ["/form", "/parts"]) await call("POST", path, { body: form });
        await call("POST", "/form", {
          body: query.toString(),
          headers: { "content-type": "application/x-www-form-urlencoded" },
        });
        await Test.events(app, `/events?${query}`, () => {}).catch(() => {});
        const raw = Socket.protocol({ client: Socket.text, server: Socket.text });
        await Test.websocket(app, raw, "/socket", async (socket) => {
          await socket.send(sent);
          await socket.receive();
        }).catch(() => {});
        expect(logged().filter((line) => line.includes(mark))).toEqual([]);
        expect(lines().length).toBeGreaterThan(40);
      }),
      played(20),
    );
    const told = spans().map(({ name, attributes, status, events }) =>
      JSON.stringify([name, attributes, status, events]),
    );
    expect(told.filter((span) => span.includes(mark))).toEqual([]);
    expect((await Test.call(app, "GET", "/metrics")).body).not.toContain(mark);
  });

  it.each([
    [
      "a member that the shape lacks",
      shapes.strict,
      { [mark]: 1 },
      "body.(unknown): This is not a member this object has. (unknown_member)",
    ],
    [
      "a member of the shape",
      shapes.strict,
      { count: "x" },
      "body.count: This must be a number, not text. (unexpected_type)",
    ],
    [
      "the key of a map",
      shapes.record,
      { [mark]: 1 },
      "body.(unknown): This must be true or false, not a number. (unexpected_type)",
    ],
    [
      "below the key of a map",
      shapes.nested,
      { inner: { [mark]: { count: "x" } } },
      "body.inner.(unknown).count: This must be a number, not text. (unexpected_type)",
    ],
    [
      "a key itself",
      shapes["keys that are checked"],
      { [mark]: 1 },
      "body.(unknown)[name]: This must be at most 2 characters long. (too_long)",
    ],
    ["a sentence of a function", shapes["a check that quotes"], { [mark]: 1 }, "body: malformed"],
    ["a member of zod's", shapes.zod, { count: "x" }, "body.count: invalid_type"],
    ["a member that zod lacks", shapes["a record of zod"], { [mark]: 1 }, "body.(unknown): invalid_type"],
    [
      "a described schema",
      Shape.described(z.object({ day: z.date() }), { type: "object", properties: { day: {} } }),
      { day: 1 },
      "body.day: invalid_type",
    ],
  ])("is not in the detail of a refusal: %s", async (_what, shape, sent, detail) => {
    const route = post(
      Path.of("x"),
      { inputs: { sent: json(shape as v.GenericSchema, { refusal: [unfit, "No."] }) }, ...text },
      () => "",
    );
    await Test.call(Test.app([route]), "POST", "/x", {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sent),
    });
    expect(lines().map(({ message }) => message)).toContain(`POST /x: unfit: ${detail}`);
  });

  it("is given to the client", async () => {
    const { problems } = (
      await Test.call(Test.app(bodyRoutes), "POST", "/listed/strict", {
        headers: { "content-type": "application/json" },
        body: `{"${mark}":1}`,
      })
    ).json() as { readonly problems: readonly { readonly at: string }[] };
    expect(problems.map(({ at }) => at)).toEqual([`body.${mark}`]);
  });
});

describe("the kind of an error", () => {
  const { a: named } = { a: class OrderError extends Error {} };
  it.each([
    ["a class of the program", named, "OrderError"],
    ["a class whose name is no identifier", { "no 'x'": class extends Error {} }["no 'x'"], "Error"],
    ["a class whose name is too long", { ["x".repeat(65)]: class extends Error {} }["x".repeat(65)], "Error"],
    ["a class of letters that are not ASCII", { été: class extends Error {} }["été"], "Error"],
  ])("is a short identifier: %s", (_what, Class, kind) => {
    expect(describeRaised(new (Class as new () => Error)()).kind).toBe(kind);
  });

  it("has frames, without the names of functions that are no identifiers", () => {
    const name = `${mark} (x`;
    const { [name]: thrower } = { [name]: () => describeRaised(new Error("x")).stack };
    const stack = thrower?.() ?? "";
    expect(stack).toContain("client-names.test.ts");
    expect(stack).not.toContain(mark);
  });
});
