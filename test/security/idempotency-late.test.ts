/** A slow request with an idempotency key: the state of its key when its handler, commit or middleware is late. */
import { describe, expect, it, vi } from "vitest";
import { App, Dep, Idempotency, Path, Returns, post } from "usher-http";
import type { AppOptions, IdempotencyOptions, IdempotencyStore, Middleware } from "usher-http";
import { DatabaseError } from "usher-http/postgres";
import { holdClock, own, settle } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

holdClock();

interface Shop {
  readonly store?: IdempotencyStore;
  readonly options?: Partial<IdempotencyOptions>;
  readonly app?: AppOptions;
  readonly deadlineMs?: number | "none";
  /** The end of an input, such as a transaction. */
  readonly beforeAnswer?: (hasFailed: boolean) => Promise<void> | void;
}

/** A route that creates orders. The first request waits in its handler. */
function shop({ store = Idempotency.memory(), options, app, deadlineMs = 50, beforeAnswer }: Shop) {
  const [begun, freed] = [gate(), gate()];
  let placed = 0;
  const told = (_value: number, _refused: unknown, hasFailed: boolean) => beforeAnswer?.(hasFailed);
  const held = Dep.scoped(
    {},
    () => 1,
    () => {},
    beforeAnswer === undefined ? {} : { beforeAnswer: told },
  );
  const once = Idempotency.by(store, { caller: Dep.return("everybody"), ...options });
  const route = post(Path.root, { inputs: { held, once }, returns: Returns.text, meta: own(deadlineMs) }, async () => {
    placed++;
    begun.open();
    if (placed === 1) await freed.passed;
    return `order ${placed}`;
  });
  const { fetch } = App.make([route], app);
  const ask = async (): Promise<readonly [status: number, body: string]> => {
    const asked = new Request("http://h/", { method: "POST", headers: { "idempotency-key": '"key"' } });
    const answer = await fetch(asked);
    const body = await answer.text();
    return [answer.status, body.startsWith("{") ? (JSON.parse(body) as { error: string }).error : body];
  };
  return { ask, begun, freed, placed: () => placed };
}

const timedOut = [503, "timed_out"];
const inUse = [409, "idempotency_key_in_use"];
const lost = [409, "idempotency_answer_lost"];

/** A shop whose first request is answered during its commit, which ends later. */
async function lateCommit(end: () => void) {
  const [committing, committed] = [gate(), gate()];
  const beforeAnswer = async (): Promise<void> => {
    committing.open();
    await committed.passed;
    end();
  };
  const made = shop({ beforeAnswer });
  const first = made.ask();
  await made.begun.passed;
  made.freed.open();
  await committing.passed;
  vi.advanceTimersByTime(100);
  expect(await first).toEqual([503, "outcome_unknown"]);
  committed.open();
  await settle();
  return made;
}

describe("an idempotency key whose request is answered at its deadline", () => {
  it("has no late answer when a transaction of the request was rolled back, and is not free", async () => {
    const told: boolean[] = [];
    const { ask, begun, freed, placed } = shop({ beforeAnswer: (hasFailed) => void told.push(hasFailed) });
    const first = ask();
    await begun.passed;
    vi.advanceTimersByTime(100);
    expect([await first, told]).toEqual([timedOut, [true]]);
    freed.open();
    await settle();
    expect(await ask()).toEqual(inUse);
    vi.advanceTimersByTime(30_000);
    expect([await ask(), placed()]).toEqual([lost, 1]);
  });

  it("has the answer of work that is committed later, kept once", async () => {
    const { ask, placed } = await lateCommit(() => {});
    expect([await ask(), placed(), messages("error")]).toEqual([[200, "order 1"], 1, []]);
  });

  it("is not free when it is unknown whether the work is committed", async () => {
    const { ask, placed } = await lateCommit(() => {
      throw new DatabaseError({ kind: "lost", detail: "the connection closed" });
    });
    expect([await ask(), placed()]).toEqual([inUse, 1]);
  });

  it("is in use while the handler runs, although middleware answers even later", async () => {
    const slow = gate();
    const middleware: Middleware = async (_request, next) => {
      const answer = await next();
      await slow.passed;
      return answer;
    };
    const { ask, begun, freed, placed } = shop({ app: { middleware: [middleware] } });
    const first = ask();
    await begun.passed;
    vi.advanceTimersByTime(100);
    await settle();
    vi.advanceTimersByTime(1100);
    expect(await first).toEqual(timedOut);
    slow.open();
    await settle();
    expect([await ask(), placed()]).toEqual([inUse, 1]);
    freed.open();
    await settle();
    expect(await ask()).toEqual([200, "order 1"]);
  });
});

describe("an idempotency key whose request still runs", () => {
  it("is in use, however short its answer will be kept", async () => {
    const { ask, begun, freed, placed } = shop({ deadlineMs: "none", options: { keepMs: 100, leaseMs: 300 } });
    const first = ask();
    await begun.passed;
    for (let passed = 0; passed < 1000; passed += 200) {
      vi.advanceTimersByTime(200);
      expect([await ask(), placed()]).toEqual([inUse, 1]);
    }
    freed.open();
    expect(await first).toEqual([200, "order 1"]);
    vi.advanceTimersByTime(200);
    expect([await ask(), placed()]).toEqual([[200, "order 2"], 2]);
  });

  it("may have a store that throws synchronously", async () => {
    const memory = Idempotency.memory();
    const away = (): never => {
      throw new Error("away");
    };
    const store: IdempotencyStore = {
      claim: (...given) => memory.claim(...given),
      keep: (...given) => memory.keep(...given),
      extend: away,
      free: away,
    };
    const { ask, begun, freed } = shop({ store, deadlineMs: "none", options: { leaseMs: 300 } });
    const first = ask();
    await begun.passed;
    vi.advanceTimersByTime(100);
    freed.open();
    expect(await first).toEqual([200, "order 1"]);
    await settle();
    expect(messages("error")).toEqual(["work in the background raised"]);
  });
});
