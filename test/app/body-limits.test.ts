/** How much of a body is held (contract 4.5, 8; facts 8.1, 8.2; rows JB-15, JB-16). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, App, Dep, Path, Refusal, Returns, Test, addHeader, body, json, post, refuse } from "usher-http";
import type { Awaitable, Route } from "usher-http";
import { busy, internal, tooLarge, unreadable } from "../support/refusals.ts";
import { messages } from "../support/logs.ts";

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength));
const unread = post(Path.of("unread"), { returns: Returns.text }, () => "fine");

/** A body in parts, with how many of them were asked for. */
function parts(...texts: readonly (string | Error)[]): { readonly stream: ReadableStream<Uint8Array>; pulled: number } {
  const left = [...texts];
  const counted = { pulled: 0, stream: new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }) };
  function pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
    counted.pulled++;
    const next = left.shift();
    if (next === undefined) controller.close();
    else if (next instanceof Error) controller.error(next);
    else controller.enqueue(new TextEncoder().encode(next));
  }
  return counted;
}

async function sent(app: App, path: string, stream: ReadableStream<Uint8Array>, headers: Record<string, string> = {}) {
  const init: RequestInit & { readonly duplex: "half" } = { method: "POST", body: stream, headers, duplex: "half" };
  const response = await app.fetch(new Request(`http://h/${path}`, init));
  return { status: response.status, body: await response.text(), retryAfter: response.headers.get("retry-after") };
}

describe("maxBody", () => {
  it.each([
    [0, 200, "0"],
    [31, 200, "31"],
    [32, 200, "32"],
    [33, 413, tooLarge],
    [200, 413, tooLarge],
  ])("JB-15 of 32: %i bytes → %i", async (length, status, answer) => {
    const text = "x".repeat(length);
    const app = Test.app([size], { maxBody: 32 });
    const whole = await Test.call(app, "POST", "/size", { body: text });
    expect([whole.status, whole.body]).toEqual([status, answer]);
    const streamed = await sent(app.app, "size", parts(text.slice(0, 7), text.slice(7)).stream);
    expect([streamed.status, streamed.body]).toEqual([status, answer]);
  });

  it("JB-15 is 1 MiB by default", async () => {
    const app = Test.app([size]);
    const body = new Uint8Array(1_048_577);
    expect((await Test.call(app, "POST", "/size", { body: body.subarray(1) })).body).toBe("1048576");
    expect((await Test.call(app, "POST", "/size", { body })).body).toBe(tooLarge);
  });

  it("JB-16 counts bytes, and not characters", async () => {
    const app = Test.app([size], { maxBody: 4 });
    expect((await Test.call(app, "POST", "/size", { body: "éé" })).status).toBe(200);
    expect((await Test.call(app, "POST", "/size", { body: "ééé" })).status).toBe(413);
  });

  it("a length past it is refused unread", async () => {
    const app = App.make([size], { maxBody: 32 });
    const body = parts("x");
    expect((await sent(app, "size", body.stream, { "content-length": "33" })).body).toBe(tooLarge);
    expect(body.pulled).toBe(0);
  });

  it("without a length, no more is read than shows it is too long", async () => {
    const app = App.make([size], { maxBody: 3 });
    const body = parts("ab", "cd", "ef", "gh");
    expect((await sent(app, "size", body.stream)).body).toBe(tooLarge);
    expect(body.pulled).toBe(2);
  });

  it("a body that nobody reads has no limit, and is not read", async () => {
    const app = App.make([unread], { maxBody: 1, bodyBudget: 1 });
    const body = parts("abc", "def");
    expect((await sent(app, "unread", body.stream)).body).toBe("fine");
    expect(body.pulled).toBe(0);
  });

  it("RF-09 a body that breaks off is unreadable", async () => {
    const { status, body } = await sent(
      App.make([size]),
      "size",
      parts("ab", new Error("s3cret of the runtime")).stream,
    );
    expect([status, body]).toEqual([400, unreadable]);
    expect(messages("warn")).toEqual(["POST /size: unreadable: the body ended early"]);
  });
});

