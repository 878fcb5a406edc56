/** JSON lines that are generated while they are sent, through `app.fetch` (rows JL; on the wire: test/conformance). */
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { App, Client, Openapi, Path, Returns, Shape, Test, get, jsonLines, post } from "usher-http";
import { Compress } from "usher-http/compress";
import { gunzipSync } from "node:zlib";
import { messages } from "../support/logs.ts";

const Order = v.object({ item: v.string(), at: v.optional(Shape.instant) });

/** An app whose `GET /x` sends these values, as its handler returns them. */
function appOf(returned: () => unknown, shape: v.GenericSchema = v.unknown()): App {
  return App.make([get(Path.of("x"), { returns: Returns.jsonLines(shape) }, returned as () => AsyncIterable<unknown>)]);
}

const fetched = (app: App, init: RequestInit = {}): Promise<Response> => app.fetch(new Request("http://h/x", init));

async function* of<A>(...values: readonly A[]): AsyncGenerator<A> {
  yield* values;
}

describe("JSON lines that are sent", () => {
  it("JL-80 are one line for each value, written by the shape", async () => {
    const values = () => of({ item: "a\nb", secret: "s" }, { item: "é", at: new Date(0) });
    const response = await fetched(appOf(values, Order));
    expect([response.status, response.headers.get("content-type"), response.headers.get("x-accel-buffering")]).toEqual([
      200,
      "application/x-ndjson",
      "no",
    ]);
    expect(await response.text()).toBe('{"item":"a\\nb"}\n{"item":"é","at":"1970-01-01T00:00:00.000Z"}\n');
  });

  it("JL-81 are parsed by Test.call", async () => {
    const route = get(Path.of("x"), { returns: Returns.jsonLines(Order) }, () => of({ item: "a" }, { item: "b" }));
    const answer = await Test.call(Test.app([route]), "GET", "/x");
    expect(answer.lines()).toEqual([{ item: "a" }, { item: "b" }]);
  });

  it("JL-82 may be a platform stream, and are not read for a HEAD", async () => {
    let cancelled = 0;
    const stream = () =>
      new ReadableStream<number>({
        start(controller) {
          controller.enqueue(1);
          controller.enqueue(2);
          controller.close();
        },
      });
    expect(await (await fetched(appOf(stream))).text()).toBe("1\n2\n");
    const endless = () => new ReadableStream<number>({ cancel: () => void cancelled++ });
    expect((await fetched(appOf(endless), { method: "HEAD" })).status).toBe(200);
    const response = await fetched(appOf(endless));
    await response.body?.cancel();
    expect(cancelled).toBe(2);
  });

  it("JL-83 are pulled one by one, and no more after the client disconnects", async () => {
    let made = 0;
    let hasEnded = false;
    async function* values() {
      try {
        for (;;) yield ++made;
      } finally {
        hasEnded = true;
      }
    }
    const response = await fetched(appOf(values));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let i = 0; i < 3; i++) await reader.read();
    expect(made).toBeLessThanOrEqual(4);
    await reader.cancel();
    await expect.poll(() => hasEnded).toBe(true);
  });
});

