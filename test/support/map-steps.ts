/** Counts the steps of `Map`s, which do not depend on the speed of a machine. */

/** How often each method of `Map`, and of its iterators, is called while `run` runs. */
export async function mapSteps(run: () => unknown): Promise<{ readonly lookUps: number; readonly walks: number }> {
  const counts = { lookUps: 0, walks: 0 };
  const iterator = Object.getPrototypeOf(new Map().keys()) as object;
  const restore = [
    ...(["get", "has", "set", "delete"] as const).map((name) => counted(Map.prototype, name, () => counts.lookUps++)),
    ...(["keys", "values", "entries", "forEach", Symbol.iterator] as const).map((name) =>
      counted(Map.prototype, name, () => counts.walks++),
    ),
    counted(iterator, "next", () => counts.walks++),
  ];
  try {
    await run();
  } finally {
    for (const undo of restore) undo();
  }
  return counts;
}

function counted(owner: object, name: string | symbol, count: () => void): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name) as PropertyDescriptor;
  const method = descriptor.value as (...given: unknown[]) => unknown;
  Object.defineProperty(owner, name, {
    ...descriptor,
    value(this: unknown, ...given: unknown[]) {
      count();
      return method.apply(this, given);
    },
  });
  return () => Object.defineProperty(owner, name, descriptor);
}
