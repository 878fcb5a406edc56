/** Middleware that answers while its route still runs: the route's acquired values are released, and its tasks run. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, App, Dep, Idempotency, Path, Refusal, Returns, after, get, json, post, refuse } from "usher-http";
import type { Middleware, Route } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

const teapot = Refusal.code("teapot", { status: 418, doc: "It is a teapot." });

/** Answers without the route, whose answer is `late`. */
function early(answer: () => Answer = () => Answer.make("early", { status: 202 })) {
  const told: { late: Promise<unknown> | undefined } = { late: undefined };
  const middleware: Middleware = (_request, next) => {
    told.late = next();
    return answer();
  };
  return { told, middleware };
}

async function ask(routes: readonly Route[], middleware: Middleware): Promise<Response> {
  return App.make(routes, { middleware: [middleware] }).fetch(new Request("http://h/x"));
}

/** A scoped input that records its events. Its value is available when `acquires` resolves. */
function noted(log: string[], acquires: Promise<void> | undefined, commits: Promise<void> = Promise.resolve()) {
  return Dep.scoped(
    {},
    () => {
      log.push("acquire");
      return acquires?.then(() => "value") ?? "value";
    },
    (_value, end) => void log.push(`release ${end.how} ${end.status} ${end.code ?? "-"}`),
    {
      beforeAnswer: async (_value, refused, hasFailed) => {
        log.push(refused === undefined && !hasFailed ? "commit" : "roll back");
        await commits;
        log.push("kept");
      },
    },
  );
}

describe("a value that a route acquired, when its middleware has already answered", () => {
  const open = gate();
  open.open();
  it.each<[what: string, answer: () => string | Refusal<"teapot">, kept: string, end: string]>([
    ["answers", () => "late", "commit", "answered 202 -"],
    ["refuses", () => refuse(teapot, "No."), "roll back", "answered 202 -"],
    [
      "throws",
      () => {
        throw new Error("s3cret");
      },
      "roll back",
      "failed 202 -",
    ],
  ])("is released once its handler %s", async (_what, answer, kept, end) => {
    for (const acquires of [undefined, open.passed]) {
      const log: string[] = [];
      const held = gate();
      const inputs = { value: noted(log, acquires) };
      const route = get(Path.of("x"), { inputs, returns: Returns.text, refuses: [teapot] }, async () => {
        log.push("handle");
        await held.passed;
        return answer();
      });
      const { told, middleware } = early();
      expect((await ask([route], middleware)).status).toBe(202);
      await eventually(() => expect(log).toEqual(["acquire", "handle"]));
      held.open();
      await told.late;
      await eventually(() => expect(log).toEqual(["acquire", "handle", kept, "kept", `release ${end}`]));
    }
  });

  it("is released after its commit, if the answer is earlier", async () => {
    const log: string[] = [];
    const [commits, impatience] = [gate(), gate()];
    const inputs = { value: noted(log, undefined, commits.passed) };
    const route = get(Path.of("x"), { inputs, returns: Returns.text }, () => "late");
    const racing: Middleware = (_request, next) =>
      Promise.race([next(), impatience.passed.then(() => Answer.make("early", { status: 202 }))]);
    const answered = ask([route], racing);
    await eventually(() => expect(log).toEqual(["acquire", "commit"]));
    impatience.open();
    expect((await answered).status).toBe(202);
    await new Promise(setImmediate);
    expect(log).toEqual(["acquire", "commit"]);
    commits.open();
    await eventually(() => expect(log).toEqual(["acquire", "commit", "kept", "release answered 202 -"]));
  });

  it("is released when the sent stream and the handler have both ended", async () => {
    const log: string[] = [];
    const route = get(
      Path.of("x"),
      { inputs: { value: noted(log, open.passed) }, returns: Returns.text },
      () => "late",
    );
    const { told, middleware } = early(() => Answer.stream(new Blob(["streamed"]).stream()));
    const response = await ask([route], middleware);
    await told.late;
    await eventually(() => expect(log).toEqual(["acquire", "commit", "kept"]));
    expect(await response.text()).toBe("streamed");
    await eventually(() => expect(log.at(-1)).toBe("release answered 200 -"));
  });
});

describe("a route that runs on, when its middleware has thrown", () => {
  /** Throws once it has waited long enough, as middleware with a time limit of its own. */
  const impatient =
    (impatience: Promise<void>): Middleware =>
    (_request, next) =>
      Promise.race([
        next(),
        impatience.then(() => {
          throw new Error("s3cret");
        }),
      ]);

  it.each(["before", "after"])("commits what it did, and ends as failed: thrown %s it has acquired", async (when) => {
    const log: string[] = [];
    const [acquires, held, impatience] = [gate(), gate(), gate()];
    const inputs = { value: noted(log, when === "before" ? acquires.passed : undefined) };
    const route = get(Path.of("x"), { inputs, returns: Returns.text }, async () => {
      await held.passed;
      return "late";
    });
    const answer = ask([route], impatient(impatience.passed));
    await eventually(() => expect(log).toEqual(["acquire"]));
    impatience.open();
    expect((await answer).status).toBe(500);
    acquires.open();
    held.open();
    await eventually(() => expect(log).toEqual(["acquire", "commit", "kept", "release failed 500 internal"]));
  });

  it("keeps the answer of its idempotency key", async () => {
    const [held, impatience] = [gate(), gate()];
    let runs = 0;
    const once = Idempotency.by(Idempotency.memory(), { caller: Dep.return("everybody") });
    const pay = post(Path.of("x"), { inputs: { once }, returns: Returns.text }, async () => {
      runs++;
      await held.passed;
      return "paid";
    });
    const request = () => new Request("http://h/x", { method: "POST", headers: { "idempotency-key": '"k"' } });
    const answer = App.make([pay], { middleware: [impatient(impatience.passed)] }).fetch(request());
    await eventually(() => expect(runs).toBe(1));
    impatience.open();
    expect((await answer).status).toBe(500);
    held.open();
    await eventually(async () => expect(await (await App.make([pay]).fetch(request())).text()).toBe("paid"));
    expect(runs).toBe(1);
  });
});

it("a body that still arrives when middleware has answered finds no full budget", async () => {
  let sending: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (sending = controller) });
  const route = post(Path.of("x"), { inputs: { sent: json(v.string()) }, returns: Returns.text }, () => "late");
  const { told, middleware } = early();
  const headers = { "content-type": "application/json" };
  const request = new Request("http://h/x", { method: "POST", body, headers, duplex: "half" });
  expect((await App.make([route], { middleware: [middleware] }).fetch(request)).status).toBe(202);
  sending?.enqueue(new TextEncoder().encode('"a"'));
  sending?.close();
  await told.late;
  expect(messages("warn")).toEqual(["POST /x: unreadable: the request was answered before its body was read"]);
});

it("a task that a route adds after its middleware has answered runs, and frees its place", async () => {
  const ran: string[] = [];
  const held = gate();
  const late = Dep.bind(
    Dep.join({}, () => held.passed.then(() => "waited")),
    () => after,
  );
  const route = get(Path.of("x"), { inputs: { late }, returns: Returns.text }, ({ late }) => {
    late((end) => void ran.push(`${end.how} ${end.status}`));
    return "late";
  });
  const { told, middleware } = early();
  const app = App.make([route], { middleware: [middleware], maxAfter: 1 });
  for (const times of [1, 2]) {
    expect((await app.fetch(new Request("http://h/x"))).status).toBe(202);
    held.open();
    await told.late;
    await eventually(() => expect(ran).toEqual(Array.from({ length: times }, () => "answered 202")));
  }
  expect(messages("error")).toEqual([]);
});
