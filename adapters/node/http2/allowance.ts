interface Frequency {
  /** How many at once. */
  readonly burst: number;
  readonly perSecond: number;
}

/** What the client of one connection may do. */
export const limits: {
  readonly [what in "streams" | "handlers" | "invalidFrames"]: number;
} & { readonly [what in "resets" | "control"]: Frequency } = {
  /** Streams at once (RFC 9113 §5.1.2). */
  streams: 100,
  /** Handlers at once: a stream that was reset is none of the above, and its handler still runs (CVE-2023-44487). */
  handlers: 200,
  /** Streams that end before they are answered. */
  resets: { burst: 500, perSecond: 33 },
  /** PING and SETTINGS frames, each of which is answered (CVE-2019-9512, CVE-2019-9515). */
  control: { burst: 500, perSecond: 20 },
  /** Frames that are against the protocol, and empty DATA frames (CVE-2019-9518). */
  invalidFrames: 100,
};

/** How often something may still happen. It fills again as time goes by. */
export class Allowance {
  readonly #rate: Frequency;
  #left: number;
  #at: number | undefined = undefined;

  constructor(rate: Frequency) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  /** Takes one; false where none is left. @param now In milliseconds. */
  takes(now: number): boolean {
    const { burst, perSecond } = this.#rate;
    const passed = now - (this.#at ?? now);
    this.#at = now;
    this.#left = Math.min(burst, this.#left + (passed * perSecond) / 1000) - 1;
    return this.#left >= 0;
  }
}
