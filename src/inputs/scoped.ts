import { isThenable } from "../async.ts";
import { needsFunction, needsObject, needsOptions } from "../arguments.ts";
import { Problem, Refusal } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { map, record } from "./dep.ts";
import type { Dep, Inputs, Joining, RefusesOf, Values, WireOf } from "./dep.ts";
import { holdUntilEnd } from "./held.ts";
import type { InputRequest, RequestEnd } from "./request.ts";

/** The options of `Dep.scoped`. */
export interface ScopedOptions<A, C extends string = string> {
  /** The codes that `acquire` may refuse with. */
  readonly refuses?: readonly Code<C>[];
  /**
   * Called with the value once the handler has answered, before anything of the answer is sent. Where it throws or rejects,
   * that is the answer in place of the handler's, unless that is a refusal already. `refused` is the refusal that is the
   * answer; `hasFailed` tells whether something raised.
   */
  readonly beforeAnswer?: (value: A, refused: Refusal | undefined, hasFailed: boolean) => unknown;
}

/**
 * A value that is acquired for a request and released after it: a lock, a temporary file, a client with a connection of its
 * own. `acquire` is like the block of `Dep.join`; it runs once a request, if the request reads it, and where the route reads a whole
 * body, once that has arrived: a slow client holds nothing. `release` runs exactly
 * once for each value, after the answer was written, or after its stream or its connection has ended: also where the handler
 * refuses or raises, or the client leaves. It waits for the producer of a stream, at most half a second. Values are released
 * in the reverse order of acquiring, each after the release of the one before. Where a deadline passes, nothing more is acquired, and
 * the releases wait for an `acquire` that runs, at most 10 s. A release that raises is an error line, and one that takes 10 s a
 * warning; neither hurts another.
 * A server that stops waits for them, at most `drainMs`.
 *
 * @example
 * ```ts
 * const folder = Dep.scoped({}, () => mkdtemp("upload-"), (path) => rm(path, { recursive: true }));
 * ```
 */
export function scoped<const I extends Inputs, B = never, C extends string = never, N extends string = never>(
  inputs: I,
  acquire: (values: Values<I>) => Joining<B, N, C>,
  release: (value: NoInfer<Exclude<B, Problem>>, end: RequestEnd) => unknown,
  options: ScopedOptions<NoInfer<Exclude<B, Problem>>, C> = {},
): Dep<Exclude<B, Problem>, NoInfer<C> | RefusesOf<I>, WireOf<I>> {
  needsObject("Dep.scoped: inputs", inputs);
  needsFunction("Dep.scoped: acquire", acquire);
  needsFunction("Dep.scoped: release", release);
  needsOptions("Dep.scoped", options, "refuses beforeAnswer");
  const { beforeAnswer } = options;
  if (beforeAnswer !== undefined) needsFunction("Dep.scoped: beforeAnswer", beforeAnswer);
  return {
    node: {
      from: Object.values(inputs),
      acquires: true,
      ...(options.refuses === undefined ? {} : { codes: options.refuses }),
      compile: (_route, from) => {
        const values = record(Object.keys(inputs), from);
        const hold = (request: InputRequest, value: unknown): unknown =>
          held(request, value, release as Release, beforeAnswer as Settle);
        return (request, read) => {
          // What was acquired before is rolled back already.
          if (request.timedOut !== undefined) return request.timedOut;
          const acquired = acquire(values(request, read) as Values<I>);
          if (!isThenable(acquired)) return hold(request, acquired);
          const holding = Promise.resolve(acquired).then((value) => hold(request, value));
          request.acquires(holding);
          return holding;
        };
      },
    },
  };
}

type Release = (value: unknown, end: RequestEnd) => unknown;
type Settle = ((value: unknown, refused: Refusal | undefined, hasFailed: boolean) => unknown) | undefined;

/** A value that the request holds from now on; a refusal or a problem is not kept. */
function held(request: InputRequest, value: unknown, release: Release, settle: Settle): unknown {
  if (value instanceof Refusal || value instanceof Problem) return value;
  request.hold({
    beforeAnswer: settle && ((refused, hasFailed) => settle(value, refused, hasFailed)),
    release: (end) => release(value, end),
  });
  return value;
}

