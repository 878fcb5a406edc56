/** `Dep.scoped`: a value that a request acquires is released once, after its answer, however the request ends. */
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as v from "valibot";
import {
  Answer,
  App,
  Codec,
  Deadline,
  Dep,
  Path,
  Query,
  Refusal,
  Returns,
  Test,
  get,
  json,
  post,
  refuse,
} from "usher-http";
import type { Middleware } from "usher-http";
import { gate } from "../support/gate.ts";
import { lines, messages } from "../support/logs.ts";

const soldOut = Refusal.code("sold_out", { status: 409, doc: "None is left." });
const text = Returns.text;

/** A scoped input that records its events. */
function noted(name: string, log: string[], from: { readonly [name: string]: Dep<unknown> } = {}): Dep<string> {
  return Dep.scoped(
    from,
    () => {
      log.push(`acquire ${name}`);
      return name;
    },
    (value, end) => void log.push(`release ${value} ${end.how} ${end.status} ${end.code ?? "-"}`),
  );
}

const throwing = (): never => {
  throw new Error("s3cret");
};

describe("an acquired value is released once, after the answer", () => {
  const rows: readonly (readonly [what: string, answer: () => unknown, end: string])[] = [
    ["an answer", () => "done", "answered 200 -"],
    ["an answer, later", async () => "done", "answered 200 -"],
    ["a refusal", () => refuse(soldOut, "None is left."), "refused 409 sold_out"],
    [
      "a thrown refusal",
      () => {
        throw refuse(soldOut, "None is left.");
      },
      "refused 409 sold_out",
    ],
    ["an exception", throwing, "failed 500 internal"],
    ["a rejection", () => Promise.reject(new Error("s3cret")), "failed 500 internal"],
  ];
  it.each(rows)("%s", async (_what, answer, end) => {
    const log: string[] = [];
    const handler = () => {
      log.push("handle");
      return answer() as string;
    };
    const route = get(Path.of("x"), { inputs: { a: noted("a", log) }, returns: text, refuses: [soldOut] }, handler);
    await Test.call(Test.app([route]), "GET", "/x");
    expect(log).toEqual(["acquire a", "handle", `release a ${end}`]);
  });

  it("in reverse order, one after the other", async () => {
    const log: string[] = [];
    const slow = (name: string) =>
      Dep.scoped(
        {},
        () => name,
        async () => {
          log.push(`begin ${name}`);
          await new Promise((resolve) => {
            setTimeout(resolve, 1);
          });
          log.push(`end ${name}`);
        },
      );
    const inputs = { a: slow("a"), b: slow("b"), c: slow("c") };
    await Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, () => "")]), "GET", "/x");
    expect(log).toEqual(["begin c", "end c", "begin b", "end b", "begin a", "end a"]);
  });
});

describe("an acquired value and the other inputs", () => {
  it("is acquired once, for any number of inputs that use it", async () => {
    const log: string[] = [];
    const one = noted("a", log);
    const inputs = { one, two: Dep.map(one, (name) => name), three: Dep.join({ one }, ({ one }) => one) };
    await Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, ({ three }) => three)]), "GET", "/x");
    expect(log).toEqual(["acquire a", "release a answered 200 -"]);
  });

  it("is released when another input refuses, and not if it was never acquired", async () => {
    const log: string[] = [];
    const refusing = Dep.join({}, () => refuse(soldOut, "None is left."), { refuses: [soldOut] });
    const inputs = { a: noted("a", log), refusing, never: noted("never", log) };
    await Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, () => "")]), "GET", "/x");
    expect(log).toEqual(["acquire a", "release a refused 409 sold_out"]);
  });

  it("is released when a query is invalid: it was acquired before that was known", async () => {
    const log: string[] = [];
    const inputs = { a: noted("a", log), n: Query.required("n", Codec.int) };
    await Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, () => "")]), "GET", "/x?n=x");
    expect(log).toEqual(["acquire a", "release a refused 400 invalid"]);
  });

  it("is released when the body does not fit", async () => {
    const log: string[] = [];
    const inputs = { a: noted("a", log), order: json(v.object({ n: v.number() })) };
    await Test.call(Test.app([post(Path.of("x"), { inputs, returns: text }, () => "")]), "POST", "/x", { body: {} });
    expect(log).toEqual(["acquire a", "release a refused 400 invalid"]);
  });

  it("is released when it was acquired for a body", async () => {
    const log: string[] = [];
    const order = json(v.object({ n: v.number() }));
    const inputs = { a: noted("a", log, { order }) };
    const app = Test.app([post(Path.of("x"), { inputs, returns: text }, () => "")]);
    await Test.call(app, "POST", "/x", { body: {} });
    expect(log).toEqual([]);
    await Test.call(app, "POST", "/x", { body: { n: 1 } });
    expect(log).toEqual(["acquire a", "release a answered 200 -"]);
  });

  it("is released when `Dep.bind` chose it", async () => {
    const log: string[] = [];
    const inputs = { a: Dep.bind(Dep.return(1), () => noted("a", log)) };
    await Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, ({ a }) => a)]), "GET", "/x");
    expect(log).toEqual(["acquire a", "release a answered 200 -"]);
  });

  it("is released for every use of an uncached one", async () => {
    const log: string[] = [];
    const one = Dep.uncached(noted("a", log));
    const inputs = { one, two: Dep.map(one, (name) => name) };
    await Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, () => "")]), "GET", "/x");
    expect(log).toEqual(["acquire a", "acquire a", "release a answered 200 -", "release a answered 200 -"]);
  });

  it("is released after the answer of middleware", async () => {
    const log: string[] = [];
    const middleware: Middleware = async (_request, next) => {
      await next();
      log.push("middleware");
      return Answer.make("other", { status: 203 });
    };
    const route = get(Path.of("x"), { inputs: { a: noted("a", log) }, returns: text }, () => "");
    await Test.call(Test.app([route], { middleware: [middleware] }), "GET", "/x");
    expect(log).toEqual(["acquire a", "middleware", "release a answered 203 -"]);
  });
});

