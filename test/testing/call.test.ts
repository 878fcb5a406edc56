/** Apps that are called with no socket (contract's test client; rows TC). */
import { getEventListeners } from "node:events";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Answer,
  Codec,
  Dep,
  Event,
  Header,
  Path,
  Returns,
  Socket,
  Test,
  body,
  bodyStream,
  clientGone,
  get,
  multipart,
  post,
} from "usher-http";
import { messages } from "../support/logs.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

it("TC-01 Test.app throws for a table of routes that is refused", () => {
  expect(() => Test.app([hello, hello])).toThrow("GET /hello and GET /hello could both answer one URL");
});

it.each(["text/event-stream", "text/event-stream; charset=utf-8"])(
  "TC-06 a stream of %s that waits is released when its reader stops",
  async (contentType) => {
    let released = false;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("data: first\n\n")),
      cancel: () => void (released = true),
    });
    const route = get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(stream, { contentType }));
    const seen: string[] = [];
    const read = await Test.events(Test.app([route]), "/stream", ({ data }) => {
      seen.push(data);
      return "stop";
    });
    expect([read, seen, released]).toEqual([{ ok: true }, ["first"], true]);
  },
);

it("TC-07 a JSON answer that is read as events is returned as the answer", async () => {
  const Item = v.object({ name: v.string() });
  const item = get(Path.of("item"), { returns: Returns.json(Item) }, () => ({ name: "pen" }));
  const read = await Test.events(Test.app([item]), "/item", () => expect.fail("there is no event"));
  expect(read.ok).toBe(false);
  if (!read.ok) expect([read.error.status, read.error.json()]).toEqual([200, { name: "pen" }]);
});

it("TC-07 a stream of another type that is read as events is returned whole", async () => {
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

  it("because its iterable throws releases what the request acquired", async () => {
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
  ] as const)("of events, because %s, releases it too", async (_what, then, receive, message, expected) => {
    const { noted, held, onError } = noting();
    const route = get(Path.of("x"), { inputs: { held }, returns: Returns.events([Word]) }, () => async (send) => {
      await send(Event.make(Word, "a"));
      await then();
    });
    await expect(Test.events(Test.app([route], { onError }), "/x", receive)).rejects.toThrow(message);
    await expect.poll(() => noted).toEqual(expected);
  });

  it.each([
    [5, "Test.call: its stream sent less than the length it was given", 2],
    [2, "Test.call: its stream sent more than the length it was given", 1],
  ] as const)(
    "because its stream is not of the length %i is an error, and releases it too",
    async (length, message, most) => {
      const { noted, held } = noting();
      let made = 0;
      async function* parts() {
        for (const text of ["abc", "d"]) {
          made++;
          yield new TextEncoder().encode(text);
        }
      }
      const route = get(Path.of("x"), { inputs: { held }, returns: Returns.response }, () =>
        Answer.stream(parts(), { length }),
      );
      await expect(Test.call(Test.app([route]), "GET", "/x")).rejects.toThrow(message);
      expect([noted, made]).toEqual([["held: failed"], most]);
      expect(messages("error")).toEqual([expect.stringContaining(message.slice(22))]);
    },
  );

  it("because its status is undeclared releases it too", async () => {
    const { noted, held } = noting();
    const returns = Returns.responses({ 200: "It is there." });
    const route = get(Path.of("x"), { inputs: { held }, returns }, () =>
      Answer.stream(new ReadableStream(), { status: 201 }),
    );
    await expect(Test.call(Test.app([route]), "GET", "/x")).rejects.toThrow("does not list");
    await expect.poll(() => noted).toEqual(["held: client gone"]);
  });
});

