import type { OnError } from "usher-http";

/**
 * Prints an error with its message. A log line has only its stack, because a message may quote what a client sent.
 * `.env` turns this on for development. In production, this is the place to call an error tracker.
 */
export const onError: OnError = (error) => {
  if (process.env["SHOW_ERRORS"] === "true") console.error(error);
};
