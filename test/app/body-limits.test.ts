/** How much of a body is held in memory (contract 4.5, 8; facts 8.1, 8.2; rows JB-15, JB-16). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Answer,
  App,
  Dep,
  Path,
  Proxies,
  Refusal,
  Returns,
  Test,
  addHeader,
  body,
  json,
  post,
  refuse,
} from "usher-http";
import type { Awaitable, Route } from "usher-http";
import { busy, internal, tooLarge, unreadable } from "../support/refusals.ts";
import { messages } from "../support/logs.ts";

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength));
const unread = post(Path.of("unread"), { returns: Returns.text }, () => "fine");

/** A body in chunks that counts how many of them were read. */
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

async function sent(
  app: App,
  path: string,
  stream: ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
  peer = "",
) {
  const init: RequestInit & { readonly duplex: "half" } = { method: "POST", body: stream, headers, duplex: "half" };
  const response = await app.fetch(new Request(`http://h/${path}`, init), { peer });
  return { status: response.status, body: await response.text(), retryAfter: response.headers.get("retry-after") };
}

describe("maxBody", () => {
  it.each([
    [0, 200, "0"],
    [31, 200, "31"],
    [32, 200, "32"],
    [33, 413, tooLarge],
    [200, 413, tooLarge],
  ])("JB-15 with a limit of 32, a body of %i bytes is answered %i", async (length, status, answer) => {
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

  it("JB-16 counts bytes, not characters", async () => {
    const app = Test.app([size], { maxBody: 4 });
    expect((await Test.call(app, "POST", "/size", { body: "éé" })).status).toBe(200);
    expect((await Test.call(app, "POST", "/size", { body: "ééé" })).status).toBe(413);
  });

  it("a body with a larger Content-Length is refused without being read", async () => {
    const app = App.make([size], { maxBody: 32 });
    const body = parts("x");
    expect((await sent(app, "size", body.stream, { "content-length": "33" })).body).toBe(tooLarge);
    expect(body.pulled).toBe(0);
  });

  it("a body without Content-Length is read only until it is too long", async () => {
    const app = App.make([size], { maxBody: 3 });
    const body = parts("ab", "cd", "ef", "gh");
    expect((await sent(app, "size", body.stream)).body).toBe(tooLarge);
    expect(body.pulled).toBe(2);
  });

  it("a body that the route does not read has no limit and is not read", async () => {
    const app = App.make([unread], { maxBody: 1, bodyBudget: 1 });
    const body = parts("abc", "def");
    expect((await sent(app, "unread", body.stream)).body).toBe("fine");
    expect(body.pulled).toBe(0);
  });

  it("RF-09 a body that breaks off is refused as unreadable", async () => {
    const { status, body } = await sent(
      App.make([size]),
      "size",
      parts("ab", new Error("s3cret of the runtime")).stream,
    );
    expect([status, body]).toEqual([400, unreadable]);
    expect(messages("warn")).toEqual(["POST /size: unreadable: the body ended early"]);
  });
});

const ten = "0123456789";

describe("a full bodyBudget", () => {
  /** A route that holds its body until the test releases it. */
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

  it("refuses a body with busy and Retry-After, and reads a body that fits", async () => {
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

  it("refuses a Content-Length that does not fit without reading the body", async () => {
    const body = parts("x");
    const app = App.make([size], { bodyBudget: 10 });
    expect((await sent(app, "size", body.stream, { "content-length": "11" })).status).toBe(503);
    expect(body.pulled).toBe(0);
  });
});

describe("bytes of the bodyBudget are returned", () => {
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
  it.each(uses)("after %s", async (_how, route, answer) => {
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
  ])("after %s", async (_how, options, body, answer) => {
    const app = Test.app([size], { bodyBudget: 10, ...options });
    expect((await sent(app.app, "size", body.stream)).body).toBe(answer);
    expect((await Test.call(app, "POST", "/size", { body: "12345678" })).body).toBe("8");
  });
});

/** Sends a body except its last byte. The result sends that byte; it resolves when the body is complete. */
function stalled(length: number): { readonly stream: ReadableStream<Uint8Array>; readonly finish: () => void } {
  let finish = (): void => {};
  const last = new Promise<void>((resolve) => (finish = resolve));
  let pulled = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (++pulled === 1) return controller.enqueue(new Uint8Array(length - 1));
        await last;
        controller.enqueue(new Uint8Array(1));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, finish };
}
const full = (app: App, length: number, peer: string) => {
  const { stream, finish } = stalled(length);
  const answered = sent(app, "size", stream, {}, peer);
  return { answered, finish };
};
const asks = (app: App, length: number, peer: string) =>
  sent(app, "size", parts("x".repeat(length)).stream, {}, peer).then(({ status }) => status);

describe("bodyShare for one address", () => {
  const tells = (app: App, length: number, peer: string) =>
    sent(app, "size", parts("x".repeat(length)).stream, { "content-length": `${length}` }, peer).then(
      ({ status }) => status,
    );
  const others = ["192.0.2.2", "2001:db8::1", ""];

  it("limits one address, leaves the rest to others, and is free again when the bytes are returned", async () => {
    const app = App.make([size], { maxBody: 10, bodyBudget: 80 });
    for (let round = 0; round < 3; round++) {
      const first = full(app, 10, "192.0.2.1");
      await Promise.resolve();
      for (const ask of [asks, tells]) {
        expect(await ask(app, 2, "192.0.2.1")).toBe(503);
        expect(await ask(app, 1, "192.0.2.1")).toBe(200);
        for (const other of others) expect(await ask(app, 10, other)).toBe(200);
      }
      const rest = others.map((peer) => full(app, 10, peer));
      expect(await asks(app, 2, "192.0.2.2")).toBe(503);
      first.finish();
      expect((await first.answered).body).toBe("10");
      expect(await asks(app, 10, "192.0.2.1")).toBe(200);
      for (const { answered, finish } of rest) {
        finish();
        expect((await answered).body).toBe("10");
      }
    }
  });

  it("is an eighth of the budget: other clients are served when one client's share is full", async () => {
    const app = App.make([size], { maxBody: 10, bodyBudget: 80 });
    const flood = Array.from({ length: 64 }, () => full(app, 10, "192.0.2.1"));
    const statuses = await Promise.all(flood.slice(1).map(({ answered }) => answered.then(({ status }) => status)));
    expect(statuses).toEqual(Array.from({ length: 63 }, () => 503));
    expect(await asks(app, 10, "192.0.2.2")).toBe(200);
    flood[0]?.finish();
    expect((await flood[0]?.answered)?.status).toBe(200);
  });
});

describe("bodyShare for one client", () => {
  it.each([
    ["a /64 of IPv6", "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", 503],
    ["the next /64", "2001:db8:0:1::1", "2001:db8:0:2::1", 200],
    ["an address however it is written", "2001:DB8::1", "2001:db8:0:0::1", 503],
    ["IPv4 written as IPv6", "::ffff:192.0.2.1", "192.0.2.1", 503],
    ["no address", "", "", 200],
    ["a Unix socket", "unix:/run/a.sock", "unix:/run/a.sock", 200],
  ])("%s: %s, then %s → %i", async (_what, one, other, status) => {
    const app = App.make([size], { maxBody: 10, bodyBudget: 80 });
    const first = full(app, 10, one);
    expect(await asks(app, 10, other)).toBe(status);
    first.finish();
    await first.answered;
    expect(await asks(app, 10, other)).toBe(200);
  });

  it("uses the client's address that a trusted proxy reports", async () => {
    const app = App.make([size], { maxBody: 10, bodyBudget: 80, trustedProxies: Proxies.make(["10.0.0.1"]) });
    const from = (client: string, body: ReadableStream<Uint8Array>) =>
      sent(app, "size", body, { "x-forwarded-for": client }, "10.0.0.1").then(({ status }) => status);
    const { stream, finish } = stalled(10);
    const first = from("192.0.2.1", stream);
    expect(await from("192.0.2.1", parts("ab").stream)).toBe(503);
    expect(await from("192.0.2.2", parts("ab").stream)).toBe(200);
    finish();
    expect(await first).toBe(200);
  });

  it.each([
    ["has room for one body", { maxBody: 100, bodyBudget: 80 }, 80],
    ["is what it is set to", { maxBody: 10, bodyBudget: 80, bodyShare: 30 }, 30],
    ["is all of it where it is set to that", { maxBody: 80, bodyBudget: 80, bodyShare: 80 }, 80],
  ])("%s", async (_what, options, share) => {
    const app = App.make([size], options);
    const length = Math.min(share, options.maxBody);
    const filled = Array.from({ length: share / length }, () => full(app, length, "192.0.2.1"));
    expect(await asks(app, length, "192.0.2.1")).toBe(503);
    for (const { answered, finish } of filled) {
      finish();
      expect((await answered).status).toBe(200);
    }
    expect(await asks(app, length, "192.0.2.1")).toBe(200);
  });
});
