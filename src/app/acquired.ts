import type { Answer } from "../answers/answer.ts";
import type { Held, RequestEnd } from "../inputs/request.ts";

/** What the inputs of one request acquired, in that order, and how the request ended. */
export class Acquired {
  /** What is not released yet. */
  readonly held: Held[] = [];
  /** Whether something raised, whatever was sent in its place. */
  hasFailed = false;
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
    const kind = this.hasFailed ? "failed" : how === "answered" && this.#code !== undefined ? "refused" : how;
    this.#end = { how: kind, status: this.#status, code: this.#code };
    this.release(this.#end);
  }
}
