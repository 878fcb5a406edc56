/** Longer than any test runs: a stop that is over before has waited for the handlers, and for nothing else. */
export const drainMs = 600_000;