describe("JSON lines that cannot be sent", () => {
  it.each<[what: string, values: () => unknown]>([
    ["a value that the shape cannot write", () => of({ item: "a" }, { item: 1 })],
    [
      "an exception",
      async function* () {
        yield { item: "a" };
        throw new Error("s3cret");
      },
    ],
    [
      "an iterator whose result is no object",
      () => {
        let calls = 0;
        const next = () => (calls++ === 0 ? { done: false, value: { item: "a" } } : undefined);
        return { [Symbol.asyncIterator]: () => ({ next }) };
      },
    ],
  ])("JL-84 %s cuts them off", async (_what, values) => {
    const response = await fetched(appOf(values, Order));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("the stream failed");
    expect(messages("error")).toHaveLength(1);
    expect(messages("error").join()).not.toContain("s3cret");
  });

  const generator = of(1);
  it.each<[what: string, values: () => unknown]>([
    ["nothing", () => undefined],
    ["a list", () => [1, 2]],
    ["a text", () => "ab"],
    ["an object whose iterator is none", () => ({ [Symbol.asyncIterator]: () => 1 })],
    [
      "an object that raises",
      () => ({
        [Symbol.asyncIterator]: () => {
          throw new Error("s3cret");
        },
      }),
    ],
  ])("JL-85 %s instead of values is a 500", async (_what, values) => {
    expect((await fetched(appOf(values))).status).toBe(500);
    expect(messages("error").join()).not.toContain("s3cret");
  });

  it("JL-86 values that another answer has already sent are a 500", async () => {
    const app = appOf(() => generator);
    expect(await (await fetched(app)).text()).toBe("1\n");
    expect((await fetched(app)).status).toBe(500);
  });

  it("JL-87 are compressed while they are generated", async () => {
    const route = get(Path.of("x"), { returns: Returns.jsonLines(v.number()) }, () => of(1, 2));
    const app = App.make([route], { middleware: [Compress.make()] });
    const response = await fetched(app, { headers: { "accept-encoding": "gzip" } });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await response.bytes()).toString()).toBe("1\n2\n");
  });
});

const Line = v.object({ n: v.number() });
const double = post(
  Path.of("double"),
  { inputs: { lines: jsonLines(Line, { max: 1_000_000 }) }, returns: Returns.jsonLines(Line) },
  async ({ lines }) => {
    const all: { n: number }[] = [];
    for await (const { n } of lines) all.push({ n: n * 2 });
    return of(...all);
  },
);
const routes = [double] as const;
const server = App.make(routes);
const api = Client.of<typeof routes>({ baseUrl: "http://h", fetch: server.fetch });

async function all<A>(values: AsyncIterable<A>): Promise<A[]> {
  const list: A[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** A client that receives these chunks, and then an end or an error. */
function clientOf(parts: readonly Uint8Array[], end: "ends" | "breaks" | "stays" = "ends", cancel = () => {}) {
  const left = [...parts];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = left.shift();
      if (part !== undefined) return controller.enqueue(part);
      if (end === "ends") controller.close();
      if (end === "breaks") controller.error(new TypeError("terminated"));
      return end === "stays" ? new Promise<void>(() => {}) : undefined;
    },
    cancel,
  });
  const headers = { "content-type": "application/x-ndjson" };
  return Client.of<typeof routes>({ baseUrl: "http://h", fetch: async () => new Response(body, { headers }) });
}
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function opened(client: typeof api, signal?: AbortSignal) {
  const answer = await client["POST /double"]({ lines: [], ...(signal && { signal }) });
  if (!answer.ok) throw new Error(answer.error);
  return answer.value;
}

