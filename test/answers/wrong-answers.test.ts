/**
 * A mistake in an application's answer is a 500; its log line has the reason and no value (contract 4.3, 7.6). On
 * every listener the rows are run as cases of the conformance suite.
 */
import { Readable } from "node:stream";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Refusal, Returns, addHeader, get, json, post, refuse } from "usher-http";
import type { Middleware } from "usher-http";
import {
  cutStreams,
  secret,
  wrong,
  wrongAnswers,
  wrongDependencies,
  wrongOptions,
  wrongSettings,
} from "../conformance/app/wrong.ts";
import { lines, logged } from "../support/logs.ts";
import { internal } from "../support/refusals.ts";

const plain = App.make(wrong);
const around = App.make(wrong, wrongOptions);

/** Sends a request and checks what every 500 has: its body, its log line, and no text of the application. */
async function failsAt(app: App, path: string, method = "GET"): Promise<void> {
  const before = logged().length;
  const response = await app.fetch(new Request(`http://h${path}`, { method }));
  const body = await response.text();
  const since = lines().slice(before);
  expect([response.status, body]).toEqual([500, method === "HEAD" ? "" : internal]);
  const [error, access, ...more] = since.filter((line) => line["level"] === "error" || "duration" in line);
  expect(error).toMatchObject({ level: "error", "framework.refusal.code": "internal" });
  expect(access).toMatchObject({ "http.response.status_code": 500, "framework.refusal.code": "internal" });
  expect(more).toEqual([]);
  expect([typeof error?.["error.kind"], typeof error?.["error.stack"]]).toEqual(["string", "string"]);
  expect(logged().slice(before).join("\n")).not.toContain(secret);
}

const at = (...segments: readonly string[]): string => `/${segments.map(encodeURIComponent).join("/")}`;
const names = Object.keys(wrongAnswers);

describe("a wrong answer is a 500, and is logged once", () => {
  it.each(names)("%s", async (name) => {
    await failsAt(plain, at("wrong", "handler", name));
    await failsAt(plain, at("wrong", "later", name));
    await failsAt(around, at("wrong", "handler", name));
    // The iterator of an iterable is not called if the body is not read.
    if (!name.startsWith("an iterable")) await failsAt(plain, at("wrong", "handler", name), "HEAD");
  });

  it.each(names)("of notFound: %s", async (name) => {
    await failsAt(around, at("nowhere", name));
  });

  it.each(names)("of middleware: %s", async (name) => {
    const response = await around.fetch(new Request(`http://h${at("around", name)}`));
    expect([response.status, await response.text()]).toEqual([500, internal]);
    expect(lines().at(-1)).toMatchObject({ "http.response.status_code": 500 });
    expect(logged().join("\n")).not.toContain(secret);
  });

  it.each(Object.keys(wrongSettings))("%s", async (name) => {
    await failsAt(plain, at("wrong", "setting", name));
    await failsAt(plain, at("wrong", "dependency", name));
    await failsAt(plain, at("wrong", "later-dependency", name));
  });

  it.each(Object.keys(wrongDependencies))("of a dependency: %s", async (name) => {
    await failsAt(plain, at("wrong", "dependency", name));
    await failsAt(plain, at("wrong", "later-dependency", name));
  });
});

describe("a stream that fails after its head is cut off, and the failure is logged", () => {
  it.each(Object.keys(cutStreams))("%s", async (name) => {
    const response = await plain.fetch(new Request(`http://h${at("wrong", "cut", name)}`));
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow("the stream failed");
    const [error, ...more] = lines().filter((line) => line["level"] === "error");
    expect(error?.["message"]).toMatch(/^stream on \S+ failed, so its connection is closed/);
    expect(more).toEqual([]);
    expect(logged().join("\n")).not.toContain(secret);
  });
});

