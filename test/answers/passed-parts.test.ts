/** `Answer.pass` of what `request` of `undici` or `fetch` resolves with, where its headers or its body are odd. */
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Returns, get } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import { lines } from "../support/logs.ts";
import { start } from "../support/node-server.ts";

const encoder = new TextEncoder();

async function* hello(): AsyncGenerator<Uint8Array, void> {
  yield encoder.encode("hello");
}

/** What JavaScript may give in place of such a response. */
function odd(headers: object, body: unknown = hello(), statusCode = 200): Answer.UndiciResponse {
  return { statusCode, headers, body } as Answer.UndiciResponse;
}

/** An app whose one route gives this. */
function appOf(answer: () => Answer): { readonly ask: () => Promise<Response> } {
  const app = App.make([get(Path.root, { returns: Returns.response }, answer)]);
  return { ask: () => app.fetch(new Request("http://localhost/")) };
}

/** A body that gives nothing, as one of a connection that is open. */
function quiet(): Readable {
  return new Readable({ read() {} });
}

const parts = {
  "a generator": hello,
  "a stream of Node's": () => Readable.from(hello(), { objectMode: false }),
};

it.each(Object.entries(parts))(
  "%s is the body of one answer, and not the empty body of a second one",
  async (_, make) => {
    const answer = Answer.pass(odd({}, make()));
    const { ask } = appOf(() => answer);
    const first = await ask();
    expect([first.status, await first.text()]).toEqual([200, "hello"]);
    expect((await ask()).status).toBe(500);
  },
);

it.each(Object.entries(parts))("%s that is in two answers is the body of the first one", async (_, make) => {
  const body = make();
  const answers = [Answer.pass(odd({}, body)), Answer.pass(odd({}, body))];
  const { ask } = appOf(() => answers.shift() as Answer);
  const [first, second] = await Promise.all([ask(), ask()]);
  expect([first.status, await first.text(), second.status]).toEqual([200, "hello", 500]);
});

it.each([
  ["one answer", (answer: Answer) => answer],
  ["two answers", (_: Answer, again: () => Answer) => again()],
])(
  "a body that continues, and is in %s, is whole for the first client, and a 500 for the second",
  async (_, second) => {
    const later = gate();
    async function* slow(): AsyncGenerator<Uint8Array, void> {
      yield encoder.encode("he");
      await later.passed;
      yield encoder.encode("l");
      // A read for the second answer would take it.
      yield encoder.encode("lo");
    }
    const body = slow();
    const made = Answer.pass(odd({}, body));
    const answers = [made, second(made, () => Answer.pass(odd({}, body)))];
    const { ask } = appOf(() => answers.shift() as Answer);
    const got = [await ask(), await ask()] as const;
    later.open();
    expect([got[0].status, await got[0].text(), got[1].status]).toEqual([200, "hello", 500]);
  },
);

it("a stream of Node's that was read before is refused", async () => {
  const body = Readable.from(hello(), { objectMode: false });
  for await (const _ of body);
  expect(() => Answer.pass(odd({}, body))).toThrow("a Response whose body is read already");
});

it("a body that was destroyed before is a 500, and not a cut answer", async () => {
  const { ask } = appOf(() => Answer.pass(odd({}, quiet().destroy())));
  expect((await ask()).status).toBe(500);
  // Its server may have closed it: that is no fault of the handler.
  expect(JSON.stringify(lines())).toContain("a stream that was closed before it was read");
});

it.each([
  ["no result", () => undefined],
  [
    "a result whose done throws",
    () => ({
      get done(): boolean {
        throw new Error("done");
      },
    }),
  ],
  [
    "a result whose value throws",
    () => ({
      done: false,
      get value(): Uint8Array {
        throw new Error("value");
      },
    }),
  ],
])("an iterator that gives %s cuts its answer alone", async (_, result) => {
  const rejections: unknown[] = [];
  const note = (thrown: unknown): void => void rejections.push(thrown);
  process.on("unhandledRejection", note);
  const body = { [Symbol.asyncIterator]: () => ({ next: async () => result() }) };
  const { ask } = appOf(() => Answer.pass(odd({}, body)));
  await expect((await ask()).text()).rejects.toBeInstanceOf(Error);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(rejections).toEqual([]);
});

it.each([
  ["a number", 5],
  ["a list of numbers", [5]],
  ["an object", {}],
])("a header whose value is %s is a 500, and the body is closed", async (_, value) => {
  const body = quiet();
  const { ask } = appOf(() => Answer.pass(odd({ "x-kind": value }, body)));
  expect([(await ask()).status, body.destroyed]).toEqual([500, true]);
});

