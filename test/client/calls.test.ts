/** The typed client with an app's own `fetch`: routes receive the arguments of a call, and the call returns their answers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import {
  Answer,
  App,
  Client,
  Codec,
  Dep,
  Form,
  Header,
  Path,
  Query,
  Refusal,
  Returns,
  Shape,
  answer,
  body,
  bodyStream,
  get,
  json,
  multipart,
  param,
  post,
  refuse,
} from "usher-http";
import "../support/logs.ts";

const text = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed());
const segment = text.filter((text) => !/^\.{0,2}$/.test(text));
const id = Path.int("id");
const name = Path.str("name");
const rest = Path.rest("rest");
const gone = Refusal.code("gone", { status: 410, doc: "It was there." });

const Order = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.minValue(1)) });
const seen = Dep.ofRequest((request) => [...request.headers]);

const routes = [
  get(
    Path.of("orders", id),
    { inputs: { id: param(id) }, returns: Returns.json(v.number()), refuses: [gone] },
    ({ id }) => (id === 0 ? refuse(gone, "It was sold.") : id),
  ),
  post(
    Path.of("orders"),
    { inputs: { order: json(Order) }, returns: Returns.json(Order, { status: 201 }) },
    ({ order }) => order,
  ),
  get(Path.of("two words", name, "x"), { inputs: { name: param(name) }, returns: Returns.text }, ({ name }) => name),
  get(
    Path.of("files", rest),
    { inputs: { rest: param(rest) }, returns: Returns.json(v.array(v.string())) },
    ({ rest }) => rest,
  ),
  get(
    Path.of("query"),
    {
      inputs: {
        word: Query.optional("word", Codec.string),
        size: Query.list("size", Codec.int),
        flag: Query.optional("flag", Codec.bool),
        at: Query.optional("at", Codec.instant),
        big: Query.optional("big", Codec.int64),
        day: Query.optional("day", Codec.date),
        ratio: Query.optional("ratio", Codec.float),
      },
      returns: Returns.response,
    },
    ({ at, big, ...others }) =>
      Response.json({ ...others, at: at?.getTime(), big: big === undefined ? undefined : `${big}` }),
  ),
  get(
    Path.of("headers"),
    {
      inputs: { seen, tag: Header.optional("X-Tag", Codec.string) },
      returns: Returns.json(v.array(v.array(v.string()))),
    },
    ({ seen }) => seen.map((pair) => [...pair]),
  ),
  post(
    Path.of("form"),
    {
      inputs: {
        title: Form.required("title", Codec.string),
        tags: Form.list("tag", Codec.string),
        loud: Form.checked("loud"),
        type: Dep.ofRequest((request) => request.header("content-type") ?? ""),
        file: Form.File.optional("file"),
      },
      returns: Returns.response,
    },
    ({ file, type, ...fields }) =>
      Response.json({
        ...fields,
        type: type.split(";")[0],
        file: file && [file.filename, new TextDecoder().decode(file.content)],
      }),
  ),
  post(Path.of("bytes"), { inputs: { body }, returns: Returns.text }, ({ body }) => new TextDecoder().decode(body)),
  post(
    Path.of("images"),
    { inputs: { image: bodyStream({ max: 1000, contentTypes: ["image/*"] }) }, returns: Returns.text },
    async ({ image }) => {
      let length = 0;
      for await (const part of image) length += part.length;
      return `${length}`;
    },
  ),
  post(Path.of("parts"), { inputs: { parts: multipart({ max: 1000 }) }, returns: Returns.text }, async ({ parts }) => {
    const names: string[] = [];
    for await (const part of parts) names.push(part.name);
    return names.join();
  }),
  post(
    Path.of("several", id),
    { inputs: { id: param(id) }, returns: Returns.emptyResponse({ 201: "Made.", 204: "Kept." }) },
    ({ id }) => answer(id === 1 ? 201 : 204),
  ),
  get(Path.of("page"), { returns: Returns.html }, () => "<p>hi</p>"),
  get(Path.of("empty"), { returns: Returns.text }, () => ""),
  get(Path.of("bytes"), { returns: Returns.response }, () =>
    Answer.make(Uint8Array.of(1, 2), { contentType: "image/png" }),
  ),
  get(Path.of("problem"), { returns: Returns.response }, () =>
    Answer.make("<p>502", { status: 502, contentType: "text/html" }),
  ),
  get(Path.of("instant"), { returns: Returns.json(v.object({ at: Shape.instant })) }, () => ({ at: new Date(0) })),
  get(Path.root, { returns: Returns.text }, () => "root"),
] as const;

const app = App.make(routes);
const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch: app.fetch });

describe("the request of a call: paths", () => {
  it("has a path as Path.url prints it", async () => {
    const path = Path.of("two words", name, "x");
    await fc.assert(
      fc.asyncProperty(segment, async (name) => {
        const urls: string[] = [];
        const fetch = (request: Request) => {
          urls.push(new URL(request.url).pathname);
          return app.fetch(request);
        };
        const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch });
        const came = await api["GET /two words/{name}/x"]({ path: { name } });
        expect(came).toMatchObject({ ok: true, value: name });
        // A URL may have these five characters unencoded (RFC 3986 §3.3), and a client has no code to encode them.
        const url = urls[0]?.replace(/[!'()*]/g, (bare) => `%${bare.charCodeAt(0).toString(16).toUpperCase()}`);
        expect(Path.url(path, { name })).toEqual({ ok: true, value: url });
      }),
    );
  });

  it("has every segment of a rest", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(segment), async (rest) => {
        expect(await api["GET /files/{rest*}"]({ path: { rest } })).toMatchObject({ value: rest });
      }),
    );
  });

  it("is not sent without a path argument", async () => {
    const untyped = api["GET /orders/{id}"] as (sent: object) => Promise<unknown>;
    await expect(untyped({})).rejects.toThrow("/orders/{id}: id is missing");
    await expect(api["GET /two words/{name}/x"]({ path: { name: "" } })).rejects.toThrow(
      "name is missing, or is not a valid segment",
    );
    await expect(api["GET /two words/{name}/x"]({ path: { name: ".." } })).rejects.toThrow("name is missing");
    await expect(api["GET /files/{rest*}"]({ path: { rest: ["a", ""] } })).rejects.toThrow("rest is missing");
  });
});

describe("the request of a call: queries and headers", () => {
  it("has the query's values, those of a list one by one, and nothing for undefined", async () => {
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(fc.integer()),
        fc.boolean(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        async (word, size, flag, big) => {
          const came = await api["GET /query"]({ query: { word, size, flag, big } });
          expect(came).toMatchObject({ ok: true, value: { word, size, flag, big: `${big}` } });
        },
      ),
    );
    const nothing: object = { word: undefined };
    const at = new Date(Date.UTC(2026, 8, 30));
    const some = await api["GET /query"]({ query: { at, day: "2026-09-30", ratio: 1e-7, ...nothing } });
    expect(some).toMatchObject({ value: { at: at.getTime(), day: [2026, 9, 30], ratio: 1e-7 } });
    expect(some).not.toHaveProperty("value.word");
  });

  it("has the values of its headers, and nothing for undefined", async () => {
    const inputs = {
      big: Header.required("x-big", Codec.int64),
      at: Header.optional("x-at", Codec.instant),
      flag: Header.default("x-flag", Codec.bool, false),
      sizes: Header.list("x-size", Codec.int),
      after: Query.optional("after", Codec.int),
    };
    const Read = v.object({
      big: Shape.int64,
      at: v.optional(Shape.instant),
      flag: v.boolean(),
      sizes: v.array(v.number()),
      after: v.optional(v.number()),
    });
    const read = get(Path.of("read"), { inputs, returns: Returns.json(Read) }, ({ big, at, flag, sizes, after }) => {
      return { big, flag, sizes, ...(at && { at }), ...(after !== undefined && { after }) };
    });
    const api = Client.of<readonly [typeof read]>({ baseUrl: "http://localhost", fetch: App.make([read]).fetch });
    const at = new Date(Date.UTC(2026, 8, 30));
    const all = await api["GET /read"]({
      headers: { "x-big": 7n, "x-at": at, "x-flag": true, "x-size": [1, 2] },
      query: { after: undefined },
    });
    expect(all).toMatchObject({
      value: { big: 7, at: at.toISOString(), flag: true, sizes: [1, 2] },
    });
    const few = await api["GET /read"]({ headers: { "x-big": -1n, "x-at": undefined, "x-size": undefined } });
    expect(few).toMatchObject({ value: { big: -1, flag: false, sizes: [] } });
  });

  it("has the client's headers, and the call's own instead of them", async () => {
    const headers = { "x-tag": "all", "X-Client": "desk" };
    const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch: app.fetch, headers });
    const came = await api["GET /headers"]({ headers: { "X-Tag": "one" } });
    const sent = new Map(came.ok ? (came.value as [string, string][]) : []);
    expect([sent.get("x-tag"), sent.get("x-client")]).toEqual(["one", "desk"]);
    await expect(api["GET /headers"]({ headers: { "X-Tag": "a\r\nb: c" } })).rejects.toThrow(TypeError);
  });

  it("has the path of the base before its own", async () => {
    const asked: string[] = [];
    const fetch = async (request: Request) => (asked.push(request.url), new Response(null, { status: 204 }));
    for (const baseUrl of ["http://localhost/api", "http://localhost/api/"]) {
      await Client.of<typeof routes>({ baseUrl, fetch })["GET /orders/{id}"]({ path: { id: 7 } });
      await Client.of<typeof routes>({ baseUrl, fetch })["GET /"]();
    }
    expect(asked).toEqual([
      "http://localhost/api/orders/7",
      "http://localhost/api/",
      "http://localhost/api/orders/7",
      "http://localhost/api/",
    ]);
  });
});

describe("the request of a call: bodies", () => {
  it("is a urlencoded form if it has no file", async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(text), async (title, tag) => {
        const came = await api["POST /form"]({ form: { title, tag } });
        const type = "application/x-www-form-urlencoded";
        expect(came).toMatchObject({ ok: true, value: { title, tags: tag, loud: false, type } });
      }),
    );
  });

  it("is a multipart form if it has a file", async () => {
    const file = new File(["hello"], 'a "b".txt', { type: "text/plain" });
    const came = await api["POST /form"]({ form: { title: "ü", tag: ["1", "2"], loud: true, file } });
    const value = {
      title: "ü",
      tags: ["1", "2"],
      loud: true,
      type: "multipart/form-data",
      file: ['a "b".txt', "hello"],
    };
    expect(came).toMatchObject({ ok: true, value });
  });

  it("is a raw body unchanged", async () => {
    const stream = new Blob(["stream"]).stream();
    const parts = new FormData();
    parts.append("one", "1");
    expect(await api["POST /bytes"]({ body: "text" })).toMatchObject({ value: "text" });
    expect(await api["POST /bytes"]({ body: stream })).toMatchObject({ value: "stream" });
    expect(await api["POST /parts"]({ body: parts })).toMatchObject({ value: "one" });
    expect(await api["POST /images"]({ body: new Blob(["12"], { type: "image/png" }) })).toMatchObject({ value: "2" });
    const typed = { body: new Uint8Array(3), headers: { "content-type": "image/png" } };
    expect(await api["POST /images"](typed)).toMatchObject({ value: "3" });
    expect(await api["POST /images"]({ body: "4" })).toMatchObject({ error: "unsupported_media_type", status: 415 });
  });
});

describe("the result of a call", () => {
  it("is the answer, by its status", async () => {
    const order = { item: "pen", quantity: 1 };
    expect(await api["POST /orders"]({ json: order })).toMatchObject({ ok: true, status: 201, value: order });
    expect(await api["POST /several/{id}"]({ path: { id: 1 } })).toMatchObject({
      ok: true,
      status: 201,
      value: undefined,
    });
    expect(await api["POST /several/{id}"]({ path: { id: 2 } })).toMatchObject({
      ok: true,
      status: 204,
      value: undefined,
    });
    expect(await api["GET /page"]()).toMatchObject({ ok: true, status: 200, value: "<p>hi</p>" });
    expect(await api["GET /empty"]()).toMatchObject({ ok: true, value: "" });
    expect(await api["GET /instant"]()).toMatchObject({ value: { at: "1970-01-01T00:00:00.000Z" } });
    const found = await api["GET /orders/{id}"]({ path: { id: 7 } });
    expect([found.ok && found.value, found.headers.has("x-request-id")]).toEqual([7, true]);
  });

  it("is the Response itself if it is neither JSON nor text", async () => {
    const came = await api["GET /bytes"]();
    expect(came.ok && new Uint8Array(await (came.value as Response).arrayBuffer())).toEqual(Uint8Array.of(1, 2));
  });

  it("is a refusal by its code", async () => {
    const came = await api["GET /orders/{id}"]({ path: { id: 0 } });
    expect(came).toMatchObject({ ok: false, status: 410, error: "gone", message: "It was sold.", problems: [] });
  });

  it("has every problem of the request", async () => {
    const came = await api["POST /orders"]({ json: { item: "", quantity: 0 } });
    expect(came).toMatchObject({ ok: false, status: 400, error: "invalid" });
    expect(!came.ok && came.problems.map(({ at }) => at)).toEqual(["body.item", "body.quantity"]);
  });

  const cut = () => new Response('{"item":', { headers: { "content-type": "application/json" } });
  it.each([
    ["no connection", () => Promise.reject(new TypeError("fetch failed")), 0],
    ["an answer that is cut off", cut, 200],
    [
      "a fetch that throws",
      () => {
        throw new TypeError("fetch failed");
      },
      0,
    ],
    ["the page of a gateway", () => new Response("<p>Bad gateway", { status: 502 }), 502],
    ["the JSON of a gateway", () => Response.json({ error: { code: 1 } }, { status: 503 }), 503],
    ["JSON that is none of ours", () => Response.json(null, { status: 500 }), 500],
  ])("is unreachable for %s", async (_, answer, status) => {
    const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch: async () => answer() });
    const error = {
      ok: false,
      status,
      error: "unreachable",
      message: "The server could not be reached.",
      problems: [],
    };
    expect(await api["GET /orders/{id}"]({ path: { id: 1 } })).toMatchObject(error);
  });

  it("has what made it unreachable as its cause, for a log", async () => {
    const reset = new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
    const causes = async (fetch: () => Promise<Response>) => {
      const outcome = await Client.of<typeof routes>({ baseUrl: "http://localhost", fetch })["GET /"]();
      return outcome.ok ? "none" : outcome.cause;
    };
    expect(await causes(() => Promise.reject(reset))).toBe(reset);
    expect(await causes(async () => cut())).toBeInstanceOf(SyntaxError);
    const declared = { error: "not_found", message: "There is nothing here.", problems: [] };
    expect(await causes(async () => Response.json(declared, { status: 404 }))).toBeUndefined();
  });

  it("is unreachable after its signal aborts", async () => {
    const fetch = (request: Request) =>
      new Promise<Response>((_, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch });
    const stop = new AbortController();
    const came = api["GET /"]({ signal: stop.signal });
    stop.abort();
    expect(await came).toMatchObject({ ok: false, status: 0, error: "unreachable" });
  });
});

it("is not a promise, and the client has only calls as members", async () => {
  expect(await Promise.resolve(api)).toBe(api);
  expect(Reflect.get(api, "toString")).toBeUndefined();
});