describe("a body that can be read once is sent once", () => {
  it.each(["response", "stream", "generator", "events"])("%s", async (what) => {
    const ask = () => plain.fetch(new Request(`http://h/wrong/again/${what}/in-process`));
    const first = await ask();
    expect(first.status).toBe(200);
    // While it is being read, and after that.
    await failsAt(plain, `/wrong/again/${what}/in-process`);
    expect(await first.text()).toBe(what === "events" ? "" : "once");
    await failsAt(plain, `/wrong/again/${what}/in-process`);
  });

  it("a Node stream is sent once, though it gives any number of iterators", async () => {
    const file = Readable.from([new TextEncoder().encode("once")], { objectMode: false });
    const app = App.make([...wrong, get(Path.root, { returns: Returns.response }, () => Answer.stream(file))]);
    const first = await app.fetch(new Request("http://h/"));
    await failsAt(app, "/");
    expect(await first.text()).toBe("once");
    await failsAt(app, "/");
  });

  it.each([
    ["read", async (file: Readable) => void (await file.toArray())],
    ["destroyed", async (file: Readable) => void file.destroy()],
  ])("a Node stream that was %s before is a 500", async (_how, use) => {
    const file = Readable.from([new TextEncoder().encode("once")], { objectMode: false });
    await use(file);
    await failsAt(App.make([get(Path.root, { returns: Returns.response }, () => Answer.stream(file))]), "/");
  });

  it("an answer without a body may be returned again", async () => {
    const once = new Response(null, { status: 303, headers: { location: "/" } });
    const app = App.make([get(Path.root, { returns: Returns.response }, () => once)]);
    for (let i = 0; i < 2; i++) expect((await app.fetch(new Request("http://h/"))).status).toBe(303);
  });

  it("an object that makes an iterator for each answer may be returned again", async () => {
    const iterable = {
      async *[Symbol.asyncIterator]() {
        yield new TextEncoder().encode("anew");
      },
    };
    const app = App.make([get(Path.root, { returns: Returns.response }, () => Answer.stream(iterable))]);
    for (let i = 0; i < 2; i++) expect(await (await app.fetch(new Request("http://h/"))).text()).toBe("anew");
  });
});

it("app.fetch without a request, or with a wrong connection, still resolves to an answer", async () => {
  for (const given of [undefined, null, 5, "http://h/", {}]) {
    expect((await plain.fetch(given as never)).status).toBe(500);
  }
  for (const connection of [null, 5, { peer: 5 }, { peer: null }]) {
    expect((await plain.fetch(new Request("http://h/none"), connection as never)).status).toBe(404);
  }
});

describe("an answer whose members throw when they are read", () => {
  // The headers that a handler set are added to those of its answer, which reads them.
  it.each(["at once", "later", "behind its body", "later behind its body"])(
    "headers that throw are a 500: %s",
    async (when) => {
      const headers = Object.defineProperty([], Symbol.iterator, {
        get: () => {
          throw new TypeError(secret);
        },
      });
      const made = { ...Answer.make("made"), headers };
      const answerIt = (set: (name: string, value: string) => void) => {
        set("x-set", "by the handler");
        return when.startsWith("later") ? Promise.resolve(made) : made;
      };
      const returns = Returns.response;
      const route = when.endsWith("body")
        ? post(Path.root, { inputs: { set: addHeader, given: json(v.string()) }, returns }, ({ set }) => answerIt(set))
        : post(Path.root, { inputs: { set: addHeader }, returns }, ({ set }) => answerIt(set));
      const response = await App.make([route]).fetch(
        new Request("http://h/", { method: "POST", body: '"tea"', headers: { "content-type": "application/json" } }),
      );
      expect([response.status, await response.text()]).toEqual([500, internal]);
      expect(logged().join("\n")).not.toContain(secret);
    },
  );

  const raise = (): never => {
    throw new TypeError(secret);
  };
  const wrongBodies: { readonly [what: string]: unknown } = {
    null: null,
    "a proxy that throws": new Proxy({}, { get: raise }),
    "a kind that throws": Object.defineProperty({}, "kind", { get: raise }),
    "a stream whose parts throw": Object.defineProperty({ kind: "stream" }, "parts", { get: raise }),
  };

  // Middleware that has already answered makes the core drop the body, which reads it.
  it.each(
    Object.entries(wrongBodies).flatMap(([what, wrongBody]) => {
      return [true, false].map((isLater) => [isLater ? "later" : "at once", what, isLater, wrongBody] as const);
    }),
  )("made %s behind middleware that does not wait: the body is %s", async (_when, _what, isLater, wrongBody) => {
    const made = { ...Answer.make("made"), body: wrongBody } as Answer;
    const route = get(Path.root, { returns: Returns.response }, () => (isLater ? Promise.resolve(made) : made));
    let inside: Promise<Answer> | undefined;
    const impatient: Middleware = (_request, next) => {
      inside = next();
      return Answer.make("early");
    };
    const response = await App.make([route], { middleware: [impatient] }).fetch(new Request("http://h/"));
    expect([response.status, await response.text()]).toEqual([200, "early"]);
    await expect(inside).resolves.toMatchObject({ status: 200 });
    expect(logged().join("\n")).not.toContain(secret);
  });
});

