/** `Answer.pass` of what `request` of `undici` resolves with, where its headers or its body are odd. */
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { Answer, App, Path, Returns, get } from "usher-http";
import { eventually } from "../support/eventually.ts";
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

it("a 101 is a 500, and the body is closed", async () => {
  const body = quiet();
  const { ask } = appOf(() => Answer.pass(odd({}, body, 101)));
  expect([(await ask()).status, body.destroyed]).toEqual([500, true]);
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
