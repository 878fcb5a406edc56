/** Event streams as they are written (contract 3, 6; facts 6; rows EV). */
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Answer, App, Codec, Event, Header, Log, Path, Returns, Test, clientGone, get } from "usher-http";
import type { Producer, Send } from "usher-http";
import { internal, invalid } from "../support/refusals.ts";
import { lines, messages } from "../support/logs.ts";
import { eventually } from "../support/eventually.ts";

const state = Event.json("state", v.pipe(v.number(), v.integer()));
const token = Event.text("token");
const other = Event.json("other", v.string());
type Stream = typeof state | typeof token;

const path = Path.of("stream");
const streaming = (producer: Producer<Stream>, keepAliveMs?: number) =>
  Test.app([
    get(
      path,
      { returns: Returns.events([state, token], keepAliveMs === undefined ? {} : { keepAliveMs }) },
      () => producer,
    ),
  ]);

const wireOf = async (producer: Producer<Stream>): Promise<string> =>
  (await Test.call(streaming(producer), "GET", "/stream")).body;

afterEach(() => vi.useRealTimers());

describe("an event stream: events", () => {
  it("EV-01, EV-02 is written event by event, in a fixed format", async () => {
    const { status, headers, body } = await Test.call(
      streaming(async (send) => {
        await send(Event.retry({ ms: 1000 }));
        await send(Event.make(state, 7, { id: "7" }));
        await send(Event.make(token, "two\r\nlines"));
        await send(Event.comment("keep-alive"));
      }),
      "GET",
      "/stream",
    );
    expect(status).toBe(200);
    expect([...headers]).toEqual(
      expect.arrayContaining([
        ["cache-control", "no-cache"],
        ["content-type", "text/event-stream"],
        ["x-accel-buffering", "no"],
      ]),
    );
    expect(headers.get("content-length")).toBeNull();
    expect(body).toBe(
      "retry: 1000\n\nevent: state\nid: 7\ndata: 7\n\nevent: token\ndata: two\ndata: lines\n\n: keep-alive\n\n",
    );
  });

  it("EV-03 sends an undeclared event, and reports it as a bug on which a test fails", async () => {
    const seen: string[] = [];
    const sends = streaming(async (send) => {
      await (send as Send<unknown>)(Event.make(other, "stray"));
    });
    const reading = Test.events(sends, "/stream", ({ name, data }) => void seen.push(`${name}=${data}`));
    await expect(reading).rejects.toThrow("/stream sent the event other, which it does not declare");
    expect(messages("error")).toEqual(["/stream sent the event other, which it does not declare"]);
    await expect(Test.call(sends, "GET", "/stream")).rejects.toThrow("which it does not declare");
  });

  it.each<unknown>([-1, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, "5", undefined])(
    "EV-07 a wait of %j sends nothing, and is reported as a bug",
    (ms) => {
      expect(Event.retry({ ms: ms as number }).wire).toBe("");
      expect(messages("error")).toEqual([
        "Event.retry sent nothing: its ms is not a number of milliseconds, 0 or more",
      ]);
    },
  );

  it.each([
    ["EV-04", Event.comment("a\r\nb\rc\nd"), ": a\n: b\n: c\n: d\n\n"],
    ["an empty comment", Event.comment(""), ": \n\n"],
    ["a fraction", Event.retry({ ms: 1.5 }), "retry: 2\n\n"],
    ["a fraction below 1", Event.retry({ ms: 0.1 }), "retry: 1\n\n"],
    ["EV-07", Event.retry({ ms: 0 }), "retry: 0\n\n"],
    ["data alone", Event.data('{"a":1}'), 'data: {"a":1}\n\n'],
    ["the end of a stream of OpenAI's kind", Event.data("[DONE]"), "data: [DONE]\n\n"],
    ["data of two lines, with an id", Event.data("a\r\nb", { id: "7" }), "id: 7\ndata: a\ndata: b\n\n"],
    ["empty data", Event.data(""), "data: \n\n"],
    ["an empty payload", Event.make(token, ""), "event: token\ndata: \n\n"],
    ["a payload that ends its line", Event.make(token, "a\n"), "event: token\ndata: a\ndata: \n\n"],
    ["an id", Event.make(token, "a", { id: "é 1" }), "event: token\nid: é 1\ndata: a\n\n"],
    ["an empty id", Event.make(token, "a", { id: "" }), "event: token\nid: \ndata: a\n\n"],
  ])("%s is written as %j", (_id, event, wire) => {
    expect(event.wire).toBe(wire);
    expect(new TextDecoder().decode(event.bytes)).toBe(wire);
  });

  it.each([
    ["EV-06", () => Event.make(Event.text("a\nb"), "x"), "its name has a line break"],
    ["an id of two lines", () => Event.make(token, "x", { id: "a\rb" }), "its id has a line break or a NUL"],
    ["an id with NUL", () => Event.make(token, "x", { id: "a\0b" }), "its id has a line break or a NUL"],
    ["data with an id of two lines", () => Event.data("x", { id: "a\nb" }), "its id has a line break or a NUL"],
    ["a value its shape cannot write", () => Event.make(state, Number.NaN), "value: this number is not finite"],
  ])("%s makes an event that sends nothing", async (_id, make, why) => {
    const event = make();
    expect(event.wire).toBe("");
    const [line] = messages("error");
    expect(line).toContain("could not be made: ");
    if (_id !== "a value its shape cannot write") expect(line).toContain(why);
    let answered: unknown;
    expect(await wireOf(async (send) => void (answered = await (send as Send<unknown>)(event)))).toBe("");
    expect(answered).toEqual({ ok: true });
  });
});

