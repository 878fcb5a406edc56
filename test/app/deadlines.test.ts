/** Deadlines: the client gets 503 `timed_out` in time, whatever the handler does. */
import { EventEmitter, once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { Answer, App, Deadline, Dep, Event, Log, Meta, Openapi, Path, Refusal, Returns, bodyStream } from "usher-http";
import { body, deadline, get, json, post, refuse } from "usher-http";
import type { AppOptions, Middleware, Route } from "usher-http";
import * as v from "valibot";
import { asked, at, holdClock, never, own, settle, statusOf, text } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import { lines, messages } from "../support/logs.ts";

holdClock();

describe("a deadline", () => {
  it("is answered 503 timed_out, and not too early", async () => {
    const route = get(at, text, never);
    expect(await asked(route, { deadline: Deadline.make(500) }, 490)).toBe("no answer");
    const answer = (await asked(route, { deadline: Deadline.make(500) }, 520)) as Response;
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { error: "timed_out", message: "That took too long, and was ended." },
    ]);
    expect(answer.headers.get("x-request-id")).not.toBeNull();
    const line = lines().find(({ message }) => message === "GET /x 503");
    expect(line).toMatchObject({ level: "info", "framework.refusal.code": "timed_out", "http.route": "/x" });
  });

  it.each([
    ["the app's", undefined, 520, 503],
    ["the route's, which is shorter", own(100), 120, 503],
    ["the route's, which is longer", own(1000), 520, "no answer"],
    ["none, by the route", own("none"), 5000, "no answer"],
  ] as const)("is %s", async (_what, meta, passes, status) => {
    const route = get(at, { ...text, ...(meta && { meta }) }, never);
    expect(statusOf(await asked(route, { deadline: Deadline.make(500) }, passes))).toBe(status);
  });

  it("works on a route although the app has none", async () => {
    expect(statusOf(await asked(get(at, { ...text, meta: own(100) }, never), {}, 120))).toBe(503);
    expect(statusOf(await asked(get(at, text, never), {}, 5000))).toBe("no answer");
  });

  it("works when no route matches, and a HEAD gets no body", async () => {
    expect(
      statusOf(await asked(get(Path.of("y"), text, never), { deadline: Deadline.make(10), notFound: never }, 30)),
    ).toBe(503);
    const head = (await asked(get(at, text, never), { deadline: Deadline.make(10) }, 30, {
      method: "HEAD",
    })) as Response;
    expect([head.status, head.body === null || (await head.text()) === ""]).toEqual([503, true]);
  });

  it("does not change an answer that is in time", async () => {
    const ready = gate<string>();
    const { fetch } = App.make([get(at, text, () => ready.passed)], { deadline: Deadline.make(500) });
    const answer = fetch(new Request("http://h/x"));
    await settle();
    vi.advanceTimersByTime(480);
    ready.open("in time");
    expect(await (await answer).text()).toBe("in time");
    vi.advanceTimersByTime(1000);
    expect(messages("warn")).toEqual([]);
  });

  it("leaves no timer after ten thousand requests, answered or not", async () => {
    const ready = gate<string>();
    const { fetch } = App.make([get(at, text, () => ready.passed)], { deadline: Deadline.make(500) });
    const asking = Array.from({ length: 10_000 }, () => fetch(new Request("http://h/x")));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(100);
    ready.open("x");
    await Promise.all(asking);
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
    const late = Array.from({ length: 100 }, () => fetch(new Request("http://h/x")));
    await Promise.all(late);
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("expires in the order of the times, in every round of the timer wheel", async () => {
    const passed: number[] = [];
    const times = [5000, 30, 2560, 2570, 60_000, 10];
    const routes = times.map((ms) => get(Path.of(`t${ms}`), { ...text, meta: own(ms) }, never));
    const { fetch } = App.make(routes);
    for (const ms of times) void fetch(new Request(`http://h/t${ms}`)).then(() => passed.push(ms));
    for (const step of [20, 20, 2530, 10, 2440, 54_990, 20]) {
      vi.advanceTimersByTime(step);
      await settle();
    }
    expect(passed).toEqual([10, 30, 2560, 2570, 5000, 60_000]);
  });
});

describe("the input deadline", () => {
  it("aborts with a TimeoutError at the deadline, in the request's context", async () => {
    const seen: unknown[] = [];
    const program = Log.source("program");
    const route: Route = get(at, { inputs: { deadline }, returns: Returns.text }, ({ deadline }) => {
      deadline.addEventListener("abort", () => {
        seen.push((deadline.reason as DOMException).name);
        program.info("aborted");
      });
      return new Promise<string>((_, reject) => {
        deadline.addEventListener("abort", () => reject(deadline.reason as Error));
      });
    });
    const answer = (await asked(route, { deadline: Deadline.make(50) }, 70)) as Response;
    await settle();
    expect([answer.status, seen]).toEqual([503, ["TimeoutError"]]);
    expect(lines().find(({ message }) => message === "aborted")?.["request_id"]).toBe(
      answer.headers.get("x-request-id"),
    );
    // The handler obeyed the signal, so this is no error.
    expect([...messages("error"), ...messages("warn")]).toEqual([]);
  });

  it("ends a call of Node's, whose AbortError has the reason as its cause, without an error line", async () => {
    const errors: unknown[] = [];
    const route: Route = get(at, { inputs: { deadline }, returns: Returns.text }, async ({ deadline }) => {
      await once(new EventEmitter(), "never", { signal: deadline });
      return "x";
    });
    const options = { deadline: Deadline.make(50), onError: (error: unknown) => errors.push(error) };
    expect(statusOf(await asked(route, options, 70))).toBe(503);
    await settle();
    expect([...messages("error"), ...messages("warn"), ...errors]).toEqual([]);
  });

  it("logs an error whose cause cannot be read, thrown after the deadline, as one of the handler", async () => {
    const odd = Object.defineProperty(new Error("odd"), "cause", {
      get() {
        throw new Error("unreadable");
      },
    });
    const route: Route = get(at, { inputs: { deadline }, returns: Returns.text }, ({ deadline }) => {
      return new Promise<string>((_, reject) => deadline.addEventListener("abort", () => reject(odd)));
    });
    expect(statusOf(await asked(route, { deadline: Deadline.make(50) }, 70))).toBe(503);
    await settle();
    expect(messages("error")).toEqual(["GET /x: internal: it raised"]);
  });

  it("never aborts without a deadline, and never after the answer", async () => {
    const signals: AbortSignal[] = [];
    const route = get(at, { inputs: { deadline }, returns: Returns.text }, async ({ deadline }) => {
      signals.push(deadline);
      await settle();
      return "x";
    });
    for (const options of [{}, { deadline: Deadline.make(50) }]) {
      expect((await App.make([route], options).fetch(new Request("http://h/x"))).status).toBe(200);
      vi.advanceTimersByTime(1000);
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });
});

describe("middleware that is late", () => {
  it("past its second has one line, and what it answers is dropped", async () => {
    const ready = gate();
    let isCancelled = false;
    const stream = new ReadableStream({ cancel: () => void (isCancelled = true) });
    const slow: Middleware = async (_request, next) => {
      await next();
      await ready.passed;
      return Answer.stream(stream, { status: 201 });
    };
    const route = get(at, text, never);
    expect(statusOf(await asked(route, { deadline: Deadline.make(50), middleware: [slow] }, 1100))).toBe(503);
    ready.open();
    await settle();
    expect(isCancelled).toBe(true);
    expect(messages("warn")).toEqual(["GET /x: its handler answered 201 after its deadline, which is not sent"]);
    expect(lines().filter(({ message }) => /^GET \/x \d+$/.test(String(message)))).toHaveLength(1);
  });
});

describe("a handler that is late", () => {
  it.each([
    ["a value", (): string => "late", "warn", "GET /x: its handler answered 200 after its deadline, which is not sent"],
    ["a refusal", () => refuse(Refusal.busy) as never, "warn", "503 after its deadline"],
    [
      "an error",
      () => {
        throw new TypeError("s3cret");
      },
      "error",
      "GET /x: internal: it raised",
    ],
  ] as const)("with %s logs one line, and changes nothing else", async (_what, end, level, message) => {
    const ready = gate();
    const route = get(at, text, async () => {
      await ready.passed;
      return end();
    });
    expect(statusOf(await asked(route, { deadline: Deadline.make(50) }, 70))).toBe(503);
    ready.open();
    await settle();
    expect(messages(level).filter((one) => String(one).includes(message))).toHaveLength(1);
    expect(JSON.stringify(lines())).not.toContain("s3cret");
    expect(lines().filter(({ message }) => /^GET \/x \d/.test(String(message)))).toHaveLength(1);
  });

  it("has its stream cancelled", async () => {
    const ready = gate();
    let cancelled = false;
    const route = get(at, { returns: Returns.response }, async () => {
      await ready.passed;
      return new Response(new ReadableStream({ cancel: () => void (cancelled = true) }));
    });
    await asked(route, { deadline: Deadline.make(50) }, 70);
    ready.open();
    await settle();
    expect(cancelled).toBe(true);
  });

  it("does not run if the deadline expires while its inputs are read", async () => {
    const ready = gate();
    let ran = 0;
    const slow = Dep.join({}, () => ready.passed);
    const next = Dep.join({ slow }, () => void ran++);
    const route = get(at, { inputs: { slow, next }, returns: Returns.text }, () => {
      ran++;
      return "x";
    });
    expect(statusOf(await asked(route, { deadline: Deadline.make(50) }, 70))).toBe(503);
    ready.open();
    await settle();
    expect([ran, messages("warn")]).toEqual([0, []]);
  });
});

describe("a body that arrives at the deadline", () => {
  const endless = (): RequestInit => ({
    method: "POST",
    body: new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("[1,")),
    }),
    duplex: "half",
    headers: { "content-type": "application/json" },
  });
  it.each([
    ["as JSON", post(at, { inputs: { it: json(v.array(v.number())) }, returns: Returns.text }, () => "x")],
    ["as bytes", post(at, { inputs: { it: body }, returns: Returns.text }, () => "x")],
    [
      "by the handler",
      post(at, { inputs: { it: bodyStream({ max: 6 }) }, returns: Returns.text }, async ({ it }) => {
        for await (const _ of it);
        return "x";
      }),
    ],
  ] as const)("%s is a 503, and holds no bytes of the budget", async (_what, route) => {
    const options: AppOptions = { deadline: Deadline.make(50), bodyBudget: 6, maxBody: 6, bodyShare: 6 };
    const app = App.make([route], options);
    for (let i = 0; i < 4; i++) {
      const answer = app.fetch(new Request("http://h/x", endless()));
      await settle();
      vi.advanceTimersByTime(70);
      expect([(await answer).status, ((await (await answer).json()) as { error: string }).error]).toEqual([
        503,
        "timed_out",
      ]);
    }
  });
});

