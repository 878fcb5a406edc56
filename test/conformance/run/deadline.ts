import type { RawClient } from "../../support/raw-client.ts";

/** Far longer than anything here takes: what is not there by then does not come. */
export const patienceMs = 30_000;
/**
 * For what is known not to come: a machine so slow that it would have come later is not told by a test that fails.
 */
export const shortPatienceMs = 1500;
/** How a case fails in which nothing comes. */
export const nothingCame = "nothing came any more";

/**
 * Runs what talks to a server by these clients, and ends it with them where nothing comes any more. A case that waits
 * for what never comes is told as that, and does not hold up the rest.
 */
export async function withinDeadline<A>(
  patienceMs: number,
  clients: () => Iterable<RawClient>,
  run: () => Promise<A>,
): Promise<A> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    for (const client of clients()) client.leave();
  }, patienceMs);
  try {
    const came = await run();
    // What came because its client was taken away did not come by itself.
    if (!isLate) return came;
    throw new Error("not even the end of it");
  } catch (error) {
    throw isLate ? new Error(`${nothingCame}: ${(error as Error).message}`) : error;
  } finally {
    clearTimeout(timer);
    for (const client of clients()) client.leave();
  }
}

/** What must come, and of no client. */
export async function soon<A>(patienceMs: number, what: string, coming: Promise<A>): Promise<A> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${nothingCame}: no ${what}`)), patienceMs);
  });
  return Promise.race([coming, late]).finally(() => clearTimeout(timer));
}