describe("an event stream: its client", () => {
  it("EV-09 `send` returns gone after the client disconnected, and the stream ends", async () => {
    const results: unknown[] = [];
    let gone: AbortSignal | undefined;
    const app = Test.app([
      get(path, { inputs: { clientGone }, returns: Returns.events([state]) }, ({ clientGone }) => async (send) => {
        gone = clientGone;
        results.push(await send(Event.make(state, 1)));
        results.push(await send(Event.make(state, 2)));
        results.push(await send(Event.make(state, 3)));
      }),
    ]);
    const seen: string[] = [];
    await Test.events(app, "/stream", ({ data }) => {
      seen.push(data);
      return data === "2" ? "stop" : undefined;
    });
    await eventually(() => expect(results).toHaveLength(3));
    expect(seen).toEqual(["1", "2"]);
    expect(results).toEqual([{ ok: true }, { ok: false, error: "gone" }, { ok: false, error: "gone" }]);
    expect(gone?.aborted).toBe(true);
    expect(lines().find((line) => String(line["message"]).includes("ended"))).toMatchObject({
      level: "info",
      message: "stream on /stream ended: client gone",
      "url.path": "/stream",
      "framework.stream.ended": "client gone",
    });
  });

  it("EV-09 its client is gone when the answer's body is cancelled, as by servers that call fetch", async () => {
    let departed = (): void => {};
    const departure = new Promise<void>((resolve) => (departed = resolve));
    const app = App.make([
      get(path, { inputs: { clientGone }, returns: Returns.events([state]) }, ({ clientGone }) => () => {
        clientGone.addEventListener("abort", departed);
        return departure;
      }),
    ]);
    const answer = await app.fetch(new Request("http://localhost/stream"));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const next = reader.read();
    await reader.cancel();
    await departure;
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

describe("an event stream: its producer", () => {
  it("EV-10 ends when its producer returns, and later sends return gone", async () => {
    let kept: Send<Stream> | undefined;
    expect(
      await wireOf((send) => {
        kept = send;
      }),
    ).toBe("");
    expect(await kept?.(Event.make(state, 1))).toEqual({ ok: false, error: "gone" });
    expect(messages("info").at(-1)).toBe("stream on /stream ended: finished");
  });

  it.each<[when: string, run: (work: () => void) => void | Promise<void>]>([
    ["at once", (work) => work()],
    ["while its reader waits", (work) => new Promise((resolve) => setTimeout(resolve, 0)).then(work)],
  ])("sends events that its producer did not await: %s", async (_when, run) => {
    const results: Promise<unknown>[] = [];
    const wire = await wireOf((send) =>
      run(() => {
        for (const n of [1, 2, 3]) results.push(send(Event.make(state, n)));
      }),
    );
    expect(wire).toBe("event: state\ndata: 1\n\nevent: state\ndata: 2\n\nevent: state\ndata: 3\n\n");
    expect(await Promise.all(results)).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
  });

  it("waits for its reader: no event is generated before there is space for it", async () => {
    let made = 0;
    let read = 0;
    const sends = streaming(async (send) => {
      for (; made < 100; made++) await send(Event.make(state, made));
    });
    await Test.events(sends, "/stream", async () => {
      read++;
      await Promise.resolve();
      expect(made - read).toBeLessThanOrEqual(1);
    });
    expect([made, read]).toEqual([100, 100]);
  });
});

describe("an event stream: keep-alive", () => {
  it("EV-12 sends keep-alives on a quiet stream, timed from the last write", async () => {
    vi.useFakeTimers();
    const parts: string[] = [];
    let send: Send<Stream> | undefined;
    const answer = await streaming((given) => {
      send = given;
      return new Promise(() => {});
    }).app.fetch(new Request("http://localhost/stream"));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const reading = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        parts.push(new TextDecoder().decode(value));
      }
    })();
    // The producer starts with the first read.
    await vi.advanceTimersByTimeAsync(0);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(parts).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(parts).toEqual([": keep-alive\n\n"]);
    await vi.advanceTimersByTimeAsync(5000);
    void send?.(Event.make(state, 1));
    await vi.advanceTimersByTimeAsync(14_999);
    expect(parts).toEqual([": keep-alive\n\n", "event: state\ndata: 1\n\n"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(parts.at(-1)).toBe(": keep-alive\n\n");
    await vi.advanceTimersByTimeAsync(15_000);
    expect(parts).toHaveLength(4);
    await reader.cancel();
    await reading;
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends no keep-alive after its producer has ended", async () => {
    vi.useFakeTimers();
    const answer = await streaming(async (send) => void (await send(Event.make(state, 1)))).app.fetch(
      new Request("http://localhost/stream"),
    );
    const read = answer.text();
    await vi.advanceTimersByTimeAsync(0);
    expect(await read).toBe("event: state\ndata: 1\n\n");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends keep-alives at the interval of its option", async () => {
    vi.useFakeTimers();
    const sends = streaming(() => new Promise(() => {}), 40);
    const answer = await sends.app.fetch(new Request("http://localhost/stream"));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const first = reader.read();
    await vi.advanceTimersByTimeAsync(40);
    expect(new TextDecoder().decode((await first).value)).toBe(": keep-alive\n\n");
    await reader.cancel();
    expect(() => Returns.events([state], { keepAliveMs: 0 })).toThrow("keepAliveMs cannot be 0");
    // Longer timers would fire at once, so keep-alives would be sent without a pause.
    expect(() => Returns.events([state], { keepAliveMs: 2 ** 31 })).toThrow("keepAliveMs cannot be 2147483648");
    expect(() => Returns.events([state], { keepAliveMs: 2 ** 31 - 1 })).not.toThrow();
  });
});

describe("an event stream: resuming", () => {
  it("EV-16, EV-18 resumes after the last event that its client received", async () => {
    const count = Event.json("count", v.number());
    const app = Test.app([
      get(
        path,
        { inputs: { last: Header.default("last-event-id", Codec.int, 0) }, returns: Returns.events([count]) },
        ({ last }) =>
          async (send) =>
            void (await send(Event.make(count, last + 1, { id: `${last + 1}` }))),
      ),
    ]);
    const headers = { "last-event-id": "41" };
    expect((await Test.call(app, "GET", "/stream", { headers })).body).toBe("event: count\nid: 42\ndata: 42\n\n");
    const wrong = await Test.events(app, "/stream", () => {}, { headers: { "last-event-id": "x" } });
    expect(wrong).toMatchObject({
      ok: false,
      error: { status: 400, body: invalid(["header.last-event-id", "malformed", "This is not a whole number."]) },
    });
  });

  it.each([
    ["UTF-8", "zw\u00c3\u00b6lf", "zwölf"],
    ["other bytes", "zw\u00f6lf", "zwölf"],
    ["bytes and more", "\u00c3\u00b6\u0101", "\u00c3\u00b6\u0101"],
  ])("an id of %s is read", async (_, sent, read) => {
    const last = Header.required("last-event-id", Codec.string);
    const app = Test.app([get(path, { inputs: { last }, returns: Returns.text }, ({ last }) => last)]);
    expect((await Test.call(app, "GET", "/stream", { headers: { "last-event-id": sent } })).body).toBe(read);
  });

  it("EV-19 answers HEAD with a head, without running its producer", async () => {
    let ran = false;
    const { status, headers, body } = await Test.call(
      streaming(() => {
        ran = true;
      }),
      "HEAD",
      "/stream",
    );
    expect([status, headers.get("content-type"), body, ran]).toEqual([200, "text/event-stream", "", false]);
  });
});

describe("an event stream: errors and its request", () => {
  it("that throws is a bug, logged by its kind and never with its message", async () => {
    const failing = streaming(async (send) => {
      await send(Event.make(state, 1));
      throw new TypeError("secret");
    });
    const answer = await failing.app.fetch(new Request("http://localhost/stream"));
    await expect(answer.text()).rejects.toThrow("the stream failed");
    const line = lines().find(({ level }) => level === "error");
    expect(line).toMatchObject({
      message: "stream on /stream failed, so its connection is closed",
      "error.kind": "TypeError",
    });
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it("runs in the context of its request: its producer's log lines have the request's id", async () => {
    const log = Log.source("shop");
    const { headers } = await Test.call(
      streaming(async (send) => {
        log.info("one");
        await send(Event.make(state, 1));
        log.info("two");
      }),
      "GET",
      "/stream",
    );
    const id = headers.get("x-request-id");
    const own = lines().filter((line) => line["logger.name"] === "shop");
    expect(own.map((line) => [line["message"], line["request_id"]])).toEqual([
      ["one", id],
      ["two", id],
    ]);
  });

  it("may be built with Answer, with headers of its own", async () => {
    const route = get(path, { returns: Returns.response }, () =>
      Answer.events(async (send) => void (await send(Event.make(other, "x"))), { headers: [["x-a", "b"]] }),
    );
    const { headers, body } = await Test.call(Test.app([route]), "GET", "/stream");
    expect([headers.get("content-type"), headers.get("x-a"), body]).toEqual([
      "text/event-stream",
      "b",
      'event: other\ndata: "x"\n\n',
    ]);
  });

  it("is a bug if its producer is not a function", async () => {
    const route = get(path, { returns: Returns.events([state]) }, () => "x" as never);
    const { status, body } = await Test.call(Test.app([route]), "GET", "/stream");
    expect([status, body]).toEqual([500, internal]);
  });
});