it("the stream of an answer is cancelled when a commit replaces that answer", async () => {
  let cancelled = 0;
  const kept = Dep.scoped(
    {},
    () => "kept",
    () => {},
    { beforeAnswer: throwing },
  );
  const route = get(Path.of("x"), { inputs: { kept }, returns: Returns.response }, () =>
    Answer.stream(new ReadableStream({ cancel: () => void cancelled++ })),
  );
  expect((await Test.call(Test.app([route]), "GET", "/x")).status).toBe(500);
  expect(cancelled).toBe(1);
});

it("a refusal stays the answer when its rollback throws, which is one error line", async () => {
  const ends = Dep.scoped(
    {},
    () => "ends",
    () => {},
    { beforeAnswer: throwing },
  );
  const route = get(Path.of("x"), { inputs: { ends }, returns: text, refuses: [soldOut] }, () => refuse(soldOut));
  expect((await Test.call(Test.app([route]), "GET", "/x")).status).toBe(409);
  expect(messages("error")).toEqual(["GET /x: an input's beforeAnswer raised"]);
  expect(JSON.stringify(lines())).not.toContain("s3cret");
});

describe("a value for a route with a body", () => {
  it("is not acquired if the head is invalid, or the body is too long", async () => {
    const log: string[] = [];
    const order = json(v.object({ n: v.number() }));
    const inputs = { a: noted("a", log), page: Query.required("page", Codec.int), order };
    const app = Test.app([post(Path.of("x"), { inputs, returns: text }, () => "")], { maxBody: 10 });
    expect((await Test.call(app, "POST", "/x", { body: { n: 1 } })).status).toBe(400);
    expect((await Test.call(app, "POST", "/x?page=1", { body: { n: 1_000_000 } })).status).toBe(413);
    expect(log).toEqual([]);
  });

  it.each([
    ["listed first", (a: Dep<string>) => ({ a, order: json(v.unknown()) })],
    ["used by an input before", (a: Dep<string>) => ({ who: Dep.map(a, (name) => name), a, order: json(v.unknown()) })],
    [
      "with a body that `Dep.bind` chooses",
      (a: Dep<string>) => ({ order: Dep.bind(Dep.return(1), () => json(v.unknown())), a }),
    ],
    ["chosen by `Dep.bind`", (a: Dep<string>) => ({ a: Dep.bind(Dep.return(1), () => a), order: json(v.unknown()) })],
    [
      "chosen by `Dep.bind`, with a body that another one chooses",
      (a: Dep<string>) => ({
        a: Dep.bind(Dep.return(1), () => a),
        order: Dep.bind(Dep.return(1), () => json(v.unknown())),
      }),
    ],
  ])("is not acquired before the body has arrived: %s", async (_how, inputsOf) => {
    const log: string[] = [];
    const inputs = inputsOf(noted("a", log));
    const app = App.make([post(Path.of("x"), { inputs, returns: text }, ({ a }) => a)]);
    const [begun, sent] = [gate(), gate()];
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        begun.open();
        await sent.passed;
        log.push("sent");
        controller.enqueue(new TextEncoder().encode("1"));
        controller.close();
      },
    });
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", body, headers, duplex: "half" } as const;
    const answered = app.fetch(new Request("http://localhost/x", init));
    await begun.passed;
    sent.open();
    expect(await (await answered).text()).toBe("a");
    expect(log.slice(0, 2)).toEqual(["sent", "acquire a"]);
  });

  it("is acquired if `Dep.bind` could have chosen a body, and chose none", async () => {
    const log: string[] = [];
    const inputs = { other: Dep.bind(Dep.return(1), () => Dep.return(2)), a: noted("a", log) };
    const app = Test.app([post(Path.of("x"), { inputs, returns: text }, ({ a, other }) => `${a} ${other}`)]);
    expect((await Test.call(app, "POST", "/x")).body).toBe("a 2");
    expect(log).toEqual(["acquire a", "release a answered 200 -"]);
  });
});

