import type { Answer } from "../answers/answer.ts";
import { Deferred, whenResolved } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import type { WorkDeadline } from "../logging/entry.ts";
import { isOfSignal } from "../logging/raised.ts";
import { cancelExpiry, expireAt } from "./deadline-wheel.ts";
import type { Timed } from "./deadline-wheel.ts";
import type { WireResponse } from "./exchange.ts";

/** How long the app's middleware has for the answer of a request whose deadline has passed. */
const middlewareMs = 1000;

/** An answer that middleware waits for: of the routes, or of the deadline. */
class InsideAnswer extends Deferred<Answer> {
  give(answer: MaybePromise<Answer>): void {
    this.resolve(answer);
  }
}

/** What a deadline uses of its request. */
interface TimedRequest {
  readonly startedAt: number;
  readonly route: { readonly endsAtDeadline: boolean } | undefined;
  enterDeadline(): void;
  leaveDeadline(): void;
  splitContext(): void;
}

/** Answers a request whose deadline has passed. */
type TimeOut<R extends TimedRequest> = (request: R, deadline: RequestDeadline<R>) => void;

/**
 * The deadline of one request, which is also its pending response: the answer or the time-out, whichever is first. An answer
 * that is available at once starts no timer.
 */
export class RequestDeadline<R extends TimedRequest> extends Deferred<WireResponse> implements Timed, WorkDeadline {
  next: Timed = this;
  previous: Timed = this;
  dueTick = 0;
  timer: Timed["timer"] = undefined;
  /** Milliseconds. */
  readonly ms: number;
  /** Whether it has passed: what the handler answers from now on is dropped. */
  hasExpired = false;
  /** Whether the response is made. */
  isAnswered = false;
  /** The answer that the route's inputs and handler make, once they run. */
  handling: MaybePromise<Answer> | undefined = undefined;
  /** Whether a commit was sent. */
  hasCommitted = false;
  readonly #request: R;
  readonly #timeOut: TimeOut<R>;
  readonly #startedAt: number;
  #controller: AbortController | undefined = undefined;
  #inside: InsideAnswer | undefined = undefined;
  /** Ends the stream or the socket that follows the head. */
  #end: (() => void) | undefined = undefined;

  constructor(request: R, ms: number, timeOut: TimeOut<R>) {
    super();
    this.#request = request;
    this.ms = ms;
    this.#timeOut = timeOut;
    this.#startedAt = request.startedAt === 0 ? performance.now() : request.startedAt;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.hasExpired) this.#controller.abort(passed());
    return this.#controller.signal;
  }

  noteCommit(): void {
    this.hasCommitted = true;
  }

  /** Waits for the response, at most until the deadline. */
  wait(): this {
    if (!this.isAnswered) expireAt(this, this.#startedAt + this.ms);
    return this;
  }

  /** Waits for the answer of the routes, which middleware awaits, at most until the deadline. */
  waitInside(answer: Promise<Answer> | Deferred<Answer>): MaybePromise<Answer> {
    const inside = new InsideAnswer();
    this.#inside = inside;
    whenResolved<Answer>(answer, (answer) => {
      if (this.#inside !== inside) return;
      this.#inside = undefined;
      inside.give(answer);
    });
    return inside;
  }

  /** Gives middleware the answer of the time-out. False if no middleware waits for an answer. */
  answerInside(make: () => Answer): boolean {
    const inside = this.#inside;
    if (inside === undefined) return false;
    this.#inside = undefined;
    expireAt(this, performance.now() + middlewareMs);
    inside.give(make());
    return true;
  }

  /** The answer is made: the work of the request has no deadline from now on. */
  answered(): void {
    this.isAnswered = true;
    cancelExpiry(this);
    this.#request.leaveDeadline();
  }

  respond(response: MaybePromise<WireResponse>): void {
    this.resolve(response);
  }

  /** A stream or a socket follows the head. `end` ends it at the deadline, where its route says so. */
  continues(end: () => void): void {
    const request = this.#request;
    if (request.route?.endsAtDeadline !== true) return;
    this.#end = end;
    request.enterDeadline();
    expireAt(this, this.#startedAt + this.ms);
  }

  /** The stream or the socket has ended. */
  over(): void {
    if (this.#end !== undefined) this.answered();
  }

  expire(): void {
    cancelExpiry(this);
    const end = this.#end;
    if (end === undefined) return this.#timeOut(this.#request, this);
    this.pass();
    end();
    this.abort();
  }

  /** From now on the handler is late, and what follows the answer has no deadline. */
  pass(): void {
    this.hasExpired = true;
    this.#request.splitContext();
  }

  /** Aborts the signal of the request's work. */
  abort(): void {
    this.#controller?.abort(passed());
  }

  /** Whether a call rejected because of that signal. */
  isOwn(thrown: unknown): boolean {
    return isOfSignal(this.#controller?.signal, thrown);
  }
}

function passed(): DOMException {
  return new DOMException("The deadline of the request has passed.", "TimeoutError");
}
