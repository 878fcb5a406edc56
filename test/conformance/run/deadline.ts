import type { RawClient } from "../../support/raw-client.ts";

/** Far longer than anything here takes: bytes that have not arrived by then never arrive. */
export const patienceMs = 30_000;
/**
 * For events that are known not to occur: a machine so slow that one occurs later is not noticed by a test.
 */
export const shortPatienceMs = 1500;
/** The failure of a case in which nothing more arrives. */
export const nothingCame = "nothing came any more";

/**
 * Runs the steps with these clients, and ends the clients when nothing more arrives. A case that waits
 * for what never arrives is reported as that, and does not delay the rest.
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
    // Bytes that arrived because the client was ended did not arrive by themselves.
    if (!isLate) return came;
    throw new Error("not even the end of it");
  } catch (error) {
    throw isLate ? new Error(`${nothingCame}: ${(error as Error).message}`) : error;
  } finally {
    clearTimeout(timer);
    for (const client of clients()) client.leave();
  }
}

/** The expected bytes, and their client. */
export async function soon<A>(patienceMs: number, what: string, coming: Promise<A>): Promise<A> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${nothingCame}: no ${what}`)), patienceMs);
  });
  return Promise.race([coming, late]).finally(() => clearTimeout(timer));
}
