/** Requests that a client may send twice and the server does once, by `Idempotency-Key`. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Answer,
  Cookie,
  Codec,
  Dep,
  Header,
  Idempotency,
  Path,
  Refusal,
  Returns,
  Sessions,
  Test,
  addHeader,
  html,
  json,
  post,
  refuse,
  setCookie,
} from "usher-http";
import type { AppOptions, IdempotencyOptions } from "usher-http";
import { eventually } from "../support/eventually.ts";
import "../support/logs.ts";

const everybody = { caller: Dep.return("everybody") };
const soldOut = Refusal.code("sold_out", { status: 409, doc: "None is left." });
const NewOrder = v.object({ item: v.string(), quantity: v.pipe(v.number(), v.minValue(1)) });
const pen = { item: "pen", quantity: 1 };

type Handle = (order: v.InferOutput<typeof NewOrder>, done: number) => unknown;

/** A route that creates orders, and a count of its handler's runs. */
function shop(handle: Handle, options: Partial<IdempotencyOptions> = {}, appOptions: AppOptions = {}) {
  const caller = Dep.map(Header.optional("x-user", Codec.string), (user) => user ?? "nobody");
  let done = 0;
  const store = Idempotency.memory();
  const route = post(
    Path.of("orders"),
    {
      inputs: { once: Idempotency.by(store, { caller, ...options }), order: json(NewOrder), addHeader, setCookie },
      returns: Returns.response,
      refuses: [soldOut],
    },
    async ({ order, addHeader, setCookie }) => {
      addHeader("location", `/orders/${done + 1}`);
      setCookie(Cookie.make(Cookie.named("last", Codec.int), done));
      return (await handle(order, ++done)) as Answer;
    },
  );
  const app = Test.app([route], appOptions);
  const ask = async (key: string | undefined, order: unknown = pen, headers: readonly [string, string][] = []) => {
    const answer = await Test.call(app, "POST", "/orders", {
      headers: [
        ["content-type", "application/json"],
        ...(key === undefined ? [] : [["idempotency-key", key] as [string, string]]),
        ...headers,
      ],
      body: typeof order === "string" ? order : JSON.stringify(order),
    });
    const field = (name: string) => answer.headers.get(name) ?? undefined;
    return { status: answer.status, body: answer.body, field, code: codeOf(answer.body) };
  };
  return { ask, done: () => done };
}

function codeOf(text: string): string | undefined {
  return text.startsWith('{"error"') ? (JSON.parse(text) as { error: string }).error : undefined;
}

const placed: Handle = (_order, done) => Answer.make(`order ${done}`, { status: 201 });

describe("the same request with the same idempotency key", () => {
  it("gets the first answer again, marked, and is not done again", async () => {
    const { ask, done } = shop(placed);
    const first = await ask('"a"');
    const again = await ask('"a"');
    expect([first.status, first.body, first.field("idempotent-replayed")]).toEqual([201, "order 1", undefined]);
    expect([again.status, again.body, again.field("idempotent-replayed")]).toEqual([201, "order 1", "true"]);
    expect([again.field("location"), again.field("content-type")]).toEqual(["/orders/1", "text/plain; charset=utf-8"]);
    expect([first.field("set-cookie") === undefined, again.field("set-cookie")]).toEqual([false, undefined]);
    expect(first.field("x-request-id")).not.toBe(again.field("x-request-id"));
    expect([(await ask('"b"')).body, (await ask(undefined)).body, done()]).toEqual(["order 2", "order 3", 3]);
  });

  it("gets the refusal of the handler again, byte for byte, with its code in the log", async () => {
    const { ask, done } = shop(() => refuse(soldOut, "None is left."));
    const first = await ask('"a"');
    const again = await ask('"a"');
    expect([again.status, again.body]).toEqual([409, first.body]);
    expect([again.field("idempotent-replayed"), done()]).toEqual(["true", 1]);
  });

  it.each<[string, Handle, string]>([
    ["no body", () => Answer.empty({ status: 204 }), ""],
    ["bytes that are no text", () => Answer.make(Uint8Array.of(0xff, 0, 1)), "\ufffd\0\u0001"],
    ["text with NUL and half a pair", () => Answer.make("\0\u{1f600}"), "\0\u{1f600}"],
    ["a Response", () => new Response("whole"), "whole"],
    ["a page that waits", () => Answer.html(html`<p>${Promise.resolve("later")}</p>`), "<p>later</p>"],
    ["a redirect", () => Answer.redirect("/x", { status: 303 }), ""],
  ])("gets %s again", async (_what, handle, expected) => {
    const { ask, done } = shop(handle);
    const first = await ask('"a"');
    const again = await ask('"a"');
    expect([first.body, again.body, again.status, done()]).toEqual([expected, expected, first.status, 1]);
  });

  it("of another caller is another request", async () => {
    const { ask } = shop(placed);
    const as = async (user: string) => (await ask('"a"', pen, [["x-user", user]])).body;
    expect([await as("ann"), await as("bob"), await as("ann")]).toEqual(["order 1", "order 2", "order 1"]);
  });

  it("is not confused with a caller whose name ends in the key of another", async () => {
    const { ask } = shop(placed);
    await ask('"b"', pen, [["x-user", 'a","b']]);
    expect((await ask('"b\\",\\"b"', pen, [["x-user", "a"]])).body).toBe("order 2");
  });
});

