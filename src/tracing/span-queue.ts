import { log } from "../logging/writer.ts";
import type { RecordedSpan } from "./recorded-span.ts";

// The contract's (section 8).
const everyMs = 5000;
const atOnce = 512;
const mostWaiting = 2048;

/** Sends spans somewhere; answers that they did not arrive and why, where they did not. Never rejects. */
export type SendSpans = (spans: RecordedSpan[]) => Promise<string | undefined>;

/**
 * Spans on their way to a collector: every 5 s, or as soon as 512 wait, one post at a time, oldest first. At most 2048
 * wait; what ends beyond that, and what a collector did not take, is dropped and counted in a warn line.
 */
export class SpanQueue {
  readonly #send: SendSpans;
  readonly #waiting: RecordedSpan[] = [];
  #dropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #sending: Promise<void> | undefined = undefined;

  constructor(send: SendSpans) {
    this.#send = send;
  }

  add(span: RecordedSpan): void {
    if (this.#waiting.length >= mostWaiting) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(span);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= atOnce) void this.#start();
    else this.#timer ??= later(() => void this.#start(), everyMs);
  }

  /** Sends what waits now, and resolves once that has arrived or is dropped. */
  async flush(): Promise<void> {
    // The post that is under way, and then as many as it takes; what ends meanwhile is not waited for.
    for (let left = this.#waiting.length + atOnce; left > 0 && this.#hasAny(); left -= atOnce) await this.#start();
  }

  #hasAny(): boolean {
    return this.#sending !== undefined || this.#waiting.length > 0;
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#sending ??= this.#sendFirst());
  }

  async #sendFirst(): Promise<void> {
    const spans = this.#waiting.splice(0, atOnce);
    const why = await this.#send(spans);
    this.#sending = undefined;
    if (why !== undefined) warn(why);
    if (this.#dropped > 0) warn(`dropped ${this.#dropped} spans: more ended than the collector was sent`);
    this.#dropped = 0;
    if (this.#waiting.length >= atOnce) void this.#start();
    else if (this.#waiting.length > 0) this.#timer ??= later(() => void this.#start(), everyMs);
  }
}

function warn(message: string): void {
  log({ level: "warn", source: "framework.trace", message, fields: {}, context: undefined });
}

// A process that has nothing else to do ends: what waits then is sent by whoever stops it.
function later(work: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer: unknown = setTimeout(work, ms);
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
  return timer as ReturnType<typeof setTimeout>;
}
