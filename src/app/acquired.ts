import type { Answer } from "../answers/answer.ts";
import type { Held, RequestEnd } from "../inputs/request.ts";

/** What the inputs of one request acquired, in that order, and how the request ended. */
export class Acquired {
  /** What is not released yet. */
  readonly held: Held[] = [];
  /** Whether something raised, whatever was sent in its place. */
  hasFailed = false;
  /** Whether the request's deadline has passed. */
  hasTimedOut = false;
  /** Settles once all have got the handler's answer; undefined where none waits for it. Never rejects. */
  keeping: Promise<unknown> | undefined = undefined;
  /** Set where the answer is made: called once the request has ended. */
  release: (end: RequestEnd) => void = () => {};
  #status = 0;
  #code: string | undefined = undefined;
  #end: RequestEnd | undefined = undefined;

  add(held: Held): void {
    this.held.push(held);
    // It was acquired too late, and nothing uses it.
    if (this.#end !== undefined) this.release(this.#end);
  }

  /** What is sent. The request ends with it, unless a stream or a connection continues, which calls `ended`. */
  sent({ status, refused }: Answer, continues: boolean): void {
    this.#status = status;
    this.#code = refused?.code.name;
    if (!continues) this.ended("answered");
  }

  ended(how: RequestEnd["how"]): void {
    if (this.#end !== undefined) return;
    this.#end = { how: this.#kindOf(how), status: this.#status, code: this.#code };
    this.release(this.#end);
  }

  #kindOf(how: RequestEnd["how"]): RequestEnd["how"] {
    if (this.hasTimedOut) return "timed out";
    if (this.hasFailed) return "failed";
    return how === "answered" && this.#code !== undefined ? "refused" : how;
  }
}
