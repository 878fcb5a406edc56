/**
 * Whether `await` waits for the value: a promise, one of another realm (`vm`, Jest), or a thenable, as some query builders
 * return. Reading `then` may throw.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === "function";
}

/**
 * Gives up the promises in a value that is not used, in its lists and plain objects too: nothing will await them, and the rejection of
 * a promise without a handler ends the process.
 */
export function abandon(value: unknown): void {
  const parts = new Set([value]);
  for (const part of parts) {
    if (part instanceof Promise) part.catch(() => {});
    else if (typeof part === "object" && (Array.isArray(part) || Object.getPrototypeOf(part ?? 0) === Object.prototype))
      for (const member of Object.values(part as object)) parts.add(member);
  }
}

/** A promise whose rejection ends no process where it is not awaited. Who awaits it still gets the rejection. */
export function handled<A>(promise: Promise<A>): Promise<A> {
  promise.catch(() => {});
  return promise;
}

/** A part of a text is read after two turns, and one that `fetch` received after three (Node 20, 24 and 26). Other code between takes more. */
export const soonTurns = 10;

/** Whether a promise settles in these turns of the microtask queue, before any event. */
export async function isSettledSoon(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
  };
  promise.then(settled, settled);
  for (let turn = 0; !isSettled && turn < soonTurns; turn++) await Promise.resolve();
  return isSettled;
}

/** What `next` makes of a value: at once, unless the value is a promise. */
export function andThen<A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

// Sends between two readings of the clock. Each reading costs time, and the first one of a turn starts a timer.
const checkEvery = 32;
/** The longest time of consecutive sends before other work gets a turn. */
const maxBusyMs = 10;
/** The limit where the clock stands still: on Workers it stops while the program runs without I/O. */
const maxSends = 1024;

// A test with fake timers must not stop these: what waits for them would block the test.
const { setTimeout, setImmediate } = globalThis as typeof globalThis & { setImmediate?: (act: () => void) => unknown };

/** Calls back once the runtime has handled the events it has: what this turn writes was handed to it before. */
export const soon: (act: () => void) => unknown = setImmediate ?? ((act) => setTimeout(act, 0));

/** Sends since other work last got a turn, as far as known. */
let sends = 0;
/** When the current run of sends began; undefined where other work has had a turn since. */
let since: { readonly at: number; readonly sends: number } | undefined;

// On Workers a timer ends with its request. `since` is then too old, which costs the next sender one needless wait.
const forget = (): void => (since = undefined);

/**
 * An adapter calls this when data arrives: the runtime has handled I/O, so the reply needs neither a reading of the clock
 * nor a timer. These cost a socket's echo a tenth. A measurement that has begun continues.
 */
export function noteIo(): void {
  if (since === undefined) sends = 0;
}

/**
 * Whether a producer has sent without waiting for I/O until other work needs a turn. Promises that settle one
 * after the other keep the runtime from looking at anything else. Called with every send.
 */
export function shouldYield(): boolean {
  sends++;
  if (sends % checkEvery !== 0) return false;
  const now = performance.now();
  if (since === undefined) {
    since = { at: now, sends };
    setTimeout(forget, 0);
    return false;
  }
  return now - since.at >= maxBusyMs || (now === since.at && sends - since.sends >= maxSends);
}

/** The latest wait of those that let the runtime handle other events; undefined where none waits. */
let yielding: Promise<void> | undefined;

/** Lets the runtime handle other events first. By a timer: on Deno immediates alone keep it from reading its sockets. */
export function yieldToEventLoop(): Promise<void> {
  const turn = new Promise<void>((resolve) => {
    setTimeout(() => {
      forget();
      if (yielding === turn) yielding = undefined;
      resolve();
    }, 0);
  });
  yielding = turn;
  return turn;
}

/**
 * As `soon`, and not before those that yield now: their timer takes many of the turns that `soon` waits for. On Workers, where a wait
 * is of one request, both are timers.
 */
export const afterOthers: (act: () => void) => unknown =
  setImmediate === undefined
    ? soon
    : (act) =>
        soon(() => {
          if (yielding === undefined) act();
          else void yielding.then(act, act);
        });

/** What starts and clears a timer. */
export interface Timers {
  setTimeout(act: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** Timers that let the process end while they run. */
export const unrefTimers: Timers = {
  setTimeout(act, ms) {
    const timer = globalThis.setTimeout(act, ms);
    unrefTimer(timer);
    return timer;
  },
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/**
 * Waits for the work, at most `ms`. Resolves with whether it has ended; work that is over leaves no timer.
 *
 * @param timers Those of the runtime by default, as they are then: a test may have set its own.
 */
export async function inTime(work: Promise<unknown>, ms: number, timers: Timers = globalThis): Promise<boolean> {
  let timer: unknown;
  const late = new Promise<false>((resolve) => {
    timer = timers.setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timers.clearTimeout(timer);
  }
}

/** Lets the process end while a timer runs, on a runtime whose timers keep it alive. */
export function unrefTimer(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
}
