import { current } from "../logging/context.ts";
import type { LogContext } from "../logging/entry.ts";

/** The pools of which a request holds a connection until its end, by the context of the request. */
const held = new WeakMap<LogContext, object[]>();

/**
 * Notes that the running request holds a connection of a pool until it ends: its handler does not run inside of the pool's own call,
 * so the pool cannot see that. The function that it returns is called when the connection is free.
 */
export function holdUntilEnd(pool: object): () => void {
  const context = current();
  if (context === undefined) return () => {};
  const pools = held.get(context) ?? [];
  held.set(context, [...pools, pool]);
  return () => {
    const left = (held.get(context) ?? []).slice();
    left.splice(left.indexOf(pool), 1);
    held.set(context, left);
  };
}

/** Whether the running request holds a connection of the pool until it ends. */
export function isHeldUntilEnd(pool: object): boolean {
  const context = current();
  return context !== undefined && held.get(context)?.includes(pool) === true;
}
