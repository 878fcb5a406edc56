import type { Refusal } from "./refusal.ts";

/** An error that knows what it is answered with where nobody handles it; its message goes to the log as the detail. */
export abstract class RefusingError extends Error {
  abstract readonly refusal: Refusal;
}