it("keeps a session that one of its inputs renews", async () => {
  const shape = v.object({ user: v.string() });
  const sessions = Sessions.make({ store: Sessions.memory(), shape, idleMs: 60_000, absoluteMs: 60_000 });
  const user = Dep.join({ session: sessions.required, setCookie }, async ({ session, setCookie }) => {
    return (await session.renew(setCookie)).data.user;
  });
  const once = Idempotency.by(Idempotency.memory(), { caller: user });
  const signIn = post(
    Path.of("sign-in"),
    { inputs: { setCookie }, returns: Returns.empty() },
    async ({ setCookie }) => {
      await sessions.start(setCookie, { user: "ada" });
    },
  );
  let done = 0;
  const place = post(Path.root, { inputs: { once, user }, returns: Returns.text }, ({ user }) => `${user} ${++done}`);
  const browser = Test.browser(Test.app([signIn, place]));
  await browser.call("POST", "/sign-in");
  const headers = { "idempotency-key": '"a"' };
  const bodies: string[] = [];
  for (let i = 0; i < 3; i++) bodies.push((await browser.call("POST", "/", { headers })).body);
  expect(bodies).toEqual(["ada 1", "ada 1", "ada 1"]);
});

describe("an idempotency key that another request has used", () => {
  it.each([
    ["another body", '"a"', { ...pen, quantity: 2 }],
    ["the same JSON in other bytes", '"a"', '{ "item": "pen", "quantity": 1 }'],
  ])("is 422 with %s", async (_what, key, order) => {
    const { ask, done } = shop(placed);
    await ask('"a"');
    const other = await ask(key, order);
    expect([other.status, other.code, done()]).toEqual([422, "idempotency_key_reused", 1]);
  });

  it("is 422 on another path, method and query", async () => {
    const once = Idempotency.by(Idempotency.memory(), everybody);
    const routes = [Path.of("a"), Path.of("b")].map((path) =>
      post(path, { inputs: { once }, returns: Returns.text }, () => "done"),
    );
    const app = Test.app(routes);
    const asked = async (target: string) => {
      return (await Test.call(app, "POST", target, { headers: { "idempotency-key": '"k"' } })).status;
    };
    expect([await asked("/a"), await asked("/a"), await asked("/b"), await asked("/a?x=1")]).toEqual([
      200, 200, 422, 422,
    ]);
  });

  it("is the same request where only the encoding of its path differs", async () => {
    const once = Idempotency.by(Idempotency.memory(), everybody);
    const name = Path.str("name");
    const app = Test.app([post(Path.of("a", name), { inputs: { once }, returns: Returns.text }, () => "done")]);
    const asked = async (target: string) => {
      return (await Test.call(app, "POST", target, { headers: { "idempotency-key": '"k"' } })).status;
    };
    const targets = ["/a/~b%2fc", "/a/%7Eb%2Fc", "/%61/%7e%62%2fc", "/a/~b%252fc"];
    const statuses: number[] = [];
    for (const target of targets) statuses.push(await asked(target));
    expect(statuses).toEqual([200, 200, 200, 422]);
  });
});

describe("concurrent requests with one idempotency key", () => {
  it("run the handler once, and the other is answered 409 with Retry-After", async () => {
    let finish = (): void => {};
    const { ask, done } = shop(async (_order, done) => {
      await new Promise<void>((resolve) => (finish = resolve));
      return Answer.make(`order ${done}`);
    });
    const first = ask('"a"');
    await eventually(() => expect(done()).toBe(1));
    const second = await ask('"a"');
    expect([second.status, second.code, second.field("retry-after")]).toEqual([409, "idempotency_key_in_use", "1"]);
    expect((await ask('"a"', { ...pen, quantity: 3 })).status).toBe(422);
    finish();
    expect([(await first).status, (await ask('"a"')).body, done()]).toEqual([200, "order 1", 1]);
  });

  it("run the handler once for a hundred requests", async () => {
    const { ask, done } = shop(placed);
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask('"a"')));
    expect(done()).toBe(1);
    const others = answers.filter(({ status, code }) => status !== 409 || code !== "idempotency_key_in_use");
    expect(new Set(others.map(({ body }) => body))).toEqual(new Set(["order 1"]));
  });
});

