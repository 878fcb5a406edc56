/** What still runs of a request when it is answered: the runtime would drop it with everything that it holds. */
import { beforeAll, expect, it, vi } from "vitest";
import { Deadline, Meta, Path, Returns, body, get, post } from "usher-http";
import type { Middleware } from "usher-http";
import { worker as workerOf } from "../../../adapters/workers/index.ts";
import { eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";
import { bundle, start } from "./running.ts";
import type { Running } from "./running.ts";

let worker: Running;
beforeAll(async () => {
  worker = await start(await bundle({ file: "left-work.ts" }));
});

it.each([
  [
    "middleware that answers before its route has",
    "GET /works",
    ["x-hasty: yes"],
    202,
    ["acquired", "task ended", "released: answered 202"],
  ],
  [
    "middleware that answers before another",
    "GET /works",
    ["x-hasty: yes", "x-thorough: yes"],
    202,
    ["acquired", "middleware ended", "task ended", "released: answered 202"],
  ],
  [
    "a deadline that passes while an input is acquired",
    "GET /acquires",
    [],
    503,
    ["acquired", "released: timed out 503"],
  ],
  ["a deadline that passes while the handler runs", "GET /finishes", [], 503, ["handled"]],
  ["a deadline, for the answer to an idempotency key,", "POST /pays", ['idempotency-key: "a"'], 503, ["kept"]],
  ["the claim of an idempotency key is lost", "POST /loses", ['idempotency-key: "c"'], 500, ["freed"]],
  ["a deadline, for the failure of an idempotency key,", "POST /fails", ['idempotency-key: "b"'], 503, ["freed"]],
])("after %s the work continues", async (_what, line, headers, status, expected) => {
  const client = await worker.client();
  expect((await client.ask(line, headers).answer()).status).toBe(status);
  const seen: string[] = [];
  await eventually(async () => {
    seen.push(...(JSON.parse((await client.ask("GET /seen").answer()).body) as string[]));
    expect(seen.toSorted()).toEqual(expected.toSorted());
  });
});

it("a handler that never ends is awaited for half a minute after its deadline", async () => {
  vi.useFakeTimers();
  try {
    const declared = { returns: Returns.text, meta: Meta.empty.add(Meta.deadline, Deadline.make(50)) };
    const { fetch } = workerOf([get(Path.of("x"), declared, () => new Promise(() => {}))]);
    let running = 0;
    const waitUntil = (work: Promise<unknown>): void => {
      running++;
      void work.then(() => running--);
    };
    const answered = fetch(new Request("http://h/x"), {}, { waitUntil });
    await vi.advanceTimersByTimeAsync(1000);
    expect([(await answered).status, running]).toEqual([503, 1]);
    await vi.advanceTimersByTimeAsync(28_000);
    expect(running).toBe(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect([running, vi.getTimerCount()]).toEqual([0, 0]);
  } finally {
    vi.useRealTimers();
  }
});

it("a handler that has read a body is awaited after its deadline until it ends", async () => {
  const [ended, kept] = [gate(), new Set<Promise<unknown>>()];
  const declared = { inputs: { body }, returns: Returns.text, meta: Meta.empty.add(Meta.deadline, Deadline.make(20)) };
  const { fetch } = workerOf([post(Path.of("x"), declared, () => ended.passed.then(() => "late"))]);
  const waitUntil = (work: Promise<unknown>): void => {
    kept.add(work);
    void work.then(() => kept.delete(work));
  };
  const asked = new Request("http://h/x", { method: "POST", body: "text" });
  expect((await fetch(asked, {}, { waitUntil })).status).toBe(503);
  await eventually(() => expect(kept.size).toBe(1));
  ended.open();
  await eventually(() => expect(kept.size).toBe(0));
});

it("middleware that waits for its route keeps no work running after the answer", async () => {
  const waiting: Middleware = async (_request, next) => next();
  const { fetch } = workerOf([get(Path.of("x"), { returns: Returns.text }, async () => "x")], {
    middleware: [waiting, waiting],
  });
  const waitUntil = vi.fn();
  expect(await (await fetch(new Request("http://h/x"), {}, { waitUntil })).text()).toBe("x");
  // The answer itself.
  expect(waitUntil).toHaveBeenCalledOnce();
});