describe("bodyBudget", () => {
  const ten = "0123456789";

  /** A route that holds its body until it is let go. */
  function held(): { readonly route: Route; readonly entered: Promise<void>; readonly letGo: () => void } {
    let letGo = (): void => {};
    let enter = (): void => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const entered = new Promise<void>((resolve) => (enter = resolve));
    const route = post(Path.of("held"), { inputs: { body }, returns: Returns.text }, async () => {
      enter();
      await gate;
      return "held";
    });
    return { route, entered, letGo };
  }

  it("past it a body is refused, busy, and asked to come again; what fits is read", async () => {
    const { route, entered, letGo } = held();
    const app = Test.app([route, size, unread], { bodyBudget: 10 });
    const first = Test.call(app, "POST", "/held", { body: ten.slice(0, 8) });
    await entered;
    const second = await Test.call(app, "POST", "/size", { body: ten.slice(0, 3) });
    expect([second.status, second.body, second.headers.get("retry-after")]).toEqual([503, busy, "1"]);
    const body = parts("12", "3", "4");
    expect(await sent(app.app, "size", body.stream)).toEqual({ status: 503, body: busy, retryAfter: "1" });
    expect(body.pulled).toBe(2);
    expect((await Test.call(app, "POST", "/size", { body: "12" })).body).toBe("2");
    expect((await Test.call(app, "POST", "/size")).body).toBe("0");
    expect((await Test.call(app, "POST", "/unread", { body: ten })).body).toBe("fine");
    letGo();
    expect((await first).body).toBe("held");
    expect((await Test.call(app, "POST", "/size", { body: ten })).body).toBe("10");
    expect(messages("error")).toEqual([]);
  });

  it("a length that does not fit is refused unread", async () => {
    const body = parts("x");
    const app = App.make([size], { bodyBudget: 10 });
    expect((await sent(app, "size", body.stream, { "content-length": "11" })).status).toBe(503);
    expect(body.pulled).toBe(0);
  });

  const gone = Refusal.code("gone", { status: 410, doc: "It went." });
  const raise = (): never => {
    throw new Error("no");
  };
  const handled = (handler: () => Awaitable<string>): Route =>
    post(Path.of("x"), { inputs: { body, addHeader }, returns: Returns.text }, handler);
  const uses: readonly (readonly [how: string, route: Route, answer: string])[] = [
    ["a success", handled(() => "ok"), "ok"],
    ["a success awaited", handled(async () => "ok"), "ok"],
    ["a handler that throws", handled(raise), internal],
    ["a handler that rejects", handled(async () => raise()), internal],
    ["an answer that is no answer", handled((() => 7) as never), internal],
    [
      "a refusal",
      post(Path.of("x"), { inputs: { body }, returns: Returns.text, refuses: [gone] }, () => refuse(gone)),
      '{"error":"gone","message":"It went."}',
    ],
    [
      "a problem of the body",
      post(Path.of("x"), { inputs: { x: json(v.object({ a: v.string() })) }, returns: Returns.text }, () => ""),
      '{"error":"invalid","message":"Some of that request is not what it should be.","problems":[{"at":"body","code":"unexpected_type","message":"This must be an object, not a number."}]}',
    ],
    [
      "a reader that throws",
      post(Path.of("x"), { inputs: { x: Dep.map(body, raise) }, returns: Returns.text }, () => ""),
      internal,
    ],
    [
      "a header the guard stops",
      post(Path.of("x"), { inputs: { body }, returns: Returns.response }, () =>
        Answer.make("", { headers: [["connection", "x"]] }),
      ),
      internal,
    ],
    [
      "a body behind a bind",
      post(
        Path.of("x"),
        { inputs: { x: Dep.bind(Dep.return(1), () => Dep.map(body, raise)) }, returns: Returns.text },
        () => "",
      ),
      internal,
    ],
  ];
  it.each(uses)("is back where it was after %s", async (_how, route, answer) => {
    const app = Test.app([route, size], { bodyBudget: 10 });
    for (let i = 0; i < 3; i++) {
      expect((await Test.call(app, "POST", "/x", { body: "1234567890" })).body).toBe(answer);
      expect((await sent(app.app, "x", parts("12345", "67890").stream)).body).toBe(answer);
    }
    expect((await Test.call(app, "POST", "/size", { body: ten })).body).toBe("10");
  });

  it.each([
    ["a body that is too long", { maxBody: 8 }, parts("1234", "56789"), tooLarge],
    ["a body the budget cannot hold", {}, parts("1234", "5678901"), busy],
    ["a body that breaks off", {}, parts("1234", new Error("gone")), unreadable],
  ])("is back where it was after %s", async (_how, options, body, answer) => {
    const app = Test.app([size], { bodyBudget: 10, ...options });
    expect((await sent(app.app, "size", body.stream)).body).toBe(answer);
    expect((await Test.call(app, "POST", "/size", { body: "12345678" })).body).toBe("8");
  });
});
