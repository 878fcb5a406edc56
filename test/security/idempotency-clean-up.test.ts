/** What a store of idempotency keys and its requests leave behind: free space for others, and no timer. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Answer, App, Deadline, Dep, Idempotency, Meta, Path, Returns, Test, post } from "usher-http";
import type { AppOptions, IdempotencyStore, Middleware, Route } from "usher-http";
import { RefusingError, busy, refuse } from "../../src/refusals.ts";
import { settle } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import type { Gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => {
  vi.advanceTimersByTime(70_000);
  vi.useRealTimers();
});

const now = new Date();
/** The store removes expired entries once in this number of claims. */
const sweepEvery = 1000;

function claim(store: IdempotencyStore, key: string, keepMs: number, token = key) {
  return store.claim(key, { fingerprint: "f", token, leaseMs: 1000, keepMs, takesOver: false }, now);
}

async function keep(store: IdempotencyStore, key: string, keepMs: number): Promise<void> {
  await claim(store, key, keepMs);
  await store.keep(key, { fingerprint: "f", token: key, answer: "12345", keepMs, refused: undefined }, now);
}

describe("the memory store, after its entries have expired", () => {
  it("has space for as many claims again, and keeps the claims that are still valid", async () => {
    const store = Idempotency.memory({ most: sweepEvery });
    await claim(store, "held", 60_000);
    for (let i = 2; i < sweepEvery; i++) await claim(store, `${i}`, 1);
    vi.advanceTimersByTime(2);
    for (let i = 0; i < sweepEvery - 1; i++) expect(await claim(store, `next ${i}`, 60_000)).toBeUndefined();
    expect(await claim(store, "held", 60_000, "another")).toMatchObject({ fingerprint: "f" });
    await expect(claim(store, "one more", 1)).rejects.toThrow("every key is claimed");
  });

  it.each<[string, (store: IdempotencyStore) => Promise<void>]>([
    [
      "is swept",
      async (store) => {
        for (let i = 0; i < sweepEvery; i++) {
          await claim(store, "passing", 60_000);
          await store.free("passing", "passing");
        }
      },
    ],
    [
      "is claimed again",
      async (store) => {
        expect(await claim(store, "short", 60_000, "another")).toBeUndefined();
        await store.free("short", "another");
      },
    ],
  ])("drops no older answer for a text that %s", async (_how, forget) => {
    const store = Idempotency.memory({ maxText: 10 });
    await keep(store, "older", 60_000);
    await keep(store, "short", 1);
    vi.advanceTimersByTime(2);
    await forget(store);
    await keep(store, "newer", 60_000);
    const known = [];
    for (const key of ["older", "short", "newer"]) known.push((await claim(store, key, 1, "another"))?.answer);
    expect(known).toEqual(["12345", undefined, "12345"]);
  });
});

describe("a memory store for few keys", () => {
  it.each([1, 2])("has space again, and for one request, after its claim or answer has expired: %d", async (most) => {
    const store = Idempotency.memory({ most, maxText: 5 });
    for (const end of ["claim", "answer", "claim", "answer", "answer"]) {
      if (end === "claim") expect(await claim(store, "key", 1000)).toBeUndefined();
      else await keep(store, "key", 1000);
      const known = {
        leaseMs: end === "claim" ? 1000 : expect.any(Number),
        answer: end === "claim" ? undefined : "12345",
      };
      expect([end, await claim(store, "key", 1000, "another")]).toEqual([end, { fingerprint: "f", ...known }]);
      vi.advanceTimersByTime(1000);
    }
  });

  it("drops expired claims, the oldest first, and no valid one", async () => {
    const store = Idempotency.memory({ most: 2 });
    await claim(store, "a", 60_000);
    await claim(store, "b", 60_000);
    await expect(claim(store, "c", 60_000)).rejects.toThrow("every key is claimed");
    vi.advanceTimersByTime(1000);
    expect(await claim(store, "c", 60_000)).toBeUndefined();
    expect(await claim(store, "b", 60_000, "another")).toMatchObject({ answer: undefined });
    expect(await claim(store, "a", 60_000, "another")).toBeUndefined();
    await expect(claim(store, "b", 60_000, "another")).rejects.toThrow("every key is claimed");
  });

  it("needs no more space for a claim that is renewed or taken over", async () => {
    const store = Idempotency.memory({ most: 1 });
    expect(await claim(store, "key", 60_000)).toBeUndefined();
    expect(await claim(store, "key", 60_000)).toBeUndefined();
    vi.advanceTimersByTime(1000);
    const another = { fingerprint: "f", token: "another", leaseMs: 1000, keepMs: 60_000, takesOver: true };
    expect(await store.claim("key", another, now)).toBeUndefined();
    expect(await claim(store, "key", 60_000)).toMatchObject({ leaseMs: 1000 });
    await expect(claim(store, "other", 60_000)).rejects.toThrow("every key is claimed");
  });
});

