/**
 * Whether a value is awaited: a promise, of another realm too (`vm`, Jest), or what acts like one, as some query builders do. To
 * ask a value for its `then` may throw.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === "function";
}
