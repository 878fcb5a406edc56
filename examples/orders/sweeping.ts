import { Log } from "usher-http";

/** Deletes what has expired once an hour, until the returned function is called. */
export function sweepHourly(what: string, sweep: () => Promise<unknown>): () => void {
  const sweepOnce = async (): Promise<void> => {
    try {
      await sweep();
    } catch {
      // What has expired is invalid anyway; the next run deletes it.
      Log.source("orders").warn(`the ${what} that expired could not be deleted`);
    }
  };
  const sweeping = setInterval(() => void sweepOnce(), 3_600_000);
  return () => clearInterval(sweeping);
}