describe("releases of two requests at once", () => {
  // Workers, which serve an app's own `fetch`, allow a request to use only its own connections.
  it("through app.fetch each run in the context of their own request", async () => {
    const caller = new AsyncLocalStorage<string>();
    const released: (string | undefined)[] = [];
    const held = Dep.scoped(
      {},
      () => 1,
      () => void released.push(caller.getStore()),
    );
    const { fetch } = App.make([get(Path.of("x"), { inputs: { held }, returns: text }, () => "")]);
    const names = ["a", "b", "c"];
    await Promise.all(names.map((name) => caller.run(name, () => fetch(new Request("http://h/x")))));
    await expect.poll(() => released).toEqual(names);
  });
});

describe("a release that throws", () => {
  it.each([
    ["at once", throwing],
    ["later", async () => throwing()],
    // oxlint-disable-next-line unicorn/no-thenable
    ["by a thenable", () => ({ then: throwing })],
  ])("%s: is one error line, and the other releases run", async (_how, release) => {
    const log: string[] = [];
    const inputs = { a: noted("a", log), raising: Dep.scoped({}, () => 1, release), b: noted("b", log) };
    const { status } = await Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, () => "")]), "GET", "/x");
    expect([status, ...log.slice(2)]).toEqual([200, "release b answered 200 -", "release a answered 200 -"]);
    expect(messages("error")).toEqual(["GET /x: the release of an input raised"]);
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });

  it("and a release that hangs is a warning after ten seconds, and the other releases run", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const log: string[] = [];
    const inputs = {
      a: noted("a", log),
      hanging: Dep.scoped(
        {},
        () => 1,
        () => new Promise(() => {}),
      ),
    };
    const call = Test.call(Test.app([get(Path.of("x"), { inputs, returns: text }, () => "")]), "GET", "/x");
    let isOver = false;
    void call.then(() => (isOver = true));
    // Another test of the process may have left work that also sets timers.
    while (!isOver) {
      vi.advanceTimersByTime(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    vi.useRealTimers();
    expect(log).toEqual(["acquire a", "release a answered 200 -"]);
    expect(messages("warn")).toEqual(["GET /x: the release of an input has not ended in 10s"]);
  });
});

describe("a value that is not acquired has no release", () => {
  const rows: readonly (readonly [what: string, acquire: () => unknown, status: number])[] = [
    ["a refusal", () => refuse(soldOut, "None is left."), 409],
    ["a refusal, later", async () => refuse(soldOut, "None is left."), 409],
    ["a problem", () => Dep.problem({ at: "query.n", code: "wrong", message: "It is wrong." }), 400],
    ["an exception", throwing, 500],
    ["a rejection", async () => throwing(), 500],
  ];
  it.each(rows)("%s", async (_what, acquire, status) => {
    const log: string[] = [];
    const scoped = Dep.scoped({}, acquire as () => string, () => void log.push("released"), { refuses: [soldOut] });
    const inputs = { first: noted("first", log), scoped };
    const app = Test.app([get(Path.of("x"), { inputs, returns: text }, () => "")]);
    expect((await Test.call(app, "GET", "/x")).status).toBe(status);
    expect(log.filter((line) => line === "released")).toEqual([]);
    expect(log.filter((line) => line.startsWith("release first"))).toHaveLength(1);
  });
});

it("a transaction that begins after its request has timed out is rolled back at once", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const [begun, ended] = [gate(), gate<string>()];
  const bank = {
    async transaction(work: (db: string) => Promise<unknown>) {
      await begun.passed;
      await work("db").then(
        () => ended.open("committed"),
        (thrown: unknown) => {
          ended.open("rolled back");
          throw thrown;
        },
      );
    },
  };
  const tx = Dep.transaction(Dep.ofRequest(() => bank));
  const route = post(Path.of("x"), { inputs: { tx }, returns: text }, () => "x");
  const answer = App.make([route], { deadline: Deadline.make(50) }).fetch(
    new Request("http://h/x", { method: "POST" }),
  );
  await new Promise(setImmediate);
  vi.advanceTimersByTime(70);
  expect((await answer).status).toBe(503);
  begun.open();
  expect(await ended.passed).toBe("rolled back");
});
