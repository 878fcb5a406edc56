import { figures } from "../measuring/figures.ts";

/** Bytes of bodies held at once, over all requests of an app. */
export class BodyBudget {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes room for bytes that arrived; false where there is none. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false;
    this.#held += bytes;
    figures.bodyBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
    figures.bodyBytes -= bytes;
  }

  get free(): number {
    return this.#limit - this.#held;
  }
}
