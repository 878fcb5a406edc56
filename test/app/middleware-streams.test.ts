/** Streams of answers that middleware keeps: they are sent whole. Only a stream that another body replaces is cancelled. */
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Answer, App, Deadline, Path, Returns, Test, get, setCookie } from "usher-http";
import type { Middleware } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import "../support/logs.ts";

const passing: Middleware = (_request, next) => next();

/** A stream of these chunks, a route that answers with it, and whether it was cancelled. */
function streaming(parts: readonly string[]) {
  const left = [...parts];
  const told = { isCancelled: false };
  const stream = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = left.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(part));
      },
      cancel: () => void (told.isCancelled = true),
    });
  return { stream, told, route: get(Path.root, { returns: Returns.response }, () => Answer.stream(stream())) };
}

/** Reads the body of its route only when its own body is read. */
const louder: Middleware = async (_request, next) => {
  const answer = await next();
  const { body } = answer;
  if (typeof body !== "object" || !("parts" in body)) return answer;
  async function* loud(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of parts) yield new TextEncoder().encode(new TextDecoder().decode(part).toUpperCase());
  }
  return { ...answer, body: { ...body, parts: loud(body.parts) } };
};

describe("a stream behind middleware", () => {
  it.each<[what: string, keeping: Middleware]>([
    ["the answer as it came", passing],
    ["a copy of the answer", async (_request, next) => ({ ...(await next()) })],
    ["another status", async (_request, next) => ({ ...(await next()), status: 203 })],
    ["a header more", async (_request, next) => ({ ...(await next()), headers: [["x-more", "1"]] })],
  ])("is sent whole when middleware answers with %s", async (_what, keeping) => {
    const { route, told } = streaming(["one ", "two ", "three"]);
    const app = Test.app([route], { middleware: [passing, keeping, passing] });
    const { body } = await Test.call(app, "GET", "/");
    expect([body, told]).toEqual(["one two three", { isCancelled: false }]);
  });

  it("is cancelled when middleware answers with another stream, which is sent whole", async () => {
    const [one, other] = [streaming(["one"]), streaming(["an", "other"])];
    const instead: Middleware = async (_request, next) => {
      await next();
      return Answer.stream(other.stream());
    };
    const { body } = await Test.call(Test.app([one.route], { middleware: [instead] }), "GET", "/");
    expect([body, one.told, other.told]).toEqual(["another", { isCancelled: true }, { isCancelled: false }]);
  });

  it("is sent whole when middleware answers with a generator that reads it", async () => {
    const { route, told } = streaming(["one ", "two"]);
    const app = Test.app([route], { middleware: [passing, louder, passing] });
    const { body } = await Test.call(app, "GET", "/");
    expect([body, told]).toEqual(["ONE TWO", { isCancelled: false }]);
  });

  it.each([
    ["to HEAD", "HEAD", 200],
    ["of a 204", "GET", 204],
  ])("is cancelled when the generator that would read it is not sent: %s", async (_what, method, status) => {
    const { route, told } = streaming(["one"]);
    const app = Test.app([route], { middleware: [async (_request, next) => ({ ...(await next()), status }), louder] });
    expect((await Test.call(app, method, "/")).body).toBe("");
    expect(told).toEqual({ isCancelled: true });
  });

  it("of a middleware is cancelled when an outer middleware answers with something else", async () => {
    const [one, other] = [streaming(["one"]), streaming(["other"])];
    const instead: Middleware = async () => Answer.stream(other.stream());
    const outer: Middleware = async (_request, next) => (await next(), Answer.make("closed"));
    const { body } = await Test.call(Test.app([one.route], { middleware: [outer, instead] }), "GET", "/");
    expect([body, other.told]).toEqual(["closed", { isCancelled: true }]);
  });

  it("that middleware creates too late is cancelled", async () => {
    const [one, other] = [streaming(["one"]), streaming(["other"])];
    const late: Middleware = async (_request, next) => {
      await next();
      await setTimeout(60);
      return Answer.stream(other.stream());
    };
    const outer: Middleware = async (_request, next) => (await next(), Answer.make("closed"));
    const app = Test.app([one.route], { middleware: [outer, late], deadline: Deadline.make(10) });
    expect((await Test.call(app, "GET", "/")).status).toBe(503);
    await eventually(() => expect([one.told, other.told]).toEqual([{ isCancelled: true }, { isCancelled: true }]));
  });

  it("that middleware replaced is cancelled when the client leaves the replacing stream", async () => {
    const [one, other] = [streaming(["one"]), streaming(["an", "other"])];
    const instead: Middleware = async (_request, next) => (await next(), Answer.stream(other.stream()));
    const { app } = Test.app([one.route], { middleware: [instead] });
    await (await app.fetch(new Request("http://h/"))).body?.cancel();
    expect([one.told, other.told]).toEqual([{ isCancelled: true }, { isCancelled: true }]);
  });
});

it("a stream of middleware is cancelled when an outer middleware has answered before", async () => {
  const [one, other] = [streaming(["one"]), streaming(["other"])];
  const answered = gate();
  const late: Middleware = async () => {
    await answered.passed;
    return Answer.stream(other.stream());
  };
  const early: Middleware = (_request, next) => {
    void next();
    return Answer.make("early");
  };
  const app = App.make([one.route], { middleware: [early, late] });
  expect(await (await app.fetch(new Request("http://h/"))).text()).toBe("early");
  answered.open();
  await eventually(() => expect(other.told).toEqual({ isCancelled: true }));
});

it("a stream is cancelled when a cookie of its answer cannot be sealed, which is a 500", async () => {
  const { stream, told } = streaming(["one"]);
  const sealing = {
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    seal: () => Promise.reject(new Error("no key")),
  } as const;
  const route = get(Path.root, { inputs: { setCookie }, returns: Returns.response }, ({ setCookie }) => {
    setCookie({ name: "c", value: "", ...sealing });
    return Answer.stream(stream());
  });
  expect((await Test.call(Test.app([route]), "GET", "/")).status).toBe(500);
  expect(told).toEqual({ isCancelled: true });
});

describe("a stream of an answer that has no body", () => {
  it.each([
    ["to a HEAD", "HEAD", 200],
    ["of a 205", "GET", 205],
    ["of a 304", "GET", 304],
  ])("is cancelled: %s", async (_what, method, status) => {
    const { stream, told } = streaming(["one"]);
    const route = get(Path.root, { returns: Returns.response }, () => Answer.stream(stream(), { status }));
    expect((await Test.call(Test.app([route]), method, "/")).body).toBe("");
    expect(told).toEqual({ isCancelled: true });
  });

  it("is not cancelled if another answer sends it", async () => {
    const { stream, told } = streaming(["one"]);
    const shared = stream();
    const { app } = Test.app([get(Path.root, { returns: Returns.response }, () => Answer.stream(shared))]);
    const sent = await app.fetch(new Request("http://h/"));
    await app.fetch(new Request("http://h/", { method: "HEAD" }));
    expect([await sent.text(), told]).toEqual(["one", { isCancelled: false }]);
  });
});
