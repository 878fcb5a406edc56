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

/** A server's end: it comes once, however often it is asked for, and can be waited for by whoever did not ask. */
export class Stopping {
  readonly stopped: Promise<number>;
  readonly #end: () => void;
  #begun = false;

  constructor(stop: () => Promise<number>) {
    let end = (): void => {};
    this.stopped = new Promise((resolve) => {
      end = () => resolve(stop());
    });
    this.#end = end;
  }

  begin(): Promise<number> {
    if (!this.#begun) this.#end();
    this.#begun = true;
    return this.stopped;
  }
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
