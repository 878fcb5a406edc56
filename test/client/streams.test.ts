/** Event streams through the typed client (row CL-31), over any number of connections. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as v from "valibot";
import {
  App,
  Client,
  Codec,
  Dep,
  Event,
  Header,
  Path,
  Refusal,
  Returns,
  clientGone,
  get,
  post,
  refuse,
} from "usher-http";
import type { Producer } from "usher-http";
import "../support/logs.ts";

const Count = Event.json("count", v.number());
const Note = Event.json("note", v.object({ text: v.string() }));
const Word = Event.text("word");
type Feed = Producer<typeof Count | typeof Note | typeof Word>;

const keepAliveMs = 15_000;
const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" });

/** The response to each connection, in order. */
let connections: ((last: string | undefined, gone: AbortSignal) => Feed)[] = [];
const asked: (string | undefined)[] = [];
const last = Header.optional("last-event-id", Codec.string);
const kinds = [Count, Note, Word] as const;
const inputs = { last, clientGone };
const follow = ({ last, clientGone }: { last: string | undefined; clientGone: AbortSignal }) => {
  asked.push(last);
  const next = connections.shift();
  return next === undefined ? refuse(signedOut, "Please sign in.") : next(last, clientGone);
};
const routes = [
  get(Path.of("feed"), { inputs, returns: Returns.events(kinds), refuses: [signedOut] }, follow),
  post(Path.of("feed"), { inputs, returns: Returns.events(kinds), refuses: [signedOut] }, follow),
  get(
    Path.of("typed"),
    { inputs: { accept: Dep.ofRequest((r) => r.header("accept") ?? "") }, returns: Returns.events(kinds) },
    () => () => {},
  ),
] as const;
const app = App.make(routes);

const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch: app.fetch });

async function opened(sent: { signal?: AbortSignal; headers?: { "last-event-id"?: string } } = {}) {
  const stream = await api["GET /feed"](sent);
  if (!stream.ok) throw new Error(stream.error);
  return stream.value;
}

// Not vi.waitFor, which lets time pass.
async function waits(): Promise<void> {
  while (vi.getTimerCount() === 0) await new Promise(setImmediate);
}

/** Ends any time for which a client waits, and lets the next step happen. */
async function waitOut(): Promise<void> {
  await waits();
  await vi.runOnlyPendingTimersAsync();
}

beforeEach(() => {
  connections = [];
  asked.length = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  // First: a mock that was put on a held timer would bring that back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Each value that arrived, by its kind, until the stream ended. */
async function all(stream: AsyncIterable<{ name: string; value: unknown }>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { name, value } of stream) values.push([name, value]);
  return values;
}

const kept = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });
const cut = (text: string) => {
  const bytes = [new TextEncoder().encode(text)];
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const next = bytes.shift();
    if (next === undefined) controller.error(new TypeError("terminated"));
    else controller.enqueue(next);
  };
  return new Response(new ReadableStream({ pull }), { headers: { "content-type": "text/event-stream" } });
};
const refused = (status: number, error: string) => Response.json({ error, message: "No." }, { status });
const one = "event: count\ndata: 1\n\n";
/** A client that gets these responses in turn. */
function answeredBy(...answers: (() => Response | Promise<Response>)[]): typeof api {
  return Client.of<typeof routes>({
    baseUrl: "http://localhost",
    fetch: async (request) => {
      asked.push(request.headers.get("last-event-id") ?? undefined);
      const next = answers.shift();
      if (next === undefined) throw new Error("asked too often");
      return next();
    },
  });
}
async function outcome(
  api: Pick<Client<typeof routes>, "GET /feed">,
  waits = 0,
): Promise<{ readonly values?: unknown[]; readonly thrown?: unknown }> {
  const stream = await api["GET /feed"]();
  if (!stream.ok) throw new Error(stream.error);
  const values: unknown[] = [];
  const reading = (async () => {
    for await (const { value } of stream.value) values.push(value);
  })().then(
    () => ({ values }),
    (thrown: unknown) => ({ values, thrown }),
  );
  for (let i = 0; i < waits; i++) await waitOut();
  return reading;
}

describe("an event stream: kinds", () => {
  it("has each event by its kind, although its text could be JSON", async () => {
    connections = [
      () => async (send) => {
        await send(Event.make(Count, 1));
        for (const word of ["1", "true", '"x"', "{}", "a\nb", ""]) await send(Event.make(Word, word));
        await send(Event.make(Note, { text: "2" }));
      },
    ];
    expect(await all(await opened())).toEqual([
      ["count", 1],
      ...["1", "true", '"x"', "{}", "a\nb", ""].map((word) => ["word", word]),
      ["note", { text: "2" }],
    ]);
  });

  it("has the plain type for code that does not check which kinds are text", async () => {
    const typeFor = async (accept: string) => {
      const response = await app.fetch(new Request("http://localhost/typed", { headers: { accept } }));
      await response.body?.cancel();
      return response.headers.get("content-type");
    };
    expect(await typeFor("text/event-stream")).toBe("text/event-stream");
    expect(await typeFor("*/*")).toBe("text/event-stream");
    expect(await typeFor("text/html, text/event-stream;text-kinds=1")).toBe('text/event-stream;text-kinds="word"');
  });

  it("of a server without kinds has JSON if it is JSON, and text otherwise", async () => {
    const body = "event: word\ndata: hello\n\nevent: count\ndata: 1\n\n";
    const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
    const stream = await Client.of<typeof routes>({ baseUrl: "http://localhost", fetch })["GET /feed"]();
    expect(stream.ok && (await all(stream.value))).toEqual([
      ["word", "hello"],
      ["count", 1],
    ]);
  });
});