it("a 101 is a 500, the body is closed, and the log says which routes change the protocol", async () => {
  const body = quiet();
  const { ask } = appOf(() => Answer.pass(odd({}, body, 101)));
  expect([(await ask()).status, body.destroyed]).toEqual([500, true]);
  const logged = JSON.stringify(lines());
  expect(logged).toContain("only a route with Returns.websocket or Answer.takeover changes the protocol");
});

it("an error of a body that is not read yet ends no process", () => {
  const body = quiet();
  Answer.pass(odd({}, body));
  // As Node does for a connection that was reset. Without a listener it throws.
  expect(() => body.emit("error", new Error("reset"))).not.toThrow();
});

it("a header whose value is undefined, null or an empty list is no line, and __proto__ is a name like the others", async () => {
  const headers = { "x-undefined": undefined, "x-null": null, "x-empty": [] };
  Object.defineProperty(headers, "__proto__", { value: "x", enumerable: true });
  const got = await appOf(() => Answer.pass(odd(headers))).ask();
  const values = ["x-undefined", "x-null", "x-empty", "__proto__"].map((name) => got.headers.get(name));
  expect(values).toEqual([null, null, null, "x"]);
});

it("headers as a list, as the option responseHeaders gives them, are refused", () => {
  expect(() => Answer.pass(odd(["content-type", "text/plain"]))).toThrow("and not a Response");
});

it.each([
  ["two lines", { "content-length": ["5", "6"] }],
  ["two equal lines", { "content-length": ["5", "5"] }],
  ["two names", { "content-length": "5", "Content-Length": "6" }],
  ["one that Connection names", { connection: "content-length", "content-length": "6" }],
])("a length of %s is not sent, as that of a Response", async (_, headers) => {
  const got = await appOf(() => Answer.pass(odd(headers))).ask();
  expect([got.headers.get("content-length"), await got.text()]).toEqual(["5", "hello"]);
});

it("an empty Content-Type of another server is left out, by request and by fetch", async () => {
  const headers = { "content-type": "" };
  for (const made of [() => odd(headers), () => new Response("hello", { headers })]) {
    const got = await appOf(() => Answer.pass(made())).ask();
    expect([got.status, got.headers.has("content-type"), await got.text()]).toEqual([200, false, "hello"]);
  }
});

it("a body of a 205 is not read for its bytes", async () => {
  const body: Readable = new Readable({
    read: () => void setTimeout(() => body.push(Buffer.alloc(1024)), 1),
  });
  const { port } = await start([get(Path.root, { returns: Returns.response }, () => Answer.pass(odd({}, body, 205)))]);
  const got = await fetch(`http://127.0.0.1:${port}/`);
  expect([got.status, await got.text()]).toEqual([205, ""]);
  await eventually(() => expect(body.destroyed).toBe(true));
});

describe("a Response that says gzip", () => {
  const gzipped = { "content-encoding": "gzip" };

  it.each([
    ['"one"', 'W/"one"'],
    ['W/"one"', 'W/"one"'],
  ])("whose body fetch has decoded has the tag %s as %s", async (etag, expected) => {
    const fetched = new Response("hello", { headers: { ...gzipped, etag } });
    Object.defineProperty(fetched, "url", { value: "https://news.example/" });
    const { headers } = await appOf(() => Answer.pass(fetched)).ask();
    expect([headers.get("content-encoding"), headers.get("etag")]).toEqual([null, expected]);
  });

  it.each([
    ["made by the handler", (made: Response) => made],
    ["of a package that names no address", ({ body, headers, status }: Response) => ({ body, headers, status })],
  ])("%s is passed on as it is", async (_, of) => {
    const made = of(new Response("hello", { headers: { ...gzipped, etag: '"one"' } })) as Response;
    const got = await appOf(() => Answer.pass(made)).ask();
    expect([got.headers.get("content-encoding"), got.headers.get("etag")]).toEqual(["gzip", '"one"']);
  });
});

it.each([
  undefined,
  null,
  5,
  "text",
  {},
  { status: 200, body: null },
  { status: 200, headers: {}, body: null },
  { status: "200", headers: new Headers(), body: null },
  { status: 200, headers: new Headers(), body: "text" },
  { statusCode: 200, body: hello() },
  { statusCode: 200, headers: {} },
  { statusCode: 200, headers: {}, body: "text" },
  { statusCode: "200", headers: {}, body: hello() },
])("%j is no response", (given) => {
  expect(() => Answer.pass(given as never)).toThrow("Answer.pass: it is");
});
