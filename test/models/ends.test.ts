/** Whatever ends a request first, nothing of it is left: values, streams, places, bytes, tasks; and it has one access line. */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { App } from "usher-http";
import { figures } from "../../src/telemetry/measure.ts";
import { holdClock, settle } from "../support/clock.ts";
import { eventually, held } from "../support/eventually.ts";
import { forgetLines, lines } from "../support/logs.ts";
import { Fate, appOf, commits, features } from "./ends.ts";
import type { Features, Step } from "./ends.ts";
import { played } from "./seeds.ts";

holdClock();

/** The client of one request, and what else happens to it. */
class Played {
  readonly #fate: Fate;
  readonly #answer: Promise<Response>;
  readonly #leaving = new AbortController();
  #sending: ReadableStreamDefaultController<Uint8Array> | undefined = undefined;
  #response: Response | undefined = undefined;
  #isRead = false;
  #isSent = false;

  constructor(one: Features, app: App, fate: Fate) {
    this.#fate = fate;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#sending = controller) });
    const headers = { "content-type": "application/json", ...(one.hasKey ? { "idempotency-key": '"k"' } : {}) };
    const sent = { method: "POST", headers, signal: this.#leaving.signal };
    const request = new Request("http://h/x", one.readsBody ? { ...sent, body, duplex: "half" } : sent);
    this.#answer = app.fetch(request).then((response) => (this.#response = response));
  }

  async does(step: Step): Promise<void> {
    if (step === "deadline") vi.advanceTimersByTime(70);
    else if (step === "middleware's second") vi.advanceTimersByTime(1100);
    else if (step === "body") this.#send();
    else if (step === "read") this.#read();
    else if (step === "leave") this.#leave();
    else this.#fate.gates.get(step)?.open();
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
  }

  /** Resolves with the response, which is read to its end. */
  async ended(): Promise<Response> {
    const response = await this.#answer;
    this.#read();
    return response;
  }

  #send(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#sending?.enqueue(new TextEncoder().encode('"sent"'));
    this.#sending?.close();
  }

  #read(): void {
    if (this.#isRead || this.#response === undefined) return;
    this.#isRead = true;
    this.#response.text().catch(() => {});
  }

  #leave(): void {
    this.#leaving.abort();
    if (this.#isRead || this.#response === undefined) return;
    this.#isRead = true;
    this.#response.body?.cancel().catch(() => {});
  }
}

async function play(one: Features): Promise<void> {
  forgetLines();
  const fate = new Fate();
  const app = appOf(one, fate);
  const request = new Played(one, app, fate);
  for (const step of one.order) await request.does(step);
  for (const step of ["body", ...fate.gates.keys()] as Step[]) await request.does(step);
  await settle();
  await request.does("middleware's second");
  const { status, headers } = await request.ended();
  const none = { requests: 0, bodyBytes: 0, tasks: 0, works: 0 };
  await eventually(() => {
    expect({ ...figures, open: fate.open }).toEqual({ ...none, open: 0 });
    expect([fate.released, fate.tasks]).toEqual([fate.acquired, fate.handled]);
  });
  if (!one.hasDeadline)
    expect(fate.kept).toEqual(fate.acquired === 0 ? [] : [commits(one, fate) ? "commit" : "roll back"]);
  expect(headers.get("content-type")).not.toBe("application/json");
  expect(lines().filter(({ message }) => /^POST \/x \d+$/.test(String(message)))).toEqual([
    expect.objectContaining({ "http.response.status_code": status }),
  ]);
  // Its place is free.
  expect((await app.fetch(new Request("http://h/none"))).status).not.toBe(503);
}

it("nothing is left of a request, whatever ends it first", async () => {
  await held(fc.assert(fc.asyncProperty(features, play), played(300)));
});