describe("the caller's deadline header", () => {
  const route = get(at, text, never);
  it.each([
    ["100", 120, 503],
    ["0", 0, 503],
    ["00050", 70, 503],
    // A value that is not a number of milliseconds does not change the app's deadline.
    ...["", "-1", "1.5", "NaN", "1e2", "Infinity", "100, 200", "0x10", "+5", "9".repeat(40), "99999999999"].map(
      (value) => [value, 480, "no answer"] as const,
    ),
    ["4294967297", 480, "no answer"],
    ["4294967297", 520, 503],
    ["NaN", 520, 503],
  ] as const)("of %j, after %d ms: %s", async (value, passes, status) => {
    const options = { deadline: Deadline.make(500), deadlineHeader: "X-Request-Timeout-Ms" };
    const headers = { "x-request-timeout-ms": value };
    expect(statusOf(await asked(route, options, passes, { headers }))).toBe(status);
  });

  it("of 0 runs no handler", async () => {
    let ran = false;
    const route = get(at, text, () => {
      ran = true;
      return "x";
    });
    const options = { deadline: Deadline.make(500), deadlineHeader: "x-budget" };
    expect(statusOf(await asked(route, options, 0, { headers: { "x-budget": "0" } }))).toBe(503);
    expect(ran).toBe(false);
  });

  it("is not read if the app names no header, nor on a route without a deadline", async () => {
    const headers = { "x-budget": "0" };
    expect(statusOf(await asked(route, { deadline: Deadline.make(500) }, 10, { headers }))).toBe("no answer");
    const free = get(at, { ...text, meta: own("none") }, never);
    expect(
      statusOf(await asked(free, { deadline: Deadline.make(5), deadlineHeader: "x-budget" }, 10, { headers })),
    ).toBe("no answer");
  });
});

