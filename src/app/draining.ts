const everyMs = 10;

/** Waits until something is so, and for `ms` at the most; true where it came to be. */
export async function until(isSo: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (!isSo()) {
    const left = end - performance.now();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, Math.min(everyMs, left));
    });
  }
  return true;
}
