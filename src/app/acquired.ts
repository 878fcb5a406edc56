import type { Answer } from "../answers/answer.ts";
import type { Held, RequestEnd } from "../inputs/request.ts";
import { goneRefusal } from "../refusals.ts";

/** What the inputs of one request acquired, in that order, and how the request ended. */
export class Acquired {
  /** What is not released yet. */
  readonly held: Held[] = [];
  /** Whether something raised, whatever was sent in its place. */
  hasFailed = false;
  /** Whether the request's deadline has passed. */
  hasTimedOut = false;
  /** Whether the deadline passed before a transaction was committed: what the handler wrote in it is rolled back. */
  isUndone = false;
  /** Settles once all have ended with the handler's answer; undefined if no commit is pending. Never rejects. */
  keeping: Promise<unknown> | undefined = undefined;
  /** Settles once the producer of its stream has ended, which may outlast the stream. Never rejects. */
  producing: Promise<void> | undefined = undefined;
  /** Set once the handler has answered, or is too late. */
  #release: ((end: RequestEnd) => void) | undefined = undefined;
  #status = 0;
  #code: string | undefined = undefined;
  #how: RequestEnd["how"] | undefined = undefined;

  /** The handler is over. Where the request has ended before, as middleware may answer for it, `release` is called at once. */
  releaseBy(release: (end: RequestEnd) => void): void {
    this.#release = release;
    this.#releaseAll();
  }

  add(held: Held): void {
    this.held.push(held);
    // It was acquired too late, and nothing uses it.
    this.#releaseAll();
  }

  /** What is sent. The request ends with it, unless a stream or a connection continues, which calls `ended`. */
  sent({ status, refused }: Answer, continues: boolean): void {
    this.#status = status;
    this.#code = refused?.code.name;
    if (!continues) this.ended("answered");
  }

  ended(how: RequestEnd["how"]): void {
    if (this.#how !== undefined) return;
    this.#how = how;
    this.#releaseAll();
  }

  #releaseAll(): void {
    if (this.#how === undefined || this.#release === undefined) return;
    this.#release({ how: this.#kindOf(this.#how), status: this.#status, code: this.#code });
  }

  #kindOf(how: RequestEnd["how"]): RequestEnd["how"] {
    if (this.hasTimedOut) return "timed out";
    if (this.hasFailed) return howFailed(this.#code);
    return how === "answered" && this.#code !== undefined ? "refused" : how;
  }
}

/** How a request in which something raised has ended, by the code of its answer: a call may have rejected as the client left. */
export function howFailed(code: string | undefined): "failed" | "client gone" {
  return code === goneRefusal.code.name ? "client gone" : "failed";
}