describe("answers that are not kept", () => {
  it.each<[string, Handle, number]>([
    ["an exception", () => Promise.reject(new Error("secret")), 500],
    ["a failure of the server", () => refuse(Refusal.busy), 503],
    ["a limit", () => Answer.make("later", { status: 429 }), 429],
  ])("%s: the request runs again", async (_what, handle, status) => {
    const { ask, done } = shop((order, done) => (done === 1 ? handle(order, done) : placed(order, done)));
    expect((await ask('"a"')).status).toBe(status);
    expect([(await ask('"a"')).body, (await ask('"a"')).body, done()]).toEqual(["order 2", "order 2", 2]);
  });

  it("the 400 of an input", async () => {
    const { ask, done } = shop(placed);
    expect((await ask('"a"', { item: "pen", quantity: 0 })).status).toBe(400);
    expect([(await ask('"a"')).status, done()]).toEqual([201, 1]);
  });

  it("an answer above the size limit: only the fact that it was sent is kept", async () => {
    const long = "x".repeat(2000);
    const { ask, done } = shop(
      () =>
        new Response(
          new ReadableStream({
            start(controller) {
              for (let i = 0; i < 4; i++) controller.enqueue(new TextEncoder().encode(long.slice(0, 500)));
              controller.close();
            },
          }),
        ),
      { maxAnswer: 1000 },
    );
    expect((await ask('"a"')).body).toBe(long);
    const again = await ask('"a"');
    expect([again.status, again.code, done()]).toEqual([409, "idempotency_answer_lost", 1]);
  });

  it("an answer without an end", async () => {
    const { ask, done } = shop(() => Answer.events(() => {}));
    expect((await ask('"a"')).status).toBe(200);
    expect([(await ask('"a"')).code, done()]).toEqual(["idempotency_answer_lost", 1]);
  });

  it("an answer is kept only for its time", async () => {
    const { ask, done } = shop(placed, { keepMs: 1 });
    await ask('"a"');
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([(await ask('"a"')).body, done()]).toEqual(["order 2", 2]);
  });
});

describe("the header Idempotency-Key", () => {
  const missing = { at: "header.idempotency-key", code: "required", message: "This is required." };
  const malformed = {
    at: "header.idempotency-key",
    code: "malformed",
    message: "This is not an idempotency key, which is a text in quotes.",
  };
  it.each<[string, string | undefined, Partial<IdempotencyOptions>, unknown]>([
    ["none where one is required", undefined, { required: true }, missing],
    ["none where one may be", undefined, {}, 201],
    ["a string", '"8e03978e-40d5-43e8-bc93-6894a57f9324"', {}, 201],
    ["a string with parameters", '"a";b=1', {}, 201],
    ["an escaped quote", '"a\\"b"', {}, 201],
    ["255 characters", `"${"k".repeat(255)}"`, {}, 201],
    ["256 characters", `"${"k".repeat(256)}"`, {}, malformed],
    ["100,000 characters", `"${"k".repeat(100_000)}"`, {}, malformed],
    ["nothing in quotes", '""', {}, malformed],
    ["a bare token", "abc", {}, malformed],
    ["a bare UUID", "8e03978e-40d5-43e8-bc93-6894a57f9324", {}, malformed],
    ["a number", "7", {}, malformed],
    ["two strings", '"a", "b"', {}, malformed],
    ["an open quote", '"a', {}, malformed],
    ["a bare UUID where it may be", "8e03978e-40d5-43e8-bc93-6894a57f9324", { bare: true }, 201],
    ["two bare keys", "a,b", { bare: true }, malformed],
    ["256 bare characters", "k".repeat(256), { bare: true }, malformed],
  ])("may be %s", async (_what, key, options, expected) => {
    const { ask } = shop(placed, options);
    const { status, body } = await ask(key);
    if (status === 201) expect(status).toBe(expected);
    else expect([status, JSON.parse(body).problems]).toEqual([400, [expected]]);
  });

  it("is the same key with quotes and without, if both are allowed", async () => {
    const { ask, done } = shop(placed, { bare: true });
    expect([(await ask("a")).body, (await ask('"a"')).body, done()]).toEqual(["order 1", "order 1", 1]);
  });

  it("can be read by the handler", async () => {
    const once = Idempotency.by(Idempotency.memory(), { ...everybody, required: true });
    const route = post(Path.root, { inputs: { once }, returns: Returns.text }, ({ once }) => once.toUpperCase());
    const app = Test.app([route]);
    const headers = { "idempotency-key": '"key"' };
    expect((await Test.call(app, "POST", "/", { headers })).body).toBe("KEY");
    expect(Idempotency.key()).toMatch(/^"[0-9a-f-]{36}"$/);
  });
});