/** It is unknown whether the work is done. */
class Lost extends RefusingError {
  readonly refusal = refuse(busy);

  override get isOutcomeUnknown(): boolean {
    return true;
  }
}

/** A store that records its calls. */
function noting(faults: Partial<IdempotencyStore> = {}) {
  const memory = Idempotency.memory();
  const calls: string[] = [];
  const noted = <A extends readonly unknown[], R>(name: string, call: (...given: A) => R) => {
    return (...given: A): R => {
      calls.push(name);
      return call(...given);
    };
  };
  const store: IdempotencyStore = {
    ...faults,
    claim: noted("claim", faults.claim ?? ((...given) => memory.claim(...given))),
    keep: noted("keep", faults.keep ?? ((...given) => memory.keep(...given))),
    extend: noted("extend", (...given) => memory.extend(...given)),
    free: noted("free", (...given) => memory.free(...given)),
  };
  return { store, calls };
}

async function asked(store: IdempotencyStore, handler: () => string | Promise<string>, passes = 0): Promise<number> {
  const once = Idempotency.by(store, { caller: Dep.return("everybody"), leaseMs: 300 });
  const meta = Meta.empty.add(Meta.deadline, Deadline.make(1000));
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const route = post(Path.root, { inputs: { once }, returns: Returns.text, meta }, () => {
    begin();
    return handler();
  });
  const answer = Test.call(Test.app([route]), "POST", "/", { headers: { "idempotency-key": '"key"' } });
  // Its claim is extended from the start of its handler: a few turns of the event loop may be too few for that.
  if (passes > 0) await begun;
  vi.advanceTimersByTime(passes);
  return (await answer).status;
}

describe("a request with an idempotency key", () => {
  it("extends its claim while it runs, and not afterwards", async () => {
    const { store, calls } = noting();
    let finish = (_text: string): void => {};
    const work = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const answer = asked(store, () => work, 250);
    while (!calls.includes("extend")) await settle();
    finish("done");
    expect(await answer).toBe(200);
    vi.advanceTimersByTime(60_000);
    expect(calls).toEqual(["claim", "extend", "extend", "keep"]);
  });

  it("does not extend it after its handler has ended past the deadline", async () => {
    const { store, calls } = noting();
    let finish = (_text: string): void => {};
    const work = new Promise<string>((resolve) => {
      finish = resolve;
    });
    expect(await asked(store, () => work, 1500)).toBe(503);
    finish("late");
    await settle();
    const before = calls.length;
    vi.advanceTimersByTime(60_000);
    await settle();
    expect([calls.length, calls.at(-1)]).toEqual([before, "keep"]);
  });

  it("is answered although the store cannot keep its answer, which is one error line", async () => {
    const { store, calls } = noting({ keep: () => Promise.reject(new Error("s3cret")) });
    expect(await asked(store, () => "done")).toBe(200);
    expect(calls).toEqual(["claim", "keep"]);
    expect(messages("error")).toEqual(["POST /: the store of an idempotency key raised"]);
  });

  it.each([
    ["frees the key whose claim may have arrived", false, ["claim", "free"]],
    ["leaves it to the transaction", true, ["claim"]],
  ])("%s, when the store rejects", async (_what, isTransaction, expected) => {
    const { store, calls } = noting({ isTransaction, claim: () => Promise.reject(new Error("away")) });
    expect(await asked(store, () => "done")).toBe(500);
    expect(calls).toEqual(expected);
  });
});

it("a request whose key a full store cannot claim does not free another claim", async () => {
  const full = Idempotency.memory({ most: 1 });
  const other = { fingerprint: "", token: "other", leaseMs: 60_000, keepMs: 60_000, takesOver: false };
  await full.claim("other", other, new Date());
  const { store, calls } = noting({ claim: (...given) => full.claim(...given) });
  expect([await asked(store, () => "done"), calls]).toEqual([503, ["claim"]]);
});

describe("a request with an idempotency key whose inputs end their work before the answer", () => {
  const fails = (): never => {
    throw new Error("it does not commit");
  };
  it.each([
    ["is not run again where one input had kept it", fails, () => {}, ["claim"]],
    ["is run again where the first one fails", () => {}, fails, ["claim", "free"]],
  ])("%s", async (_what, outer, inner, expected) => {
    const { store, calls } = noting();
    const ends = (beforeAnswer: () => void) =>
      Dep.scoped(
        {},
        () => 1,
        () => {},
        { beforeAnswer },
      );
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    const inputs = { outer: ends(outer), inner: ends(inner), once };
    const route = post(Path.root, { inputs, returns: Returns.text }, () => "done");
    const headers = { "idempotency-key": '"key"' };
    expect((await Test.call(Test.app([route]), "POST", "/", { headers })).status).toBe(500);
    expect(calls).toEqual(expected);
  });
});

