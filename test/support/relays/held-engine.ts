import type { RelayEngine, RelayConnection, RelayListener } from "../../../src/events/relay.ts";

/** An engine in memory, with a clock that stands. */
export class HeldEngine implements RelayEngine {
  readonly source = "framework.held";
  readonly channel = "news";
  /** Who listens now. */
  readonly lines = new Set<RelayListener>();
  isAway = false;
  /** Accepts bytes and forwards none, like a half-open connection. */
  isDeaf = false;
  destroyed = 0;
  /** What waits for the engine to take it. */
  held: (() => void)[] | undefined = undefined;
  readonly #due: { readonly at: number; readonly act: () => void }[] = [];
  #now = 0;

  async open(listener: RelayListener): Promise<RelayConnection> {
    if (this.isAway) throw new TypeError("secret");
    this.lines.add(listener);
    return {
      send: async (message) => {
        if (this.held !== undefined) await new Promise<void>((resolve) => this.held?.push(resolve));
        if (!this.lines.has(listener)) throw new Error("it ended");
        if (!this.isDeaf) for (const { received } of this.lines) received(message);
      },
      close: async () => void this.lines.delete(listener),
      destroy: () => {
        this.destroyed++;
        this.lines.delete(listener);
      },
    };
  }

  after(ms: number, act: () => void): () => void {
    const due = { at: this.#now + ms, act };
    this.#due.push(due);
    return () => void this.#due.splice(0, Infinity, ...this.#due.filter((other) => other !== due));
  }

  get waits(): number {
    return this.#due.length;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    for (const end = this.#now + ms; ;) {
      const [next] = this.#due.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) {
        this.#now = end;
        return;
      }
      this.#now = next.at;
      this.#due.splice(this.#due.indexOf(next), 1);
      next.act();
      await new Promise(setImmediate);
    }
  }

  dies(): void {
    const all = [...this.lines];
    this.lines.clear();
    for (const { lost } of all) lost(new RangeError("secret"));
  }
}