describe("an event stream: resuming", () => {
  it("CL-31 continues after the last id when it is cut off, and waits for the time of `retry`", async () => {
    connections = [
      () => async (send) => {
        await send(Event.retry({ ms: 4000 }));
        await send(Event.make(Count, 1, { id: "1" }));
        await send(Event.make(Count, 2, { id: "zwölf" }));
        throw new Error("cut");
      },
      (last) => async (send) => {
        await send(Event.make(Word, `after ${last}`));
        await send(Event.make(Count, 3, { id: "3" }));
        throw new Error("cut");
      },
      (last, gone) => async (send) => {
        await send(Event.make(Word, `after ${last}`));
        await new Promise((resolve) => gone.addEventListener("abort", resolve));
      },
    ];
    const wait = vi.spyOn(globalThis, "setTimeout");
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { value, id } of await opened({ headers: { "last-event-id": "0" } })) {
        seen.push([value, id]);
        if (seen.length === 5) break;
      }
    })();
    await waitOut();
    await waitOut();
    await reading;
    expect(seen).toEqual([
      [1, "1"],
      [2, "zwölf"],
      ["after zwölf", "zwölf"],
      [3, "3"],
      ["after 3", "3"],
    ]);
    expect(asked).toEqual(["0", "zwölf", "3"]);
    expect(wait.mock.calls.map(([, ms]) => ms).filter((ms) => ms !== keepAliveMs)).toEqual([4000, 4000]);
  });

  it("CL-31 ends when its server ends it without an id or `retry`", async () => {
    expect(await outcome(answeredBy(() => kept(one)))).toEqual({ values: [1] });
  });
});

describe("an event stream: its server stops", () => {
  it("continues, although the response was whole and had neither an id nor `retry`", async () => {
    const api = answeredBy(
      () => kept(`${one}: stopping\n\n`),
      () => kept(`: stopping\n\n${one}`),
    );
    // A comment that is not the last line is no such end.
    expect(await outcome(api, 1)).toEqual({ values: [1, 1] });
    expect(asked).toEqual([undefined, undefined]);
  });
});

describe("an event stream: its last id", () => {
  it.each([
    ["an id", `id: 7\n${one}`, "7"],
    ["an id without data", `${one}id: 8\n\n`, "8"],
    ["a time to wait", `retry: 10\n\n${one}`, undefined],
  ])("continues when its server ended it after %s, until the status is 204", async (_, text, id) => {
    const api = answeredBy(
      () => kept(text),
      () => kept(text),
      () => new Response(null, { status: 204 }),
    );
    expect(await outcome(api, 2)).toEqual({ values: [1, 1] });
    expect(asked).toEqual([undefined, id, id]);
  });

  it("is forgotten if its event was incomplete, and if an empty id reset it", async () => {
    const api = answeredBy(
      () => cut(`id: 1\n${one}id: 2\ndata: 2\n`),
      () => cut(`${one}id\n\n`),
      () => new Response(null, { status: 204 }),
    );
    expect(await outcome(api, 2)).toEqual({ values: [1, 1] });
    expect(asked).toEqual([undefined, "1", undefined]);
  });
});

describe("an event stream: waiting", () => {
  it("is opened again after any failure, with a growing pause of at most 30 seconds", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const wait = vi.spyOn(globalThis, "setTimeout");
    const down = Array.from({ length: 4 }, () => () => Promise.reject(new TypeError("fetch failed")));
    const busy = [() => refused(503, "busy"), () => refused(429, "rate_limited"), () => cut("")];
    const api = answeredBy(
      () => cut(one),
      ...down,
      ...busy,
      () => cut(one),
      () => new Response(null, { status: 204 }),
    );
    expect(await outcome(api, 9)).toEqual({ values: [1, 1] });
    const seconds = wait.mock.calls.map(([, ms = 0]) => ms / 1000);
    expect(seconds).toEqual([1, 2, 4, 8, 16, 30, 30, 30, 1]);
  });

  it("never waits less than `retry`, nor longer than a timer can", async () => {
    const wait = vi.spyOn(globalThis, "setTimeout");
    const text = `retry: 40000\n\n${one}`;
    const fails = () => refused(502, "bad_gateway");
    const end = () => new Response(null, { status: 204 });
    await outcome(
      answeredBy(() => cut(text), fails, end),
      2,
    );
    await outcome(
      answeredBy(() => cut("retry: 99999999999999\n\n"), end),
      1,
    );
    expect(wait.mock.calls.map(([, ms]) => ms)).toEqual([40_000, 40_000, 2 ** 31 - 1]);
  });
});

