/** A processor changes a span with OpenTelemetry's own methods while it lasts, and not after it has ended. */
import type { Context, Span as ApiSpan } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Path, Returns, Test, Trace, get } from "usher-http";
import "../support/logs.ts";
import { kept, named } from "./kept-spans.ts";

type Span = ApiSpan & ReadableSpan;

/** The span of one request, which `act` changes at its start. */
async function spanOf(act: (span: Span) => void, headers: Readonly<Record<string, string>> = {}): Promise<Span> {
  const ended: Span[] = [];
  const processor: SpanProcessor = {
    onStart: (span) => act(span),
    onEnd: (span) => {
      ended.push(span as unknown as Span);
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const route = get(Path.root, { returns: Returns.text }, () => "");
  const app = Test.app([route], { trace: Trace.exporter({ processor }) });
  expect((await Test.call(app, "GET", "/", { headers })).status).toBe(200);
  expect(ended.length).toBe(1);
  return ended[0] as Span;
}

const link = { context: { traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 } };

describe("a span processor", () => {
  it("sets attributes, events, links and a name", async () => {
    const span = await spanOf((begun) => {
      expect(begun.isRecording()).toBe(true);
      begun
        .setAttribute("one", 1)
        .setAttributes({ two: 2, three: ["3"] })
        .addEvent("said", { why: "asked" })
        .addEvent("timed", new Date(0))
        .addLink(link)
        .addLinks([link])
        .updateName("named");
      begun.recordException(new RangeError("a secret"));
      begun.recordException("a secret");
    });
    expect(span.attributes).toMatchObject({ one: 1, two: 2, three: ["3"] });
    expect(span.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ["said", { why: "asked" }],
      ["timed", {}],
      ["exception", { "exception.type": "RangeError", "error.at": expect.stringContaining("processor.test.ts") }],
      ["exception", { "exception.type": "string" }],
    ]);
    expect(span.links).toEqual([link, link]);
    for (const { time } of span.events) {
      expect(time[0] * 1e9 + time[1]).toBeGreaterThanOrEqual(span.startTime[0] * 1e9 + span.startTime[1]);
    }
  });

  it("gets a context in which it may set and delete values", async () => {
    const contexts: Context[] = [];
    const over = async () => {};
    const onStart = (_: unknown, context: Context) => void contexts.push(context);
    const processor: SpanProcessor = { onStart, onEnd: () => {}, forceFlush: over, shutdown: over };
    const app = Test.app([get(Path.root, { returns: Returns.text }, () => "")], {
      trace: Trace.exporter({ processor }),
    });
    await Test.call(app, "GET", "/");
    const [one, other] = [Symbol("one"), Symbol("other")];
    const both = contexts[0]?.setValue(one, 1).setValue(other, 2);
    const left = both?.deleteValue(one);
    expect([both, left].map((context) => [context?.getValue(one), context?.getValue(other)])).toEqual([
      [1, 2],
      [undefined, 2],
    ]);
  });

  it("receives attributes above the limits of a span, which drops them", async () => {
    const span = await spanOf((begun) => {
      for (let i = 0; i < 200; i++) begun.setAttribute(`a${i}`, i).addEvent(`e${i}`);
    });
    expect(Object.keys(span.attributes).length).toBe(128);
    expect(span.events.length).toBe(128);
    expect(span.droppedAttributesCount).toBeGreaterThan(70);
    expect(span.droppedEventsCount).toBe(72);
  });

  it("cannot change a span that has ended", async () => {
    const span = await spanOf(() => {});
    const before = [{ ...span.attributes }, span.name, span.events, span.links, span.status, span.duration];
    span.setAttribute("late", 1).addEvent("late").addLink(link).updateName("late").setStatus({ code: 2 }).end();
    expect(span.isRecording()).toBe(false);
    expect([{ ...span.attributes }, span.name, span.events, span.links, span.status, span.duration]).toEqual(before);
  });

  it("reads the caller's trace state, and can derive new ones", async () => {
    const traceparent = `00-${"4".repeat(32)}-${"5".repeat(16)}-01`;
    const span = await spanOf(() => {}, { traceparent, tracestate: "a=1, b=2" });
    const state = span.spanContext().traceState;
    expect([state?.serialize(), state?.get("b"), state?.get("c")]).toEqual(["a=1, b=2", "2", undefined]);
    expect(state?.set("b", "3").serialize()).toBe("b=3,a=1");
    expect(state?.unset("a").unset("b").set("c", "4").serialize()).toBe("c=4");
  });

  it("reads the resource, and merges another one", async () => {
    const { resource } = await spanOf(() => {});
    const merged = resource.merge({ attributes: { place: "here" } } as never);
    expect(merged.getRawAttributes()).toContainEqual(["place", "here"]);
    expect(resource.merge(null).attributes).toEqual(resource.attributes);
  });
});

describe("a span processor with onEnding", () => {
  /** The spans of one request that the processor received at the end. */
  async function endedBy(onEnding: (span: Span) => void): Promise<readonly ReadableSpan[]> {
    const ended: ReadableSpan[] = [];
    const over = async () => {};
    const processor: SpanProcessor = {
      onStart: () => {},
      onEnding,
      onEnd: (span) => void ended.push(span),
      forceFlush: over,
      shutdown: over,
    };
    const app = Test.app([get(Path.root, { returns: Returns.text }, () => "")], {
      trace: Trace.exporter({ processor }),
    });
    expect((await Test.call(app, "GET", "/")).status).toBe(200);
    return ended;
  }

  it("changes a span in onEnding, and not later", async () => {
    const spans: Span[] = [];
    const ended = await endedBy((span) => void spans.push(span.setAttribute("last", span.isRecording())));
    spans[0]?.setAttribute("late", true);
    expect(ended.map(({ attributes }) => [attributes["last"], attributes["late"]])).toEqual([[true, undefined]]);
  });

  it("may throw in onEnding: the request is answered, and the span ends", async () => {
    const raise = (): never => {
      throw new Error("no");
    };
    expect(await endedBy(raise)).toHaveLength(1);
  });

  it("may end the span in onEnding, which ends once", async () => {
    expect(await endedBy((span) => span.end())).toHaveLength(1);
  });
});

it("a span processor whose methods reject neither fails a request nor ends the process", async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  const reject = () => Promise.reject(new Error("the collector is away"));
  const processor = { onStart: reject, onEnding: reject, onEnd: reject, forceFlush: reject, shutdown: reject };
  const trace = Trace.exporter({ processor });
  const app = Test.app([get(Path.root, { returns: Returns.text }, () => "fine")], { trace });
  expect((await Test.call(app, "GET", "/")).body).toBe("fine");
  await trace.flush();
  // A rejection without a handler is reported after the promises of a turn.
  await new Promise(setImmediate);
  process.off("unhandledRejection", hear);
  expect(unheard).toEqual([]);
});