describe("a typed client of JSON lines", () => {
  it.each([
    ["a list", () => [{ n: 1 }, { n: 2 }]],
    ["a set", () => new Set([{ n: 1 }, { n: 2 }])],
    ["an async iterable", () => of({ n: 1 }, { n: 2 })],
  ])("JL-90 sends %s, and reads the lines of the answer", async (_what, lines) => {
    const answer = await api["POST /double"]({ lines: lines() });
    if (!answer.ok) throw new Error(answer.error);
    expect(await all(answer.value)).toEqual([{ n: 2 }, { n: 4 }]);
  });

  it("JL-91 gets the problems of a line", async () => {
    const answer = await api["POST /double"]({ lines: [{ n: 1 }, { n: "2" as never }] });
    expect(answer).toMatchObject({ ok: false, error: "invalid", problems: [{ at: "body.line[2].n" }] });
  });

  it("JL-92 gets no answer if the values that it sends throw", async () => {
    const values = async function* () {
      yield { n: 1 };
      throw new Error("mine");
    };
    expect(await api["POST /double"]({ lines: values() })).toMatchObject({ ok: false });
  });

  it("JL-93 reads a last line without a line feed, and skips blank lines", async () => {
    expect(await all(await opened(clientOf([bytes('\n{"n":1}\r\n\n{"n":2}')])))).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await all(await opened(clientOf([])))).toEqual([]);
  });

  it("JL-94 gets an error when the lines are cut off, after the complete lines", async () => {
    const got: unknown[] = [];
    const reading = (async () => {
      for await (const value of await opened(clientOf([bytes('{"n":1}\n{"n":')], "breaks"))) got.push(value);
    })();
    await expect(reading).rejects.toThrow("the JSON lines were cut off");
    expect(got).toEqual([{ n: 1 }]);
    await expect(all(await opened(clientOf([bytes('{"n":1}\n{"n":')])))).rejects.toThrow(SyntaxError);
  });

  it("cancels the response when a line is not JSON", async () => {
    const cancel = vi.fn();
    const reading = all(await opened(clientOf([bytes('{"n":1}\n{"n":\n')], "stays", cancel)));
    await expect(reading).rejects.toThrow(SyntaxError);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it("JL-95 cancels the response when its loop is left, or its signal aborts during a read", async () => {
    let cancelled = 0;
    const cancel = () => void cancelled++;
    for await (const value of await opened(clientOf([bytes('{"n":1}\n{"n":2}\n')], "stays", cancel))) {
      expect(value).toEqual({ n: 1 });
      break;
    }
    expect(cancelled).toBe(1);
    const stopping = new AbortController();
    const got: unknown[] = [];
    for await (const value of await opened(clientOf([bytes('{"n":1}\n')], "stays", cancel), stopping.signal)) {
      got.push(value);
      setTimeout(() => stopping.abort(), 0);
    }
    expect([got, cancelled]).toEqual([[{ n: 1 }], 2]);
  });

  it("JL-96 reads the same values however the bytes are cut", async () => {
    const values = fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(values, fc.array(fc.nat(), { maxLength: 12 }), async (values, cuts) => {
        const whole = bytes(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
        const places = cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b);
        const parts = [0, ...places].map((from, i) => whole.subarray(from, places[i] ?? whole.length));
        expect(await all(await opened(clientOf(parts.filter(({ length }) => length > 0))))).toEqual(
          JSON.parse(JSON.stringify(values)),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe("JSON lines in the API document", () => {
  it.each([
    ["3.2", { itemSchema: { $ref: "#/components/schemas/Line" } }],
    ["3.1", { schema: { type: "string" }, "x-item-schema": { $ref: "#/components/schemas/Line" } }],
  ] as const)("JL-97 of OpenAPI %s", (version, content) => {
    const named = Shape.named("Line", Line);
    const route = post(
      Path.of("x"),
      { inputs: { lines: jsonLines(named, { max: 1 }) }, returns: Returns.jsonLines(named, { doc: "The lines." }) },
      () => of<{ n: number }>(),
    );
    const { paths } = JSON.parse(JSON.stringify(Openapi.document([route], { openapi: version }))) as {
      paths: { "/x": { post: { requestBody: object; responses: { [status: string]: object } } } };
    };
    const { requestBody, responses } = paths["/x"].post;
    expect(requestBody).toEqual({
      content: { "application/x-ndjson": content, "application/jsonl": content },
      required: true,
    });
    expect(responses["200"]).toEqual({ description: "The lines.", content: { "application/x-ndjson": content } });
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["200", "400", "413", "415"]));
  });
});

it("JL-95 a client of JSON lines gets a TimeoutError when its signal times out, as the values are not complete", async () => {
  const got: unknown[] = [];
  const reading = (async () => {
    const lines = await opened(clientOf([bytes('{"n":1}\n')], "stays"), AbortSignal.timeout(20));
    for await (const value of lines) got.push(value);
  })();
  await expect(reading).rejects.toMatchObject({ name: "TimeoutError" });
  expect(got).toEqual([{ n: 1 }]);
});
