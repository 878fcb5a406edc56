/** The work of a request whose deadline expires: acquired values, commits, middleware and streams. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  Answer,
  App,
  Deadline,
  Dep,
  Event,
  Refusal,
  RefusalFormat,
  Returns,
  Test,
  after,
  bodyStream,
  deadline,
  get,
  post,
  refuse,
} from "usher-http";
import type { Meta, Middleware, Route } from "usher-http";
import { Compress } from "usher-http/compress";
import { asked, at, holdClock, never, own, settle, statusOf, text } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import { lines, messages } from "../support/logs.ts";

holdClock();

describe("releases and tasks after a request that timed out", () => {
  it("get `timedOut`: also releases of late values, and tasks that always run", async () => {
    const told: unknown[] = [];
    const ready = gate();
    const first = Dep.scoped(
      {},
      () => "first",
      (value, { how, status, code }) => told.push([value, how, status, code]),
    );
    const late = Dep.scoped(
      { first },
      async () => {
        await ready.passed;
        return "late";
      },
      (value, { how }) => told.push([value, how]),
    );
    const later = Dep.scoped(
      { late },
      () => told.push("acquired"),
      () => {},
    );
    const task = Dep.map(after, (after) => {
      after(() => told.push("dropped"));
      after((end) => told.push(["task", end.how]), { always: true });
    });
    const route = get(at, { inputs: { task, first, late, later }, returns: Returns.text }, () => "x");
    expect(statusOf(await asked(route, { deadline: Deadline.make(50) }, 70))).toBe(503);
    await settle();
    // An acquire still uses the first value.
    expect(told).toEqual([["task", "timed out"]]);
    ready.open();
    await settle();
    await settle();
    expect(told.slice(1)).toEqual([
      ["late", "timed out"],
      ["first", "timed out", 503, "timed_out"],
    ]);
  });

  it("a value is released after an acquire that rejects, and one that takes too long keeps it no longer than 10 s", async () => {
    const told: string[] = [];
    const [fails, hangs] = [gate(), gate()];
    const routeOf = (acquire: () => Promise<unknown>): Route => {
      const first = Dep.scoped(
        {},
        () => "first",
        () => told.push("first"),
      );
      const second = Dep.scoped({ first }, acquire, () => told.push("second"));
      return get(at, { inputs: { second }, returns: Returns.text }, () => "x");
    };
    const failing = routeOf(async () => {
      await fails.passed;
      throw new Error("s3cret");
    });
    expect(statusOf(await asked(failing, { deadline: Deadline.make(50) }, 70))).toBe(503);
    await settle();
    expect(told).toEqual([]);
    fails.open();
    await settle();
    expect(told).toEqual(["first"]);
    const setTimeout = vi.spyOn(globalThis, "setTimeout");
    expect(
      statusOf(
        await asked(
          routeOf(() => hangs.passed),
          { deadline: Deadline.make(50) },
          70,
        ),
      ),
    ).toBe(503);
    await settle();
    const [timeout] = setTimeout.mock.calls.find(([, ms]) => ms === 10_000) as [() => void];
    setTimeout.mockRestore();
    told.length = 0;
    timeout();
    await settle();
    expect(told).toEqual(["first"]);
    hangs.open();
    await settle();
    expect(told).toEqual(["first", "second"]);
  });

  it("nothing is acquired after the deadline, also by inputs that were chosen during the request", async () => {
    const told: string[] = [];
    const ready = gate();
    const first = Dep.scoped(
      {},
      () => ready.passed.then(() => told.push("acquired")),
      () => told.push("released"),
    );
    const second = Dep.scoped(
      { first },
      () => told.push("acquired too"),
      () => told.push("released too"),
    );
    const chosen = Dep.bind(Dep.return(0), () => second);
    const route = get(at, { inputs: { chosen }, returns: Returns.text }, () => "x");
    expect(statusOf(await asked(route, { deadline: Deadline.make(50) }, 70))).toBe(503);
    ready.open();
    await settle();
    await settle();
    expect(told).toEqual(["acquired", "released"]);
  });

  it("a task that the late handler adds is dropped", async () => {
    const told: string[] = [];
    const ready = gate();
    const route = get(at, { inputs: { after }, returns: Returns.text }, async ({ after }) => {
      await ready.passed;
      after(() => told.push("mail"));
      after(() => told.push("always"), { always: true });
      return "x";
    });
    await asked(route, { deadline: Deadline.make(50) }, 70);
    ready.open();
    await settle();
    expect(told).toEqual(["always"]);
  });

  it.each([
    ["a value", (): string => "x", "answered"],
    ["a refusal", () => refuse(Refusal.busy) as never, "refused"],
    [
      "an error",
      () => {
        throw new Error("s3cret");
      },
      "failed",
    ],
  ] as const)("a task sees how the request ended, through %s", async (_what, end, how) => {
    const told: unknown[] = [];
    const route = get(at, { inputs: { after }, returns: Returns.text }, ({ after }) => {
      after(({ how }) => told.push(how), { always: true });
      return end();
    });
    await Test.call(Test.app([route]), "GET", "/x");
    expect(told).toEqual([how]);
  });
});

describe("a commit before the answer", () => {
  /** A transaction whose end waits, like that of a database. */
  function bank(): { readonly told: string[]; readonly end: () => void; readonly tx: Dep<string> } {
    const told: string[] = [];
    const ended = gate();
    const tx = Dep.scoped(
      {},
      () => "tx",
      (_tx, { how }) => told.push(`released: ${how}`),
      {
        beforeAnswer: async (_tx, refused, hasFailed) => {
          const what = refused === undefined && !hasFailed ? "committed" : "rolled back";
          told.push(`${what}?`);
          await ended.passed;
          told.push(what);
        },
      },
    );
    return { told, end: ended.open, tx };
  }

  it("becomes a rollback if the deadline expires in the handler, and the answer does not wait for it", async () => {
    const { told, end, tx } = bank();
    const route = post(at, { inputs: { tx }, returns: Returns.text }, never);
    const answer = (await asked(route, { deadline: Deadline.make(50) }, 70, { method: "POST" })) as Response;
    expect([answer.status, told]).toEqual([503, ["rolled back?"]]);
    expect(((await answer.json()) as { error: string }).error).toBe("timed_out");
    end();
    await settle();
    expect(told).toEqual(["rolled back?", "rolled back", "released: timed out"]);
  });

  it("is answered 503 outcome_unknown if the deadline expires during the commit", async () => {
    const { told, end, tx } = bank();
    const route = post(at, { inputs: { tx }, returns: Returns.text }, () => "paid");
    const answer = (await asked(route, { deadline: Deadline.make(50) }, 70, { method: "POST" })) as Response;
    expect([answer.status, await answer.json()]).toEqual([
      503,
      {
        error: "outcome_unknown",
        message: "That took too long, and may be done or not. Please look before you try again.",
      },
    ]);
    end();
    await settle();
    expect(told).toEqual(["committed?", "committed", "released: timed out"]);
    expect(messages("warn")).toEqual(["POST /x: its handler answered 200 after its deadline, which is not sent"]);
  });

  it("keeps the handler's refusal as the answer during the rollback", async () => {
    const { told, end, tx } = bank();
    const route = post(at, { inputs: { tx }, returns: Returns.text }, () => refuse(Refusal.invalid) as never);
    expect(statusOf(await asked(route, { deadline: Deadline.make(50) }, 70, { method: "POST" }))).toBe(400);
    end();
    await settle();
    expect(told).toEqual(["rolled back?", "rolled back", "released: timed out"]);
  });
});

