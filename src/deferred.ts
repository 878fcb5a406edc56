import { inBackground } from "./logging/raised.ts";

/** What is there now or later. */
export type MaybePromise<A> = A | Promise<A> | Deferred<A>;

/**
 * What comes later and does not fail, and is heard of at once. A promise tells it a turn after it came and is two more objects:
 * with both, a request with a body costs Node 0.8 µs more, of 9, and twice that where each promise carries a context.
 */
export class Deferred<A> implements PromiseLike<A> {
  #came: MaybePromise<A> | undefined = undefined;
  #hasCome = false;
  #act: ((came: A) => void) | undefined = undefined;

  /** Calls back with it: now where it has come, and otherwise when it does. One hears of it. */
  onResolve(act: (came: A) => void): void {
    if (this.#hasCome) whenResolved(this.#came as MaybePromise<A>, act);
    else this.#act = act;
  }

  /** For who has to have a promise, or awaits it. */
  // oxlint-disable-next-line unicorn/no-thenable
  then<B = A, C = never>(
    fulfilled?: ((came: A) => B | PromiseLike<B>) | null,
    _rejected?: ((reason: unknown) => C | PromiseLike<C>) | null,
  ): Promise<B> {
    return new Promise((resolve) => {
      this.onResolve((came) => resolve(fulfilled ? tried(fulfilled, came) : (came as unknown as B)));
    });
  }

  /** It is there, or what it is had by. */
  protected resolve(came: MaybePromise<A>): void {
    if (this.#act !== undefined) return whenResolved(came, this.#act);
    this.#came = came;
    this.#hasCome = true;
  }
}

/** Whether it is not there yet. */
export function isPending<A>(value: MaybePromise<A>): value is Promise<A> | Deferred<A> {
  return value instanceof Deferred || value instanceof Promise;
}

/** Calls back with what does not fail, once it is there. */
export function whenResolved<A>(value: MaybePromise<A>, act: (value: A) => void): void {
  if (value instanceof Deferred) value.onResolve(act);
  else if (value instanceof Promise) inBackground(value.then(act));
  else act(value);
}

function tried<A, B>(act: (came: A) => B | PromiseLike<B>, came: A): B | PromiseLike<B> {
  try {
    return act(came);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}
