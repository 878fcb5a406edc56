/**
 * Whether a value is awaited: a promise, of another realm too (`vm`, Jest), or what acts like one, as some query builders do. To
 * ask a value for its `then` may throw.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === "function";
}

// Sends between two looks: a look costs a clock reading, and the first of a turn a timer.
const lookEvery = 32;
/** How long may be sent on and on while everybody else waits. */
const maxBusyMs = 10;
/** How many sends may be, where the clock stands still: on Workers it does while nothing is waited for. */
const maxSends = 1024;

// Of whoever holds the clock in a test, these are not to be held: what waits for its turn would wait for the test.
const { setTimeout } = globalThis;

/** Sends since somebody else last had a turn, as far as that is known. */
let sends = 0;
/** Since when nobody else had a turn, as far as it was looked; undefined where somebody had. */
let since: { readonly at: number; readonly sends: number } | undefined;

// On Workers a timer ends with its request: then this is too old, which costs whoever sends on and on one wait too many.
const forget = (): void => (since = undefined);

/**
 * Something came, which is a turn of somebody else's, by its adapter's word for it: whoever answers it, and so the next, needs
 * neither a look at the clock nor a timer, which cost a socket's echo a tenth. Where looks have begun, they go on.
 */
export function noteIo(): void {
  if (since === undefined) sends = 0;
}

/**
 * Whether something was sent on and on for so long, with nothing waited for but what is there at once, that others are to have
 * their turn: promises that settle one after the other let the runtime look at nothing else. Asked with every send.
 */
export function shouldYield(): boolean {
  sends++;
  if (sends % lookEvery !== 0) return false;
  const now = performance.now();
  if (since === undefined) {
    since = { at: now, sends };
    setTimeout(forget, 0);
    return false;
  }
  return now - since.at >= maxBusyMs || (now === since.at && sends - since.sends >= maxSends);
}

/** Lets everybody else have a turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => {
      forget();
      resolve();
    }, 0);
  });
}

/** Waits for some work, and for `ms` at the most. */
export async function inTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