describe("a client that disconnects while it reads a stream", () => {
  const Word = Event.text("word");
  /** A stream without an end, and what is noted of it. */
  function endless() {
    const noted: string[] = [];
    const held = Dep.scoped(
      {},
      () => "held",
      (_, { how }) => void noted.push(`released: ${how}`),
    );
    const inputs = { held, clientGone };
    const events = get(
      Path.of("events"),
      { inputs, returns: Returns.events([Word]) },
      ({ clientGone }) =>
        async (send) => {
          while ((await send(Event.make(Word, "a"))).ok);
          noted.push(`told, and ${clientGone.aborted ? "gone" : "there"}`);
        },
    );
    async function* parts() {
      yield new TextEncoder().encode("a");
      await new Promise(() => {});
    }
    const stream = get(Path.of("stream"), { inputs, returns: Returns.response }, () => Answer.stream(parts()));
    return { noted, app: Test.app([events, stream]) };
  }
  const going = (): AbortSignal => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    return controller.signal;
  };

  it("has the part that arrived until then, and its stream ends", async () => {
    const { noted, app } = endless();
    const { status, body } = await Test.call(app, "GET", "/events", { gone: going() });
    expect([status, body.startsWith("event: word")]).toEqual([200, true]);
    expect(noted).toEqual(["told, and gone", "released: client gone"]);
  });

  it("has the part that arrived until then of a stream that yields nothing more", async () => {
    const { noted, app } = endless();
    expect((await Test.call(app, "GET", "/stream", { gone: going() })).body).toBe("a");
    expect(noted).toEqual(["released: client gone"]);
  });

  it("before the head receives no event", async () => {
    const { noted, app } = endless();
    let received = 0;
    await Test.events(app, "/events", () => void received++, { gone: AbortSignal.abort() });
    expect([received, noted]).toEqual([0, ["released: client gone"]]);
  });

  it("may use a signal of many calls, which keeps no listener", async () => {
    const { app } = endless();
    const { signal } = new AbortController();
    await Test.events(app, "/events", () => "stop", { gone: signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    const whole = get(Path.root, { returns: Returns.response }, () => Answer.stream(new Blob(["ab"]).stream()));
    expect((await Test.call(Test.app([whole]), "GET", "/", { gone: signal })).body).toBe("ab");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

it.each([
  ["a Blob", new Blob(["a"], { type: "text/csv" }), "text/csv"],
  ["an ArrayBuffer", new TextEncoder().encode("a").buffer, "none"],
  ["a stream", new Blob(["a"]).stream(), "none"],
  ["text", "a", "none"],
])("a body of %s is sent as fetch sends it", async (_what, sent, type) => {
  const inputs = { body, type: Header.default("content-type", Codec.string, "none") };
  const route = post(Path.of("x"), { inputs, returns: Returns.text }, ({ body, type }) => `${type} ${String(body)}`);
  expect((await Test.call(Test.app([route]), "POST", "/x", { body: sent })).body).toBe(`${type} 97`);
});

it("Test.events and Test.websocket resolve after the values of their requests are released", async () => {
  const noted: string[] = [];
  const held = Dep.scoped(
    {},
    () => "held",
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      noted.push("released");
    },
  );
  const spoken = Socket.protocol({ client: Socket.text, server: Socket.text });
  const app = Test.app([
    get(Path.of("events"), { inputs: { held }, returns: Returns.events([Event.text("word")]) }, () => async () => {}),
    get(Path.of("socket"), { inputs: { held }, returns: Returns.websocket(spoken) }, () => async () => {}),
  ]);
  await Test.events(app, "/events", () => {});
  expect(noted).toEqual(["released"]);
  await Test.websocket(app, spoken, "/socket", async () => {});
  expect(noted).toEqual(["released", "released"]);
});

describe("a body that is read as it arrives", () => {
  const size = 12 * 1024 * 1024;
  const counted = async (parts: AsyncIterable<Uint8Array>): Promise<number> => {
    let length = 0;
    for await (const { byteLength } of parts) length += byteLength;
    return length;
  };

  it("may be longer than what a client may have in memory, as over a socket: bytes", async () => {
    const route = post(
      Path.of("bytes"),
      { inputs: { sent: bodyStream({ max: size }) }, returns: Returns.json(v.number()) },
      ({ sent }) => counted(sent),
    );
    const { status, body } = await Test.call(Test.app([route]), "POST", "/bytes", { body: new Uint8Array(size) });
    expect([status, body]).toEqual([200, String(size)]);
  });

  it("may be longer than what a client may have in memory, as over a socket: a form", async () => {
    const route = post(
      Path.of("form"),
      { inputs: { parts: multipart({ max: size * 2 }) }, returns: Returns.json(v.number()) },
      async ({ parts }) => {
        let length = 0;
        for await (const part of parts) length += await counted(part);
        return length;
      },
    );
    const form = new FormData();
    form.set("file", new File([new Uint8Array(size)], "a.bin"));
    const { status, body } = await Test.call(Test.app([route]), "POST", "/form", { body: form });
    expect([status, body]).toEqual([200, String(size)]);
  });
});