const marked: Middleware = async (_request, next) => {
  const answer = await next();
  return { ...answer, headers: [...answer.headers, ["x-seen", String(answer.status)]] };
};

it("middleware receives the answer of its route when it is in time", async () => {
  const ready = gate<string>();
  const route = get(at, text, () => ready.passed);
  const answer = App.make([route], { deadline: Deadline.make(500), middleware: [marked, marked] }).fetch(
    new Request("http://h/x"),
  );
  await settle();
  ready.open("x");
  const { status, headers } = await answer;
  expect([status, headers.get("x-seen")]).toEqual([200, "200, 200"]);
});

describe("middleware of a request whose deadline passes", () => {
  it("receives the 503 as the answer of its route", async () => {
    const answer = await asked(get(at, text, never), { deadline: Deadline.make(50), middleware: [marked, marked] }, 70);
    expect([statusOf(answer), (answer as Response).headers.get("x-seen")]).toEqual([503, "503, 503"]);
  });

  it.each([
    ["before the route", async () => never(), 70],
    ["after the route", async (_: unknown, next: () => Promise<Answer>) => next().then(never), 70],
    [
      "after the 503",
      async (_: unknown, next: () => Promise<Answer>) => {
        await next();
        return never();
      },
      70,
    ],
  ] as const)("is not waited for: %s", async (what, middleware, passes) => {
    const handler = what === "after the 503" ? never : () => "x";
    const refusalFormat = RefusalFormat.problemDetails();
    const app = App.make([get(at, text, handler)], {
      deadline: Deadline.make(50),
      middleware: [middleware],
      refusalFormat,
    });
    const answer = app.fetch(new Request("http://h/x"));
    await settle();
    vi.advanceTimersByTime(passes);
    await settle();
    if (what === "after the 503") vi.advanceTimersByTime(1000);
    const { status, headers } = await answer;
    expect([status, headers.get("content-type")]).toEqual([503, "application/problem+json"]);
    await settle();
    expect(lines().filter(({ message }) => message === "GET /x 503")).toHaveLength(1);
  });

  it("is not sent or logged if it answers after that", async () => {
    const ready = gate();
    const late: Middleware = async (_request, next) => {
      const answer = await next();
      await ready.passed;
      return { ...answer, status: 200 };
    };
    const answer = App.make([get(at, text, never)], { deadline: Deadline.make(50), middleware: [late] }).fetch(
      new Request("http://h/x"),
    );
    await settle();
    vi.advanceTimersByTime(70);
    await settle();
    vi.advanceTimersByTime(1000);
    expect((await answer).status).toBe(503);
    ready.open();
    await settle();
    expect(lines().filter(({ message }) => String(message).startsWith("GET /x "))).toHaveLength(1);
  });

  it("does not run a handler after it", async () => {
    const ready = gate();
    let ran = false;
    const route = get(at, text, () => {
      ran = true;
      return "x";
    });
    const waits: Middleware = async (_request, next) => {
      await ready.passed;
      return next();
    };
    expect(statusOf(await asked(route, { deadline: Deadline.make(50), middleware: [waits] }, 70))).toBe(503);
    ready.open();
    await settle();
    expect(ran).toBe(false);
  });
});

