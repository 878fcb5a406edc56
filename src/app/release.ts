import { isStream } from "../exchange/answer.ts";
import type { Answer } from "../exchange/answer.ts";
import { inTime, isThenable, soon, unrefTimers } from "../async.ts";
import type { MaybePromise } from "../deferred.ts";
import type { GuardedEnd, HandlerGuard, Held, RequestEnd } from "../inputs/request.ts";
import { current, outside, within, withoutDeadline } from "../logging/context.ts";
import { inBackground } from "../logging/raised.ts";
import { logAfter, logFault, logHanging } from "./access-log.ts";
import type { Task } from "./ending.ts";
import { handlerFailure } from "./refused.ts";
import type { RequestState } from "./request.ts";

/*
 * What happens to the values that a request's inputs acquired (`Dep.scoped`): they get the handler's answer before it is
 * sent, and released once the request has ended. And what it has to do after the answer (`after`).
 */

/** Whether something waits for the handler's answer: a transaction, or an idempotency key. */
export function keepsAnswer({ ending }: RequestState): boolean {
  return ending.guard !== undefined || ending.held?.some(keeps) === true;
}

function keeps({ beforeAnswer }: Held): boolean {
  return beforeAnswer !== undefined;
}

/** Gives up what a request acquired, when its deadline passes: nothing is kept. The answer does not wait for it, and the releases do. */
export function giveUp(request: RequestState, answer: Answer): void {
  if (request.ending.held?.some(keeps) === true) inBackground(keep(request, answer));
}

/** Commits what the inputs acquired, or rolls it back. Resolves with the answer to send: another one if a transaction cannot commit. */
export function keep(request: RequestState, answer: Answer): Promise<Answer> {
  const { ending } = request;
  const pending = keepAll(request, answer).finally(() => {
    ending.keeping = undefined;
    ending.on("kept");
  });
  ending.keeping = pending;
  return pending;
}

async function keepAll(request: RequestState, made: Answer): Promise<Answer> {
  const { ending } = request;
  const guard = ending.hasTimedOut ? undefined : ending.guard;
  // The guard keeps the body of the answer: it reads a stream before anything commits.
  const read = guard === undefined ? made : await orFailure(request, guard.read(made));
  // In the transaction of the handler, so that its work and the answer are kept together.
  const isFirst = guard?.isTransaction === true;
  let answer = isFirst ? await orFailure(request, guard.leave(read, endOf(request, read))) : read;
  let hasKept = false;
  for (const { beforeAnswer } of ending.held?.toReversed() ?? []) {
    if (beforeAnswer === undefined) continue;
    if (ending.hasTimedOut) ending.affected("undone");
    const fails = ending.effect !== "kept";
    try {
      await beforeAnswer(answer.refused, fails);
      hasKept ||= answer.refused === undefined && !fails;
    } catch (thrown) {
      // What was committed before this cannot be undone: a repeated request would do it twice.
      if (hasKept) ending.affected("unknown");
      // A refusal stays the answer, as there was nothing to commit, unless the answer itself must be kept.
      if (answer.refused === undefined || guard?.mustKeep === true) answer = handlerFailure(request, thrown);
      else logFault(request, "an input's beforeAnswer", thrown);
    }
  }
  if (answer !== read && read !== made && isStream(read.body)) read.body.abandon?.();
  return guard === undefined || isFirst ? answer : leaveLast(request, guard, answer);
}

/** The answer that a guard resolves with. What it rejects with is answered as if the handler had thrown it. */
async function orFailure(request: RequestState, answering: Promise<Answer>): Promise<Answer> {
  try {
    return await answering;
  } catch (thrown) {
    return handlerFailure(request, thrown);
  }
}

/** Keeps the answer after everything has committed: the client gets it, also where it cannot be kept. */
async function leaveLast(request: RequestState, guard: HandlerGuard, answer: Answer): Promise<Answer> {
  try {
    return await guard.leave(answer, endOf(request, answer));
  } catch (thrown) {
    logFault(request, "the store of an idempotency key", thrown);
    return answer;
  }
}

function endOf({ ending }: RequestState, { refused }: Answer): GuardedEnd {
  const { effect } = ending;
  // A transaction was rolled back at the deadline, and the handler answered that its work is done.
  const isUndone = effect === "undone" && refused === undefined;
  if (effect === "unknown" || isUndone) return "outcome unknown";
  return effect === "failed" ? "failed" : "answered";
}

/**
 * Releases what is held, once the answer was written, commits are done, and the producer of the stream has ended. A value that is being
 * acquired may be made from one that is held: that has to end first, too.
 */
export function releaseSoon(request: RequestState, end: RequestEnd): void {
  runSoon(request, async () => {
    const { ending } = request;
    const { keeping, producing, acquiring } = ending;
    if (keeping !== undefined) await inTime(keeping, releaseMs, unrefTimers);
    if (producing !== undefined) await inTime(producing, producingMs, unrefTimers);
    if (acquiring !== undefined && !(await inTime(acquiring, releaseMs, unrefTimers))) ending.acquiring = undefined;
    await release(request, ending.held ?? [], end);
  });
}

/**
 * Runs a request's work in its context, once the answer was written; a server that stops waits for it. The work of another request
 * may have left its context in the same turn. There is no deadline: a route's is for its stream, and a task may run meanwhile.
 */
function runSoon(request: RequestState, act: () => MaybePromise<void>): void {
  const { app, exchange } = request;
  const timeless = request.deadline === undefined ? act : () => withoutDeadline(act);
  const work = (): MaybePromise<void> =>
    current() === undefined ? within(request, timeless) : outside(() => within(request, timeless));
  if (exchange.keepAlive === undefined) app.work.soon(work);
  else exchange.keepAlive(app.work.track(new Promise<void>((resolve) => soon(resolve)).then(work)));
}

/** In the reverse order of acquiring, one after the other. */
function release(request: RequestState, held: Held[], end: RequestEnd): Promise<void> | undefined {
  for (let one = held.pop(); one !== undefined; one = held.pop()) {
    const pending = releaseOne(request, one, end);
    if (pending !== undefined) return pending.then(() => release(request, held, end));
  }
  return undefined;
}

const releasing = "the release of an input";

function releaseOne(request: RequestState, { release }: Held, end: RequestEnd): Promise<void> | undefined {
  try {
    const released = release(end);
    return isThenable(released) ? releasedInTime(request, released) : undefined;
  } catch (thrown) {
    logFault(request, releasing, thrown);
    return undefined;
  }
}

/** How long one release may take before the next one runs. */
const releaseMs = 10_000;
/** How long releases wait for the producer of a stream. They may be what ends it, and a program that stops waits a second for them. */
const producingMs = 500;

async function releasedInTime(request: RequestState, released: PromiseLike<unknown>): Promise<void> {
  const done = Promise.resolve(released).then(
    () => {},
    (thrown: unknown) => logFault(request, releasing, thrown),
  );
  // A program that ends does not wait for it: a server that stops does.
  if (!(await inTime(done, releaseMs, unrefTimers))) logHanging(request, releaseMs);
}

/** Runs a task of `after` once the answer was written. */
export function startTask(request: RequestState, task: Task, end: RequestEnd): void {
  runSoon(request, () => runTask(request, task, end));
}

async function runTask(request: RequestState, { run }: Task, end: RequestEnd): Promise<void> {
  try {
    const done = run(end);
    if (isThenable(done)) await done;
  } catch (thrown) {
    logAfter(request, thrown);
  } finally {
    request.app.work.free();
  }
}
