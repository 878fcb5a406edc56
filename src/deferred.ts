import { inBackground } from "./logging/raised.ts";

/** A value that is available now or later. */
export type MaybePromise<A> = A | Promise<A> | Deferred<A>;

/**
 * A deferred value that calls its one listener synchronously. A promise calls back a microtask later and is two more
 * objects. With promises, a request with a body costs Node 0.8 µs more, of 9, and twice that where each promise carries a
 * context.
 */
export class Deferred<A> implements PromiseLike<A> {
  #value: MaybePromise<A> | undefined = undefined;
  #isResolved = false;
  #listener: ((value: A) => void) | undefined = undefined;
  #failed: ((thrown: unknown) => void) | undefined = undefined;

  /**
   * Calls `listener` with the value, now if it is available. One listener at most.
   *
   * @param failed Called where it was resolved with a promise that rejects.
   */
  onResolve(listener: (value: A) => void, failed?: (thrown: unknown) => void): void {
    if (this.#isResolved) return whenResolved(this.#value as MaybePromise<A>, listener, failed);
    this.#listener = listener;
    this.#failed = failed;
  }

  /** For what needs a promise, or awaits it. */
  // oxlint-disable-next-line unicorn/no-thenable
  then<B = A, C = never>(
    fulfilled?: ((value: A) => B | PromiseLike<B>) | null,
    rejected?: ((reason: unknown) => C | PromiseLike<C>) | null,
  ): Promise<B | C> {
    return new Promise<A>((resolve, reject) => this.onResolve(resolve, reject)).then(fulfilled, rejected);
  }

  /** Resolves with a value, or with what becomes one. */
  protected resolve(value: MaybePromise<A>): void {
    const listener = this.#listener;
    if (listener === undefined) {
      this.#value = value;
      this.#isResolved = true;
    } else if (isPending(value)) whenResolved(value, listener, this.#failed);
    else listener(value);
  }
}

/** Whether a value is not available yet. */
export function isPending<A>(value: MaybePromise<A>): value is Promise<A> | Deferred<A> {
  return value instanceof Deferred || value instanceof Promise;
}

/** Calls back with a value once it is available. */
export function whenResolved<A>(
  value: MaybePromise<A>,
  listener: (value: A) => void,
  failed?: (thrown: unknown) => void,
): void {
  if (value instanceof Deferred) value.onResolve(listener, failed);
  else if (value instanceof Promise) inBackground(value.then(listener, failed));
  else listener(value);
}

/** What `next` makes of a value, once that is available; what it throws is a rejection, as with a promise. */
export function chain<A, B>(
  value: MaybePromise<A>,
  next: (value: A) => MaybePromise<B>,
  failed?: (thrown: unknown) => MaybePromise<B>,
): MaybePromise<B> {
  if (value instanceof Deferred) return new Chained(value, next, failed);
  return value instanceof Promise ? value.then(next, failed) : next(value);
}

class Chained<A, B> extends Deferred<B> {
  constructor(
    value: Deferred<A>,
    next: (value: A) => MaybePromise<B>,
    failed: (thrown: unknown) => MaybePromise<B> = rejected,
  ) {
    super();
    value.onResolve(
      (value) => {
        let made: MaybePromise<B>;
        try {
          made = next(value);
        } catch (thrown) {
          made = rejected(thrown);
        }
        this.resolve(made);
      },
      (thrown) => this.resolve(failed(thrown)),
    );
  }
}

function rejected(thrown: unknown): Promise<never> {
  return Promise.reject(thrown);
}
