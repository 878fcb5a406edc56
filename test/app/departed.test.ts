/** Requests whose client disconnects: before the handler reads the signal, and while it waits for a call that got the signal. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import {
  Answer,
  App,
  Deadline,
  Dep,
  Meta,
  Path,
  Returns,
  Socket,
  Test,
  after,
  clientGone,
  deadline,
  get,
} from "usher-http";
import type { AppOptions, Middleware } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import { lines, messages } from "../support/logs.ts";

const route = get(Path.root, { inputs: { gone: clientGone }, returns: Returns.text }, ({ gone }) =>
  String(gone.aborted),
);

it.each([true, false])(
  "a handler sees an aborted signal at once when its client has disconnected, with app.fetch: %s",
  async (isGone) => {
    const leaving = new AbortController();
    const request = new Request("http://h/", { signal: leaving.signal });
    if (isGone) leaving.abort();
    expect(await (await App.make([route]).fetch(request)).text()).toBe(String(isGone));
  },
);

/** A call that never ends by itself: it rejects as `fetch` does, or as a call of Node's. */
const calls: { readonly [name: string]: (signal: AbortSignal) => Promise<string> } = {
  "with the reason, as fetch": (signal) =>
    new Promise((_resolve, reject) => {
      const fail = (): void => reject(signal.reason as Error);
      if (signal.aborted) fail();
      else signal.addEventListener("abort", fail);
    }),
  "with an error whose cause it is, as Node": (signal) => delay(100_000, "", { signal }),
  "by throwIfAborted": async (signal) => {
    while (!signal.aborted) await delay(1);
    signal.throwIfAborted();
    return "";
  },
  "by a controller of its own without a reason": (signal) => byReason(ownOf(signal)),
  "by a controller of its own, as Node": (signal) => delay(100_000, "", { signal: ownOf(signal) }),
  "by AbortSignal.any": (signal) => byReason(AbortSignal.any([signal, AbortSignal.timeout(100_000)])),
  "by AbortSignal.any of a controller of its own": (signal) => byReason(AbortSignal.any([ownOf(signal)])),
  "by a fetch that waits for its head": (signal) => fetch(silent, { signal }).then(String),
  "by a fetch with a controller of its own": (signal) => fetch(silent, { signal: ownOf(signal) }).then(String),
  "inside Promise.any": (signal) => Promise.any([byReason(signal), delay(100_000, "", { signal: ownOf(signal) })]),
  "inside Promise.any of Promise.any": (signal) =>
    Promise.any([calls["inside Promise.any"]?.(signal), byReason(signal)]).then(String),
  "inside Promise.all": (signal) => Promise.all([byReason(ownOf(signal)), byReason(signal)]).then(String),
  "as the cause of an error": (signal) => wrapped(byReason(signal)),
  "as the cause of a cause": (signal) => wrapped(wrapped(wrapped(byReason(ownOf(signal))))),
  "as the cause of one of several": (signal) =>
    Promise.any([wrapped(byReason(signal)), wrapped(byReason(ownOf(signal)))]),
  "with a reason of the application's": (signal) => byReason(ownOf(signal, true)),
  "by a library whose error has a code alone, as axios": async (signal) => {
    await byReason(signal).catch(() => {});
    throw Object.assign(new Error("canceled"), { code: "ERR_CANCELED" });
  },
};

const byReason = (signal: AbortSignal): Promise<string> =>
  calls["with the reason, as fetch"]?.(signal) as Promise<string>;

/** A controller that aborts with another signal. */
function ownOf(signal: AbortSignal, hasReason = false): AbortSignal {
  const own = new AbortController();
  signal.addEventListener("abort", () =>
    own.abort(hasReason ? new Error("left", { cause: signal.reason }) : undefined),
  );
  return own.signal;
}

async function wrapped(call: Promise<string>): Promise<string> {
  try {
    return await call;
  } catch (cause) {
    throw new Error("it could not be loaded", { cause });
  }
}

/** A server that accepts and answers nothing. */
let silent = "";
beforeAll(async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  silent = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return () => void server.close().unref();
});