it("an error of a span's work may throw when its members are read", async () => {
  const { trace, spans } = kept();
  const evil: unknown = new Proxy(
    {},
    {
      getPrototypeOf() {
        throw new TypeError("looked at");
      },
    },
  );
  const raise = (): never => {
    throw evil;
  };
  const route = get(Path.root, { returns: Returns.text }, () =>
    Trace.span("evil", raise).catch((thrown: unknown) => String(thrown === evil)),
  );
  expect((await Test.call(Test.app([route], { trace }), "GET", "/")).body).toBe("true");
  expect(named(spans(), "evil").attributes["exception.type"]).toBe("object");
});

describe("a flush of a span processor", () => {
  afterEach(() => vi.useRealTimers());

  it.each([
    ["ends", () => Promise.resolve()],
    ["fails", () => Promise.reject(new Error("down"))],
  ])("that %s leaves no timer, which would keep a process running", async (_how, forceFlush) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const processor: SpanProcessor = { onStart: () => {}, onEnd: () => {}, forceFlush, shutdown: async () => {} };
    await Trace.exporter({ processor }).flush();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits at most half a minute for a processor that does not end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const forceFlush = () => new Promise<void>(() => {});
    const processor: SpanProcessor = { onStart: () => {}, onEnd: () => {}, forceFlush, shutdown: async () => {} };
    let isOver = false;
    const flushed = Trace.exporter({ processor })
      .flush()
      .then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await flushed).toBe(true);
  });
});