describe("a request on a runtime whose timers belong to requests, such as Workers", () => {
  beforeEach(() => {
    vi.stubGlobal("WebSocketPair", Object);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => void vi.unstubAllGlobals());
  const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  it("is answered 503 at its deadline", async () => {
    const answer = App.make([get(at, text, never)], { deadline: Deadline.make(50) }).fetch(new Request("http://h/x"));
    await passes(49);
    expect(vi.getTimerCount()).toBe(1);
    await passes(1);
    expect((await answer).status).toBe(503);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("leaves no timer when it is answered earlier", async () => {
    const ready = gate<string>();
    const answer = App.make([get(at, text, () => ready.passed)], { deadline: Deadline.make(50) }).fetch(
      new Request("http://h/x"),
    );
    await passes(10);
    ready.open("x");
    expect([(await answer).status, vi.getTimerCount()]).toEqual([200, 0]);
  });

  it("gives its middleware one more second, and has one timer", async () => {
    const after503: Middleware = async (_request, next) => {
      await next();
      return never();
    };
    const app = App.make([get(at, text, never)], { deadline: Deadline.make(50), middleware: [after503] });
    const answer = app.fetch(new Request("http://h/x"));
    await passes(50);
    expect(vi.getTimerCount()).toBe(1);
    await passes(1000);
    expect([(await answer).status, vi.getTimerCount()]).toEqual([503, 0]);
  });
});

describe("a body that the handler reads as a stream", () => {
  const upload = bodyStream({ max: 10 });
  const arriving = (): RequestInit => {
    const body = new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(new Uint8Array(3)) });
    return { method: "POST", body, duplex: "half" };
  };
  const cut = { ok: false, error: { kind: "unreadable", detail: "the request was answered before its body was read" } };
  const reading = (told: unknown[]): Route =>
    post(at, { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
      for (let i = 0; i < 3; i++) told.push(await upload.read());
      return "read";
    });
  const first = { ok: true, value: new Uint8Array(3) };

  it("a read fails, and does not end, when the deadline expires", async () => {
    const told: unknown[] = [];
    expect(statusOf(await asked(reading(told), { deadline: Deadline.make(50) }, 70, arriving()))).toBe(503);
    await settle();
    expect(told).toEqual([first, cut, cut]);
  });

  it("a read fails also when middleware has answered", async () => {
    const told: unknown[] = [];
    const early: Middleware = async (_request, next) => {
      void next();
      await settle();
      return Answer.make("early");
    };
    expect(statusOf(await asked(reading(told), { middleware: [early] }, 0, arriving()))).toBe(200);
    await settle();
    expect(told).toEqual([first, cut, cut]);
  });
});

describe("an event stream", () => {
  const tick = Event.text("tick");
  const stream = (meta?: Meta): Route =>
    get(at, { returns: Returns.events([tick]), ...(meta && { meta }) }, () => async (send) => {
      await send(Event.make(tick, "one"));
      await never();
    });

  it("does not have the app's deadline", async () => {
    const answer = (await asked(stream(), { deadline: Deadline.make(50) }, 10_000)) as Response;
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain("one");
    const next = reader.read();
    vi.advanceTimersByTime(10_000);
    expect(await Promise.race([next, settle()])).toBe(undefined);
  });

  it("ends at the deadline of its route, and its releases get `timedOut`", async () => {
    const told: unknown[] = [];
    const held = Dep.scoped(
      {},
      () => 1,
      (_, { how }) => told.push(how),
    );
    const route = get(
      at,
      { inputs: { held, deadline }, returns: Returns.events([tick]), meta: own(500) },
      ({ deadline }) =>
        async (send) => {
          await send(Event.make(tick, "one"));
          await new Promise((resolve) => deadline.addEventListener("abort", resolve));
          told.push(await send(Event.make(tick, "two")));
        },
    );
    const answer = await App.make([route]).fetch(new Request("http://h/x"));
    const whole = answer.text();
    await settle();
    vi.advanceTimersByTime(480);
    await settle();
    expect(told).toEqual([]);
    vi.advanceTimersByTime(40);
    expect(await whole).toBe("event: tick\ndata: one\n\n");
    await settle();
    expect(told).toContainEqual({ ok: false, error: "gone" });
    expect(told).toContain("timed out");
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends at the deadline of its route, also when it is compressed", async () => {
    const app = App.make([stream(own(500))], { middleware: [Compress.make()] });
    const { body, headers } = await app.fetch(new Request("http://h/x", { headers: { "accept-encoding": "gzip" } }));
    expect(headers.get("content-encoding")).toBe("gzip");
    const plain = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new DecompressionStream("gzip"));
    const whole = new Response(plain).text();
    await settle();
    vi.advanceTimersByTime(520);
    expect(await whole).toBe("event: tick\ndata: one\n\n");
  });

  it("leaves no timer when it ends earlier", async () => {
    const route = get(at, { returns: Returns.events([tick]), meta: own(500) }, () => async (send) => {
      await send(Event.make(tick, "one"));
    });
    await (await App.make([route]).fetch(new Request("http://h/x"))).text();
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
  });
});
