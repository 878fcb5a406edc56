import { vi } from "vitest";
import type { App } from "usher-http";
import type { Fate, Features, Step } from "./ends.ts";

/** The client of one request, and what else happens to it. */
export class Played {
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
    const sent = { method: one.method, headers, signal: this.#leaving.signal };
    const isWith = one.method === "POST" && one.readsBody;
    const request = new Request("http://h/x", isWith ? { ...sent, body, duplex: "half" } : sent);
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
