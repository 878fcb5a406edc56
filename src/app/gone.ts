import { guarded } from "../logging/last-net.ts";

/** A controller that aborts with a runtime's signal, and by whoever else learns that the client went. */
export function abortingWith(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  else
    signal.addEventListener(
      "abort",
      guarded(undefined, () => controller.abort()),
    );
  return controller;
}
