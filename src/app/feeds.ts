import type { Streaming } from "./streaming.ts";

/** The streams of events that are being sent, which end when the server or its app stops. */
export class Feeds {
  readonly #open = new Set<Streaming>();
  /** One that begins from now on was asked for before, and ends at once. */
  hasEnded = false;

  add(feed: Streaming): void {
    this.#open.add(feed);
  }

  remove(feed: Streaming): void {
    this.#open.delete(feed);
  }

  end(): void {
    this.hasEnded = true;
    for (const feed of this.#open) feed.end("connection closed");
  }
}