/** What has transactions: a `Pool` of `usher-http/postgres`, or the like of another library. */
export interface Transactional<Db, Options> {
  /** Runs `work` in a transaction: commits what it resolves with, rolls back where it rejects or resolves with a refusal. */
  transaction(work: (db: Db) => Promise<unknown>, options?: Options): Promise<unknown>;
}

/**
 * One transaction for a request: every input and the handler use its `db`. It begins when the input is read, after a body that is read
 * whole, and before one that is a stream: there a slow client holds its connection, so use the pool's own `transaction` after the body.
 * It commits once the handler has answered, before anything of the answer is sent: a client that sees its answer finds what was written. A
 * refusal or an exception rolls it back, unless the pool's option `keep` says otherwise. Where the commit fails, that is
 * the answer. A stream or a socket runs after the end of the transaction, and cannot use `db`.
 *
 * @param options Those of the pool's `transaction`, except `retries`: a handler runs once.
 *
 * @example
 * ```ts
 * const tx = Dep.transaction(pool);
 * const pay = post(Path.of("orders", id, "payment"), { inputs: { tx, order: param(id) }, returns: Returns.empty }, async ({ tx, order }) => {
 *   await tx.exec(markPaid, order);
 * });
 * ```
 */
export function transaction<Db, Options extends object, R extends string, W>(
  pool: Dep<Transactional<Db, Options>, R, W>,
  options: Omit<Options, "retries"> = {} as Omit<Options, "retries">,
): Dep<Db, R, W> {
  needsObject("Dep.transaction: its pool", pool);
  needsObject("Dep.transaction: its pool", pool.node);
  needsObject("Dep.transaction: options", options);
  // A variable of the pool's own options may have `retries`: a second run would wait for the end of a request that has ended.
  const { retries: _retries, ...once } = options as { readonly retries?: unknown };
  const begin = (pool: Transactional<Db, Options>): Promise<OpenTransaction<Db>> => {
    needsObject("Dep.transaction: what its pool gives", pool);
    return OpenTransaction.begin(pool, once as Options);
  };
  const open = scoped(
    { pool },
    ({ pool }) => begin(pool),
    (transaction) => transaction.end(undefined, true),
    { beforeAnswer: (transaction, refused, hasFailed) => transaction.end(refused, hasFailed) },
  );
  return map(open as Dep<OpenTransaction<Db>, R, W>, ({ db }) => db as never);
}

/** Rejects the work of a transaction whose request raised. */
const raised = new Error("the request raised");

/** A transaction whose work waits for the end of its request. */
class OpenTransaction<Db> {
  readonly db: Db;
  readonly #whole: Promise<unknown>;
  readonly #finish: (refused: Refusal | undefined) => void;
  readonly #fail: (thrown: unknown) => void;
  readonly #free: () => void;
  #hasEnded = false;

  private constructor(
    db: Db,
    whole: Promise<unknown>,
    finish: (refused: Refusal | undefined) => void,
    fail: (thrown: unknown) => void,
    free: () => void,
  ) {
    this.db = db;
    this.#whole = whole;
    this.#finish = finish;
    this.#fail = fail;
    this.#free = free;
  }

  /** Resolves once it has begun; rejects where it does not. */
  static begin<Db, Options>(pool: Transactional<Db, Options> & object, options: Options): Promise<OpenTransaction<Db>> {
    return new Promise((resolve, reject) => {
      const whole = pool.transaction((db) => {
        return new Promise((finish, fail) => {
          // `whole` is set: a pool calls the work once the transaction has begun, which takes a round trip.
          queueMicrotask(() => resolve(new OpenTransaction(db, whole, finish, fail, holdUntilEnd(pool))));
        });
      }, options);
      whole.catch(reject);
    });
  }

  /** Commits, or rolls back for a refusal or an exception, once. Rejects where the commit failed. */
  async end(refused: Refusal | undefined, hasFailed: boolean): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#free();
    if (!hasFailed) {
      this.#finish(refused);
      await this.#whole;
      return;
    }
    this.#fail(raised);
    await this.#whole.catch((thrown: unknown) => {
      if (thrown !== raised) throw thrown;
    });
  }
}