describe("declared deadlines", () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "5", null, {}])(
    "a deadline cannot be %s",
    (value) => {
      expect(() => Deadline.make(value as number)).toThrow(
        "Deadline.make: a deadline is a whole number of milliseconds from 1 to 2147483647, and not",
      );
    },
  );

  it.each<[options: object, sentence: string]>([
    [{ deadline: 500 }, "deadline is a number, and not made by Deadline.make: write Deadline.make(ms)"],
    [{ deadline: { ms: 500 } }, "deadline is another object, and not made by Deadline.make"],
    [{ deadlineMs: 500 }, "deadlineMs is no option of an app: write deadline: Deadline.make(ms)"],
  ])("%o are no options of an app, and the error says what to write", (options, sentence) => {
    expect(() => App.make([get(at, text, never)], options)).toThrow(`App.make: ${sentence}`);
  });

  it.each([
    [500, 'GET /x: its Meta.deadline is made by Deadline.make, or "none", and not 500: write Deadline.make(500)'],
    ["500", 'GET /x: its Meta.deadline is made by Deadline.make, or "none", and not "500"'],
    [{ ms: 5 }, 'GET /x: its Meta.deadline is made by Deadline.make, or "none", and not another object'],
  ])("Meta.deadline cannot be %o, and the error says what to write", (value, sentence) => {
    const route = get(at, { ...text, meta: Meta.empty.add(Meta.deadline, value as never) }, never);
    expect(() => App.make([route])).toThrow(`App.make: ${sentence}`);
  });

  it.each(["", "x y", "x:", 5, null])("the name of the deadline header cannot be %j", (value) => {
    expect(() => App.make([], { deadline: Deadline.make(5), deadlineHeader: value as string })).toThrow(
      "deadlineHeader is the name of a header, and not",
    );
  });

  it("a route's deadline is the upper limit of the caller's", () => {
    expect(() => App.make([], { deadlineHeader: "x-budget" })).toThrow(
      "deadlineHeader needs a deadline that bounds it",
    );
  });

  it("deadlines are in the API document, with their codes", async () => {
    const tick = Event.text("tick");
    const routes = [
      get(Path.of("a"), text, never),
      get(Path.of("b"), { ...text, meta: own("none") }, never),
      get(Path.of("c"), { ...text, meta: own(5) }, never),
      get(Path.of("d"), { returns: Returns.events([tick]) }, () => async () => {}),
      get(Path.of("e"), { returns: Returns.events([tick]), meta: own(5) }, () => async () => {}),
    ];
    const having = (document: unknown): string =>
      Object.entries((document as { paths: { [path: string]: unknown } }).paths)
        .filter(([, methods]) => JSON.stringify(methods).includes("timed_out: "))
        .map(([path]) => path)
        .join();
    expect(having(Openapi.document(routes))).toBe("/c,/e");
    expect(having(Openapi.document(routes, { deadline: Deadline.make(500) }))).toBe("/a,/c,/e");
    const app = App.make([...routes, ...Openapi.docs(routes)], { deadline: Deadline.make(500) });
    expect(having(await (await app.fetch(new Request("http://h/openapi.json"))).json())).toBe("/a,/c,/e");
  });
});
