import type { Answer } from "../answers/answer.ts";
import type { Held, RequestEnd } from "../inputs/request.ts";

/** What decides how a request ended. */
interface EndedRequest {
  readonly deadline: { readonly hasExpired: boolean } | undefined;
  readonly raised: "failed" | "client gone" | undefined;
}

/** How a request ended, by what happened in it, and otherwise by how its answer, its stream or its connection ended. */
export function howEnded(
  { deadline, raised }: EndedRequest,
  how: RequestEnd["how"],
  code: string | undefined,
): RequestEnd["how"] {
  if (deadline?.hasExpired === true) return "timed out";
  return raised ?? (how === "answered" && code !== undefined ? "refused" : how);
}

/** What the inputs of one request acquired, in that order, and how the request ended. */
export class Acquired {
  /** What is not released yet. */
  readonly held: Held[] = [];
  /** The handler's answer, once it is handed to the inputs that keep what they acquired: a transaction commits. */
  answer: Answer | undefined = undefined;
  /** Whether an input or the handler raised: nothing is committed. Middleware may raise while they run on. */
  hasFailed = false;
  /** Whether the deadline passed before a transaction was committed: what the handler wrote in it is rolled back. */
  isUndone = false;
  /** Settles once all have ended with the handler's answer; undefined if no commit is pending. Never rejects. */
  keeping: Promise<unknown> | undefined = undefined;
  /** Settles once the producer of its stream has ended, which may outlast the stream. Never rejects. */
  producing: Promise<void> | undefined = undefined;
  /** Set once the handler has answered, or is too late. */
  #release: ((end: RequestEnd) => void) | undefined = undefined;
  readonly #request: EndedRequest;
  #status = 0;
  #code: string | undefined = undefined;
  #how: RequestEnd["how"] | undefined = undefined;

  constructor(request: EndedRequest) {
    this.#request = request;
  }

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
    const how = howEnded(this.#request, this.#how, this.#code);
    this.#release({ how, status: this.#status, code: this.#code });
  }
}
