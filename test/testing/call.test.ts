/** Apps that are called with no socket (contract's test client; rows TC). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, Dep, Event, Path, Returns, Test, get } from "usher-http";
import "../support/logs.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

it("TC-01 a table of routes that is refused is refused where the test's app is made", () => {
  expect(() => Test.app([hello, hello])).toThrow("GET /hello and GET /hello could both answer one URL");
});

it("TC-06 a stream that waits is released where its reader stops", async () => {
  let released = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: first\n\n")),
    cancel: () => void (released = true),
  });
  const route = get(Path.of("stream"), { returns: Returns.response }, () =>
    Answer.stream(stream, { contentType: "text/event-stream" }),
  );
  const seen: string[] = [];
  const read = await Test.events(Test.app([route]), "/stream", ({ data }) => {
    seen.push(data);
    return "stop";
  });
  expect([read, seen, released]).toEqual([{ ok: true }, ["first"], true]);
});

it("TC-07 an answer of JSON that is read as events is handed back as the answer", async () => {
  const Item = v.object({ name: v.string() });
  const item = get(Path.of("item"), { returns: Returns.json(Item) }, () => ({ name: "pen" }));
  const read = await Test.events(Test.app([item]), "/item", () => expect.fail("there is no event"));
  expect(read.ok).toBe(false);
  if (!read.ok) expect([read.error.status, read.error.json()]).toEqual([200, { name: "pen" }]);
});

it("TC-07 a stream of another type that is read as events is handed back whole", async () => {
  async function* parts() {
    yield new TextEncoder().encode("data: no event\n\n");
  }
  const route = get(Path.of("stream"), { returns: Returns.response }, () =>
    Answer.stream(parts(), { contentType: "text/plain" }),
  );
  const read = await Test.events(Test.app([route]), "/stream", () => expect.fail("there is no event"));
  expect(read).toMatchObject({ ok: false, error: { status: 200, body: "data: no event\n\n" } });
});

describe("a body that is not read to its end", () => {
  const Word = Event.text("word");
  /** What happened around a call: releases, and what `onError` got. */
  function noting() {
    const noted: string[] = [];
    const held = Dep.scoped(
      {},
      () => "held",
      (value, { how }) => void noted.push(`${value}: ${how}`),
    );
    const onError = (_: unknown, { during }: { readonly during: string }) => void noted.push(`raised: ${during}`);
    return { noted, held, onError };
  }
  const raise = (): never => {
    throw new RangeError("sick");
  };

  it("as its iterable raises, releases what the request acquired", async () => {
    const { noted, held, onError } = noting();
    async function* parts() {
      yield new TextEncoder().encode("a");
      raise();
    }
    const route = get(Path.of("x"), { inputs: { held }, returns: Returns.response }, () => Answer.stream(parts()));
    await expect(Test.call(Test.app([route], { onError }), "GET", "/x")).rejects.toThrow("sick");
    expect(noted).toEqual(["raised: stream", "held: failed"]);
  });

  it.each([
    ["its producer raises", async () => raise(), () => {}, "sick", ["raised: stream", "held: failed"]],
    ["its reader raises", async () => {}, raise, "sick", ["held: client gone"]],
  ] as const)("of events, as %s, releases it too", async (_what, then, receive, message, expected) => {
    const { noted, held, onError } = noting();
    const route = get(Path.of("x"), { inputs: { held }, returns: Returns.events([Word]) }, () => async (send) => {
      await send(Event.make(Word, "a"));
      await then();
    });
    await expect(Test.events(Test.app([route], { onError }), "/x", receive)).rejects.toThrow(message);
    await expect.poll(() => noted).toEqual(expected);
  });

  it("as its status is not declared, releases it too", async () => {
    const { noted, held } = noting();
    const returns = Returns.responses({ 200: "It is there." });
    const route = get(Path.of("x"), { inputs: { held }, returns }, () =>
      Answer.stream(new ReadableStream(), { status: 201 }),
    );
    await expect(Test.call(Test.app([route]), "GET", "/x")).rejects.toThrow("does not list");
    await expect.poll(() => noted).toEqual(["held: client gone"]);
  });
});