describe("a clock of the application that fails", () => {
  const gone = Refusal.code("gone", { status: 410, doc: "It is gone." });
  const throwing = (thrown: unknown) => (): never => {
    throw thrown;
  };
  const clocks: { readonly [what: string]: () => Date } = {
    "throws an error": throwing(new TypeError(secret)),
    // The answer of a refusal has a `Date` too, so the clock is read again.
    "throws a refusal": throwing(refuse(gone, secret)),
    "throws a refusal of the framework's": throwing(refuse(Refusal.notFound, secret)),
    "returns a text": () => secret as never,
    "returns no date": () => new Date(Number.NaN),
  };

  it.each(Object.entries(clocks))("that %s: every answer with a Date is a 500", async (_what, now) => {
    const route = get(Path.of("x"), { returns: Returns.text }, () => "ok");
    const plain = App.make([route], { now });
    const around = App.make([route], { now, middleware: [(_request, next) => next()] });
    for (const app of [plain, around]) {
      for (const path of ["/x", "/missing"]) await failsAtLeast(app, path);
    }
  });

  /** A clock that throws is logged once for the answer, and possibly once more for its refusal. */
  async function failsAtLeast(app: App, path: string): Promise<void> {
    const before = logged().length;
    const response = await app.fetch(new Request(`http://h${path}`));
    expect([response.status, await response.text()]).toEqual([500, internal]);
    expect(
      lines()
        .slice(before)
        .filter((line) => "duration" in line),
    ).toMatchObject([{ "http.response.status_code": 500, "framework.refusal.code": "internal" }]);
    expect(logged().slice(before).join("\n")).not.toContain(secret);
  }
});

it("a refusal whose members cannot be written as JSON is a 500 with the framework's own message", async () => {
  const code = Refusal.code("wrong", { status: 409, doc: "It is wrong." });
  const broken = new Refusal(code, 1n as never, {});
  const route = get(Path.of("broken"), { returns: Returns.text, refuses: [code] }, () => {
    throw broken;
  });
  const response = await App.make([route]).fetch(new Request("http://h/broken"));
  expect([response.status, await response.text()]).toEqual([500, internal]);
});

it.each<[what: string, returns: typeof Returns.text | typeof Returns.html, returned: unknown, said: string]>([
  ["a Response", Returns.text, new Response("x"), "text that is a Response: declare Returns.response"],
  ["nothing", Returns.text, undefined, "text that is undefined"],
  ["an object", Returns.html, { a: 1 }, "html that is another object"],
])("the log line of a text answer names the wrong value: %s", async (_what, returns, returned, said) => {
  const app = App.make([get(Path.of("x"), { returns }, () => returned as never)]);
  await failsAt(app, "/x");
  const line = lines().findLast(({ level }) => level === "error");
  expect(line?.["message"]).toBe(`GET /x: internal: an answer declared as ${said}`);
});