/** Asks an app of one route by a client that disconnects once the handler runs. */
async function leave(run: (gone: AbortSignal) => Promise<string>, options: AppOptions = {}, inputs = {}) {
  const told: unknown[] = [];
  const leaving = new AbortController();
  const running = gate();
  const waits = get(
    Path.of("waits"),
    { inputs: { ...inputs, gone: clientGone }, returns: Returns.text },
    async ({ gone }) => {
      running.open();
      return run(gone);
    },
  );
  const app = App.make([waits], { ...options, onError: (error) => void told.push(error) });
  const answer = app.fetch(new Request("http://h/waits", { signal: leaving.signal }));
  await running.passed;
  leaving.abort();
  const { status } = await answer;
  return { status, told };
}

const access = () => lines().map((line) => [line["message"], line["level"], line["framework.refusal.code"]]);
const gone = ["GET /waits 499", "info", "client_gone"];

describe("a call that got clientGone and rejects when the client disconnects", () => {
  it.each(Object.entries(calls))("is no error: 499 in the access line, and no other line: %s", async (_name, call) => {
    expect(await leave(call)).toEqual({ status: 499, told: [] });
    expect(access()).toEqual([gone]);
  });

  it("is no error in an input, or through middleware", async () => {
    const passing: Middleware = async (_request, next) => next();
    const input = Dep.join({ gone: clientGone }, ({ gone }) => calls["by throwIfAborted"]?.(gone));
    const told: unknown[] = [];
    const leaving = new AbortController();
    const waits = get(Path.of("waits"), { inputs: { input }, returns: Returns.text }, () => "");
    const app = App.make([waits], { middleware: [passing], onError: (error) => void told.push(error) });
    const answer = app.fetch(new Request("http://h/waits", { signal: leaving.signal }));
    leaving.abort();
    expect([(await answer).status, told, access()]).toEqual([499, [], [gone]]);
  });

  it("ends its scoped values with `client gone`, and their `hasFailed` is true", async () => {
    const ends: unknown[] = [];
    const held = Dep.scoped(
      {},
      () => 1,
      (_, { how, code }) => void ends.push([how, code]),
      { beforeAnswer: (_value, refused, hasFailed) => void ends.push([refused?.code.name, hasFailed]) },
    );
    const later = Dep.join({ held, after }, ({ after }) => {
      after(() => void ends.push("for a success alone"));
      after(({ how }) => void ends.push(how), { always: true });
    });
    await leave(calls["with the reason, as fetch"] as never, {}, { later });
    await eventually(() =>
      expect(ends).toEqual([["client_gone", true], ["client gone", "client_gone"], "client gone"]),
    );
  });

  it("ends its request with `client gone`, also where middleware answers with a page of its own", async () => {
    const ends: unknown[] = [];
    const pages: Middleware = async (_request, next) => Answer.html("<p>No.</p>", { status: (await next()).status });
    const held = Dep.scoped(
      {},
      () => 1,
      (_, { how, code }) => void ends.push([how, code]),
    );
    const { status } = await leave(calls["with the reason, as fetch"] as never, { middleware: [pages] }, { held });
    expect(status).toBe(499);
    await eventually(() => expect(ends).toEqual([["client gone", undefined]]));
  });

  it("is an error where it is any other error", async () => {
    const late = await leave(async (signal) => {
      await calls["with the reason, as fetch"]?.(signal).catch(() => {});
      throw new Error("a bug");
    });
    expect(late).toEqual({ status: 500, told: [new Error("a bug")] });
    expect(messages("error")).toHaveLength(1);
  });

  const loop = new Error("a bug");
  loop.cause = loop;
  const many = new AggregateError([]);
  many.errors.push(many, many);
  it.each<readonly [what: string, thrown: unknown]>([
    [
      "one of several that is another one",
      new AggregateError([new DOMException("", "AbortError"), new Error("a bug")]),
    ],
    ["no error in a list", new AggregateError([])],
    ["an error that is its own cause", loop],
    ["an error that is in its own list", many],
    ["a timeout", new DOMException("late", "TimeoutError")],
    [
      "a cause that cannot be read",
      Object.defineProperty(new Error("a bug"), "cause", {
        get: () => {
          throw new Error("no");
        },
      }),
    ],
    ["a text", "AbortError"],
    ["nothing", undefined],
  ])("is an error where it is %s", async (_what, thrown) => {
    const { status, told } = await leave(async (signal) => {
      await byReason(signal).catch(() => {});
      throw thrown;
    });
    expect([status, told]).toEqual([500, [thrown]]);
  });

  it("is no error of a handler whose client is there", async () => {
    const own = new AbortController();
    const waits = get(Path.of("waits"), { inputs: { gone: clientGone }, returns: Returns.text }, async () => {
      own.abort();
      own.signal.throwIfAborted();
      return "";
    });
    const told: unknown[] = [];
    const answer = await App.make([waits], { onError: (error) => void told.push(error) }).fetch(
      new Request("http://h/waits"),
    );
    expect([answer.status, told]).toEqual([500, [own.signal.reason]]);
  });
});

