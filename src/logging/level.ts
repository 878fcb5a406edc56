/** `error` is a bug, `warn` handled but degraded, `info` what happened, `debug` how. */
export type Level = "error" | "warn" | "info" | "debug";

const ranks: { readonly [L in Level]: number } = { error: 0, warn: 1, info: 2, debug: 3 };

/** Whether a line of this level is written where `threshold` is set; undefined turns a source off. */
export function passes(level: Level, threshold: Level | undefined): boolean {
  return threshold !== undefined && ranks[level] <= ranks[threshold];
}
