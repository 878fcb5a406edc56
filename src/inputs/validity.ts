import { needs, needsFunction, needsObject } from "../arguments.ts";
import { unrefTimer } from "../async.ts";
import { current } from "../logging/context.ts";
import { inBackground } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";

/** How long what an input checked is valid: an event stream or a WebSocket that follows ends with it. */
export interface Validity {
  /** The instant of its end: the `exp` of a token. Without one it has none. */
  readonly until?: Date | undefined;
  /** Looks whether it is still valid. A look that throws is repeated; after three in a row it counts as invalid. */
  readonly check?: (() => boolean | Promise<boolean>) | undefined;
  /** How often `check` is called, in milliseconds: at least once in 30 seconds unless set. */
  readonly everyMs?: number | undefined;
}

/** The same for the framework's own credentials. */
export interface CheckedValidity {
  /** Milliseconds since 1970. */
  readonly until?: number | undefined;
  readonly check?: (() => boolean | Promise<boolean>) | undefined;
  readonly everyMs?: number;
  /** What in this process can end it at once calls `end`, until the returned function is called. */
  readonly endsBy?: (end: () => void) => () => void;
}

/** A request, as far as the validity of its inputs goes. */
export interface ValidRequest {
  readonly now: Date;
  /** Undefined where no input gave the end of its validity. */
  validity: RequestValidity | undefined;
}

/** Unless set, in milliseconds. With 10,000 open streams these are 330 to 450 looks a second. */
export const defaultRecheckMs = 30_000;
/** With a longer time, the timers of all runtimes fire at once. */
const longestMs = 2 ** 31 - 1;
/** Looks in a row that threw, or did not end, before the next one. */
const maxMissed = 3;

/** An input says how long what it checked is valid. */
export function validWhile(request: ValidRequest, validity: CheckedValidity): void {
  (request.validity ??= new RequestValidity(request.now)).add(validity);
}

/** As {@link validWhile}, of an application. Throws for a wrong validity. */
export function checkedValidity(validity: Validity): CheckedValidity {
  needsObject("validWhile: its validity", validity);
  const { until, check, everyMs = defaultRecheckMs } = validity;
  const isTime = until === undefined || (until instanceof Date && !Number.isNaN(until.getTime()));
  needs(isTime, "validWhile: until", until, "a date");
  if (check !== undefined) needsFunction("validWhile: check", check);
  needsRecheck("validWhile: everyMs", everyMs);
  return { until: until?.getTime(), check, everyMs };
}

/** Throws for a wrong time between two looks. */
export function needsRecheck(at: string, ms: unknown): void {
  const isTime = typeof ms === "number" && ms > 0 && ms <= longestMs;
  needs(isTime, at, ms, `milliseconds, more than 0 and at most ${longestMs}`);
}

/** Where the validity of a request's inputs is: what follows the answer may be open, and ends once. */
type ValidityState =
  | { readonly at: "not open" }
  | { readonly at: "open"; readonly end: () => void; readonly stops: (() => void)[] }
  | { readonly at: "over" }
  /** It ended what was open. */
  | { readonly at: "lapsed" };

/** How long what the inputs of one request checked is valid. */
export class RequestValidity {
  readonly #given: CheckedValidity[] = [];
  /** The request's instant, in milliseconds since 1970, and the monotonic clock then. */
  readonly #now: number;
  readonly #since = performance.now();
  #state: ValidityState = { at: "not open" };

  constructor(now: Date) {
    this.#now = now.getTime();
  }

  add(validity: CheckedValidity): void {
    this.#given.push(validity);
    if (this.#state.at === "open") this.#watch(validity, this.#state.stops);
  }

  /** Whether it ended what was open. */
  get hasLapsed(): boolean {
    return this.#state.at === "lapsed";
  }

  /** The request's instant and the time since: an app's clock can be fixed. */
  get now(): number {
    return this.#now + performance.now() - this.#since;
  }

  /** Something follows the answer: `end` ends it, once what an input checked is not valid any more. */
  open(end: () => void): void {
    if (this.#state.at !== "not open") return;
    const stops: (() => void)[] = [];
    this.#state = { at: "open", end, stops };
    for (const validity of this.#given) this.#watch(validity, stops);
  }

  /** What followed has ended. */
  over(): void {
    if (this.#state.at === "open") for (const stop of this.#state.stops) stop();
    if (this.#state.at !== "lapsed") this.#state = { at: "over" };
  }

  #lapse(): void {
    const state = this.#state;
    if (state.at !== "open") return;
    this.#state = { at: "lapsed" };
    for (const stop of state.stops) stop();
    state.end();
  }

  #watch({ until, check, everyMs = defaultRecheckMs, endsBy }: CheckedValidity, stops: (() => void)[]): void {
    const lapse = (): void => this.#lapse();
    if (endsBy !== undefined) inBackground(ended(endsBy, stops).then(lapse));
    if (until !== undefined) {
      // `1e300` is a time that a token may have.
      const left = (): number => Math.min(Math.max(until - this.now, 0), longestMs);
      stops.push(repeating(left, () => until <= this.now && lapse()));
    }
    if (check !== undefined) stops.push(repeating(() => soonerThan(everyMs), looking(check, lapse)));
  }
}

/**
 * Resolves once something in this process, such as another request, ends it. What follows a promise runs as the request that waits for
 * it: workerd lets no request abort what belongs to another.
 */
function ended(endsBy: (end: () => void) => () => void, stops: (() => void)[]): Promise<void> {
  return new Promise((resolve) => stops.push(endsBy(resolve)));
}

/** Of many streams that open at once, not all look at once. */
function soonerThan(ms: number): number {
  return ms * (0.75 + Math.random() / 4);
}

/** Calls `look` again and again. Returns what stops it. */
function repeating(ms: () => number, look: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isStopped = false;
  const wait = (): void => {
    // A timer may fire a fraction of a millisecond early.
    timer = setTimeout(act, Math.ceil(ms()));
    unrefTimer(timer);
  };
  const act = (): void => {
    look();
    if (!isStopped) wait();
  };
  wait();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** What looks whether something is valid, one look at a time, and calls `lapse` where it is not. */
function looking(check: () => boolean | Promise<boolean>, lapse: () => void): () => void {
  let missed = 0;
  let isLooking = false;
  const look = async (): Promise<void> => {
    try {
      if (!(await check())) return lapse();
      missed = 0;
    } catch {
      warn("what keeps a stream or a socket open could not be checked again");
    } finally {
      isLooking = false;
    }
  };
  return () => {
    if (++missed > maxMissed) return lapse();
    if (isLooking) return;
    isLooking = true;
    inBackground(look());
  };
}

function warn(message: string): void {
  log({ level: "warn", source: "framework.http", message, fields: {}, context: current() });
}

/** What is open in this process, by the credential that opened it. */
export class OpenByCredential {
  readonly #ends = new Map<string, Set<() => void>>();

  /** Calls `end` where the credential of a key is ended here, until the returned function is called. */
  listen(key: string, end: () => void): () => void {
    const ends = this.#ends.get(key) ?? new Set();
    this.#ends.set(key, ends.add(end));
    return () => {
      ends.delete(end);
      if (ends.size === 0 && this.#ends.get(key) === ends) this.#ends.delete(key);
    };
  }

  /** Ends what the credential opened. */
  end(key: string): void {
    for (const end of this.#ends.get(key) ?? []) end();
  }
}
