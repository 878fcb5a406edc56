import type { App } from "../app/app.ts";

/**
 * Waits for what no request waits for, at most `ms`: tasks after answers, and work of the application's own. A task may start such
 * work, and that may call the app.
 *
 * @returns How many requests have tasks that have not ended.
 */
export async function settled(
  { settled, background }: Pick<App, "settled" | "background">,
  ms: number,
): Promise<number> {
  const end = performance.now() + ms;
  let left = ms;
  let tasks = 0;
  do {
    await Promise.all([settled(left), background?.settled(left)]);
    tasks = await settled(0);
    left = Math.max(0, end - performance.now());
  } while (left > 0 && (tasks > 0 || (background?.running.length ?? 0) > 0));
  return tasks;
}
