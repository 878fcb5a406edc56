/** What fails while an answer, or the answer to a failure, is made. */
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Refusal, Returns, Test, addHeader, get, refuse } from "usher-http";
import { readParts } from "../../src/events/stream.ts";
import { answerFromText } from "../../src/security/kept-answer.ts";
import { lines, logged } from "../support/logs.ts";
import { internal } from "../support/refusals.ts";

const raise = (): never => {
  throw new RangeError("s3cret");
};
const errors = () => lines().filter(({ level }) => level === "error");
const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

describe("an answer that fails while it is ended", () => {
  it.each([
    ["as a member", () => Object.defineProperty({ ...Answer.make("x") }, "headers", { enumerable: true, get: raise })],
    ["one by one", () => ({ ...Answer.make("x"), headers: Object.assign([], { [Symbol.iterator]: raise }) })],
  ])("is a 500: its headers raise where those of the handler are added, %s", async (_how, make) => {
    const route = get(
      Path.of("a"),
      { inputs: { addHeader }, returns: Returns.response, refuses: [Refusal.notFound] },
      ({ addHeader }) => {
        addHeader("x-a", "1");
        return make();
      },
    );
    const { status, body } = await Test.call(Test.app([route]), "GET", "/a");
    expect([status, body]).toEqual([500, internal]);
    expect(errors()).toHaveLength(1);
    expect(logged().join("\n")).not.toContain("s3cret");
  });

  it("is a 500: a refusal has members that JSON cannot write", async () => {
    const odd = refuse(Refusal.notFound, "It is gone.");
    const route = get(Path.of("a"), { returns: Returns.text, refuses: [Refusal.notFound] }, () => {
      throw Object.assign(Object.create(Object.getPrototypeOf(odd)), odd, { message: 1n });
    });
    const { status, body } = await Test.call(Test.app([route]), "GET", "/a");
    expect([status, body]).toEqual([500, internal]);
  });

  it("is a 500: the application's clock refuses, also for the answer to that", async () => {
    const now = (): never => {
      throw refuse(Refusal.notFound, "It is gone.");
    };
    const response = await App.make([hello], { now }).fetch(new Request("http://h/hello"));
    expect(response.status).toBe(500);
  });
});

describe("app.fetch", () => {
  it("answers a request whose members raise with a 500", async () => {
    const request = Object.defineProperty(new Request("http://h/hello"), "url", { get: raise });
    const response = await App.make([hello]).fetch(request);
    expect(response.status).toBe(500);
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});

describe("a kept text that is not an answer", () => {
  it.each(["", "{", "not JSON", "1", "null", "{}", '{"headers":1}'])("gives no answer: %j", (text) => {
    expect(answerFromText(text)).toBeUndefined();
  });
});

describe("a stream that the application reads itself", () => {
  it("fails where it is read for the response", async () => {
    const parts = new ReadableStream<Uint8Array>();
    parts.getReader();
    const read = readParts({ parts });
    await expect(read.next()).rejects.toThrow(TypeError);
    await expect(read.cancel()).resolves.toBeUndefined();
  });
});