const withKey = { method: "POST", headers: { "idempotency-key": '"key"' } };
const inASecond = Meta.empty.add(Meta.deadline, Deadline.make(1000));
const ending = (beforeAnswer: (value: number, refused: unknown, hasFailed: boolean) => unknown) =>
  Dep.scoped(
    {},
    () => 1,
    () => {},
    { beforeAnswer },
  );
/** Lets the deadline pass after `begun`, and then releases what is held. */
async function afterDeadline(route: Route, begun: Promise<void>, held: Gate, options: AppOptions = {}) {
  const answer = App.make([route], options).fetch(new Request("http://h/", withKey));
  await begun;
  vi.advanceTimersByTime(1500);
  expect((await answer).status).toBe(503);
  held.open();
  await settle();
}

describe("a request with an idempotency key whose deadline passes", () => {
  it("is kept once when middleware is late with its answer", async () => {
    const { store, calls } = noting();
    const [begun, held] = [gate(), gate()];
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    const slow: Middleware = async (_request, next) => {
      const answer = await next();
      begun.open();
      await held.passed;
      return answer;
    };
    const route = post(Path.root, { inputs: { once }, returns: Returns.text, meta: inASecond }, () => "done");
    await afterDeadline(route, begun.passed, held, { middleware: [slow] });
    expect(calls).toEqual(["claim", "keep"]);
    expect(messages("error")).toEqual([]);
  });

  it("does not free its key when the result of its commit is unknown", async () => {
    const { store, calls } = noting();
    const [begun, held] = [gate(), gate()];
    const commit = ending(async () => {
      begun.open();
      await held.passed;
      throw new Lost("the connection was lost in a commit");
    });
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    await afterDeadline(
      post(Path.root, { inputs: { commit, once }, returns: Returns.text, meta: inASecond }, () => "done"),
      begun.passed,
      held,
    );
    expect(calls).toEqual(["claim"]);
  });

  it("keeps no answer when its work was rolled back at the deadline", async () => {
    const { store, calls } = noting();
    const [begun, held] = [gate(), gate()];
    const ends: boolean[] = [];
    const commit = ending((_value, _refused, hasFailed) => ends.push(hasFailed));
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    const route = post(Path.root, { inputs: { commit, once }, returns: Returns.text, meta: inASecond }, async () => {
      begun.open();
      await held.passed;
      return "done";
    });
    await afterDeadline(route, begun.passed, held);
    expect([ends, calls]).toEqual([[true], ["claim"]]);
  });

  it("keeps no answer when the deadline passes between two commits", async () => {
    const { store, calls } = noting();
    const [begun, held] = [gate(), gate()];
    const ends: boolean[] = [];
    const outer = ending((_value, _refused, hasFailed) => ends.push(hasFailed));
    const inner = ending(async () => {
      begun.open();
      await held.passed;
    });
    const once = Idempotency.by(store, { caller: Dep.return("everybody") });
    await afterDeadline(
      post(Path.root, { inputs: { outer, inner, once }, returns: Returns.text, meta: inASecond }, () => "done"),
      begun.passed,
      held,
    );
    expect([ends, calls]).toEqual([[true], ["claim"]]);
  });
});

it("cancels the rest of an answer above the size limit when its client disconnects", async () => {
  const cancelled = vi.fn();
  const once = Idempotency.by(Idempotency.memory(), { caller: Dep.return("everybody"), maxAnswer: 4 });
  const route = post(Path.root, { inputs: { once }, returns: Returns.response }, () =>
    Answer.stream(
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new TextEncoder().encode("three")),
        cancel: cancelled,
      }),
    ),
  );
  const asked = new Request("http://h/", { method: "POST", headers: { "idempotency-key": '"key"' } });
  const { body } = await App.make([route]).fetch(asked);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("three");
  expect(cancelled).not.toHaveBeenCalled();
  await reader.cancel();
  await settle();
  expect(cancelled).toHaveBeenCalledOnce();
});

it("cancels the rest of a late answer above the size limit", async () => {
  const cancelled = vi.fn();
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let finish = (_late: Answer): void => {};
  const late = new Promise<Answer>((resolve) => (finish = resolve));
  const { store, calls } = noting();
  const once = Idempotency.by(store, { caller: Dep.return("everybody"), maxAnswer: 4 });
  const meta = Meta.empty.add(Meta.deadline, Deadline.make(1000));
  const route = post(Path.root, { inputs: { once }, returns: Returns.response, meta }, () => {
    begin();
    return late;
  });
  const answer = Test.call(Test.app([route]), "POST", "/", { headers: { "idempotency-key": '"key"' } });
  await begun;
  vi.advanceTimersByTime(1500);
  expect((await answer).status).toBe(503);
  const pull = (controller: ReadableStreamDefaultController): void =>
    controller.enqueue(new TextEncoder().encode("three"));
  finish(Answer.stream(new ReadableStream<Uint8Array>({ pull, cancel: cancelled })));
  await vi.waitFor(() => expect(cancelled).toHaveBeenCalledOnce());
  expect(calls.at(-1)).toBe("keep");
});