describe("the handler of a WebSocket", () => {
  const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

  it.each([
    ["the client disconnects", clientGone, Meta.empty, "client gone"],
    ["the deadline of its route passes", deadline, Meta.empty.add(Meta.deadline, Deadline.make(20)), "timed out"],
  ])("that rejects by its signal as %s is no error", async (_what, input, meta, how) => {
    const told: unknown[] = [];
    const ends: unknown[] = [];
    const held = Dep.scoped(
      {},
      () => 1,
      (_, { how }) => void ends.push(how),
    );
    const talk = get(
      Path.of("talk"),
      { inputs: { held, signal: input }, returns: Returns.websocket(texts), meta },
      ({ signal }) =>
        async () =>
          void (await calls["with the reason, as fetch"]?.(signal)),
    );
    const app = Test.app([talk], { onError: (error) => void told.push(error) });
    await Test.websocket(app, texts, "/talk", async (socket) => {
      if (input === deadline) await socket.receive();
    });
    await eventually(() => expect(messages("info")).toContainEqual(expect.stringMatching("^socket on /talk ended")));
    expect([told, messages("error"), messages("warn"), ends]).toEqual([[], [], [], [how]]);
  });
});

describe("a stream that rejects by clientGone", () => {
  /** Asks for it, and disconnects once a part is asked for. How it ended, what `onError` got, and its lines. */
  async function leaveStream(kind: "events" | "lines", isGoneBefore: boolean) {
    const told: unknown[] = [];
    const ends: unknown[] = [];
    const leaving = new AbortController();
    const held = Dep.scoped(
      {},
      () => 1,
      (_, { how }) => void ends.push(how),
    );
    const inputs = { held, gone: clientGone };
    const call = async (gone: AbortSignal): Promise<void> => {
      setTimeout(() => leaving.abort(), 0);
      await calls["with an error whose cause it is, as Node"]?.(gone);
    };
    const left = async (): Promise<void> => (isGoneBefore ? leaving.abort() : undefined);
    const events = get(Path.of("events"), { inputs, returns: Returns.events([]) }, async ({ gone }) => {
      await left();
      return () => call(gone);
    });
    async function* parts(gone: AbortSignal): AsyncGenerator<number> {
      yield 1;
      await call(gone);
    }
    const lines = get(Path.of("lines"), { inputs, returns: Returns.jsonLines(v.number()) }, async ({ gone }) => {
      await left();
      return parts(gone);
    });
    const app = App.make([events, lines], { onError: (error) => void told.push(error) });
    const { body } = await app.fetch(new Request(`http://h/${kind}`, { signal: leaving.signal }));
    await expect(new Response(body).text()).rejects.toThrow("the stream failed");
    await eventually(() => expect(ends).toHaveLength(1));
    return { ends, told, last: messages("info").at(-1), errors: messages("error") };
  }

  it.each([
    ["events", false],
    ["events", true],
    ["lines", false],
    ["lines", true],
  ] as const)("is no error: %s whose client disconnected before the head: %s", async (kind, isGoneBefore) => {
    const last = `stream on /${kind} ended: client gone`;
    expect(await leaveStream(kind, isGoneBefore)).toEqual({ ends: ["client gone"], told: [], last, errors: [] });
  });
});

it("a task of after that the passed deadline ends is an error, as its work is not done", async () => {
  const told: unknown[] = [];
  const late = get(
    Path.of("late"),
    { inputs: { after, deadline }, returns: Returns.text, meta: Meta.empty.add(Meta.deadline, Deadline.make(20)) },
    async ({ after, deadline }) => {
      after(() => deadline.throwIfAborted(), { always: true });
      return new Promise<string>(() => {});
    },
  );
  const app = Test.app([late], { onError: (error, { during }) => void told.push([(error as Error).name, during]) });
  expect((await Test.call(app, "GET", "/late")).status).toBe(503);
  await eventually(() => expect(told).toEqual([["TimeoutError", "after"]]));
  expect(messages("error")).toEqual(["GET /late: its work after the answer raised"]);
});
