import type { Answer } from "../exchange/answer.ts";
import { Deferred, whenResolved } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import type { WorkDeadline } from "../logging/entry.ts";
import { isOfSignal } from "../logging/raised.ts";
import { cancelExpiry, expireAt } from "./deadline-wheel.ts";
import type { Timed } from "./deadline-wheel.ts";
import type { Point } from "./ending.ts";
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
  readonly ending: { readonly at: Point; readonly hasTimedOut: boolean };
  enterDeadline(): void;
  leaveDeadline(): void;
}

/** What happens at the deadline of a request, and with what its work answers after it. */
export interface DeadlineActs {
  /** Called once the clock has run down. */
  expired(): void;
  /** Drops what the handler answered after the deadline. */
  dropHandled(answer: Answer): Promise<never>;
  /** Drops an answer that comes after that of the deadline. */
  dropLate(answer: Answer): Promise<never>;
  /** Drops what was thrown after the deadline. */
  dropThrown(thrown: unknown): Promise<never>;
}

/**
 * The clock of a request that has a deadline, which is also its pending response. What passing means is in the table of the request's
 * ending. An answer that is available at once starts no timer.
 */
export class RequestDeadline extends Deferred<WireResponse> implements Timed, WorkDeadline {
  next: Timed = this;
  previous: Timed = this;
  dueTick = 0;
  timer: Timed["timer"] = undefined;
  /** Milliseconds. */
  readonly ms: number;
  readonly acts: DeadlineActs;
  /** The answer that the route's inputs and handler make, once they run. */
  handling: MaybePromise<Answer> | undefined = undefined;
  /** Whether a commit was sent. */
  hasCommitted = false;
  readonly #request: TimedRequest;
  readonly #startedAt: number;
  #controller: AbortController | undefined = undefined;
  #inside: InsideAnswer | undefined = undefined;
  /** Ends the stream or the socket that follows the head, where its route says so. */
  #end: (() => void) | undefined = undefined;

  constructor(request: TimedRequest, ms: number, acts: DeadlineActs) {
    super();
    this.#request = request;
    this.acts = acts;
    this.ms = ms;
    this.#startedAt = request.startedAt === 0 ? performance.now() : request.startedAt;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#request.ending.hasTimedOut) this.#controller.abort(passed());
    return this.#controller.signal;
  }

  noteCommit(): void {
    this.hasCommitted = true;
  }

  /** Waits for the response, at most until the deadline. */
  wait(): this {
    if (!this.#request.ending.at.isAnswered) expireAt(this, this.#startedAt + this.ms);
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

  /** Whether middleware waits for an answer. */
  get hasInside(): boolean {
    return this.#inside !== undefined;
  }

  /** Gives middleware an answer, and a second for its own. */
  answerInside(answer: Answer): void {
    const inside = this.#inside;
    this.#inside = undefined;
    expireAt(this, performance.now() + middlewareMs);
    inside?.give(answer);
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

  /** The clock stops. */
  stop(): void {
    cancelExpiry(this);
    this.#request.leaveDeadline();
  }

  expire(): void {
    cancelExpiry(this);
    this.acts.expired();
  }

  /** Ends the stream or the socket that follows the head. */
  end(): void {
    this.#end?.();
  }

  /** Aborts the signal of the request's work. */
  abort(): void {
    this.#controller?.abort(passed());
  }

  /** Whether a call rejected because of its signal. */
  isOwn(thrown: unknown): boolean {
    return isOfSignal(this.#controller?.signal, thrown);
  }
}

function passed(): DOMException {
  return new DOMException("The deadline of the request has passed.", "TimeoutError");
}