describe("an event stream: its end", () => {
  it("throws the error that prevents a reconnect", async () => {
    const { values, thrown } = await outcome(
      answeredBy(
        () => cut(one),
        () => refused(401, "signed_out"),
      ),
      1,
    );
    expect([values, thrown]).toEqual([[1], new Error("the event stream cannot resume: signed_out")]);
    expect((thrown as Error).cause).toMatchObject({ ok: false, status: 401, error: "signed_out" });
    const page = () => new Response("<p>", { headers: { "content-type": "text/html" } });
    expect(
      (
        await outcome(
          answeredBy(() => cut(one), page),
          1,
        )
      ).thrown,
    ).toMatchObject({ message: /the response is not an event stream/ });
  });

  it("that was opened with a method other than GET is not opened again", async () => {
    const post = (api: Client<typeof routes>) => ({ "GET /feed": api["POST /feed"] }) as never;
    expect(await outcome(post(answeredBy(() => kept(`id: 1\n${one}`))))).toEqual({ values: [1] });
    const thrown = new Error("the event stream was cut off");
    expect(await outcome(post(answeredBy(() => cut(`id: 1\n${one}`))))).toEqual({ values: [1], thrown });
  });

  it("throws for an event longer than a MiB", async () => {
    const { thrown } = await outcome(answeredBy(() => kept(`data: ${"x".repeat(2 ** 20)}\n\n`)));
    expect(thrown).toBeInstanceOf(RangeError);
  });

  it("CL-31 is the refusal if the server refuses it", async () => {
    expect(await api["GET /feed"]()).toMatchObject({ ok: false, status: 401, error: "signed_out" });
  });
});

describe("code that leaves an event stream", () => {
  /** A connection that sends one event and is quiet, and a record of the disconnect. */
  function quietly(): Promise<void> {
    return new Promise((resolve) => {
      connections = [
        (_, gone) => async (send) => {
          gone.addEventListener("abort", () => resolve());
          await send(Event.make(Count, 1, { id: "1" }));
          await new Promise((resolve) => gone.addEventListener("abort", resolve));
        },
      ];
    });
  }

  it("with a break ends its connection", async () => {
    const gone = quietly();
    for await (const { value } of await opened()) {
      expect(value).toBe(1);
      break;
    }
    await gone;
    expect(asked).toHaveLength(1);
  });

  it("with return() ends it at once, though an event is awaited", async () => {
    const gone = quietly();
    const iterator = (await opened())[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ value: { value: 1 } });
    const next = iterator.next();
    await iterator.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await gone;
  });

  it("before its first event ends it too", async () => {
    const ended = new Promise<string>((resolve) => {
      const body = new ReadableStream({ cancel: () => resolve("cancelled") });
      const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
      const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch });
      void api["GET /feed"]().then((stream) =>
        stream.ok ? stream.value[Symbol.asyncIterator]().return?.() : undefined,
      );
    });
    expect(await ended).toBe("cancelled");
  });

  it("with its signal ends the iteration, and the connection", async () => {
    const gone = quietly();
    const stop = new AbortController();
    const stream = await opened({ signal: stop.signal });
    const values = all(stream);
    stop.abort();
    expect(await values).toEqual([]);
    await gone;
  });
});

describe("the signal of an event stream", () => {
  it("that aborts while the head arrives ends it: no event, no wait, no second request", async () => {
    const stop = new AbortController();
    const cancelled = vi.fn();
    const fetch = vi.fn(async () => {
      stop.abort();
      const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
        controller.enqueue(new TextEncoder().encode(`id: 1\n${one}`));
      return new Response(new ReadableStream({ start, cancel: cancelled }), kept(""));
    });
    const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch });
    const stream = await api["GET /feed"]({ signal: stop.signal });
    expect(stream.ok && (await stream.value[Symbol.asyncIterator]().next())).toEqual({ done: true, value: undefined });
    expect(cancelled).toHaveBeenCalledOnce();
    expect([fetch.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it("that aborts without a connection ends the wait", async () => {
    const fetch = async () => new Response("id: 1\ndata: 1\n\n", { headers: { "content-type": "text/event-stream" } });
    const stop = new AbortController();
    const api = Client.of<typeof routes>({ baseUrl: "http://localhost", fetch });
    const stream = await api["GET /feed"]({ signal: stop.signal });
    const values = stream.ok && all(stream.value);
    await waits();
    stop.abort();
    expect(await values).toEqual([["message", 1]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
