import { figures } from "../telemetry/measure.ts";

/** A request that holds bytes of its body. */
export interface BodyHolding {
  /** Bytes it holds, counted in the budget. */
  heldBytes: number;
  /** Its index in the list of the budget, which sets it. */
  holderIndex: number;
  /** The network of its client, which has one share; undefined where no address is known. It never changes. */
  readonly network: string | undefined;
}

/**
 * Bytes of bodies held at once, by all requests of an app and by one client. Bytes are counted per client only while the
 * total is more than one share: asking a runtime for an address costs a request up to 500 ns. Bytes received before that are
 * in no client's count, so a client holds two shares at most.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #share: number;
  #heldBytes = 0;
  /** In no order. A `Set` that each body enters and leaves costs it 0.5 µs on Deno. */
  readonly #holders: BodyHolding[] = [];
  /** Bytes held, by network; undefined while they are not counted. */
  #counts: Map<string, number> | undefined = undefined;
  /** How many more bodies are released before counting per client stops, while the total is small. */
  #keptFor = 0;

  /** @param share The most bytes that one client may hold. */
  constructor(limit: number, share: number) {
    this.#limit = limit;
    this.#share = share;
  }

  hasRoom(holding: BodyHolding, bytes: number): boolean {
    const held = this.#heldBytes + bytes;
    if (held > this.#limit) return false;
    if (held <= this.#share) return true;
    const { network } = holding;
    return network === undefined || (this.#counted().get(network) ?? 0) + bytes <= this.#share;
  }

  /** Takes room for bytes that arrived; false if there is no room. */
  take(holding: BodyHolding, bytes: number): boolean {
    if (!this.hasRoom(holding, bytes)) return false;
    if (holding.heldBytes === 0 && bytes > 0) holding.holderIndex = this.#holders.push(holding) - 1;
    this.#add(holding, bytes);
    return true;
  }

  give(holding: BodyHolding, bytes: number): void {
    this.#add(holding, -bytes);
    if (holding.heldBytes === 0 && bytes > 0) {
      // The last one takes its place.
      const last = this.#holders.pop() as BodyHolding;
      if (last !== holding) this.#holders[holding.holderIndex] = last;
      last.holderIndex = holding.holderIndex;
    }
    if (this.#counts !== undefined && this.#heldBytes <= this.#share && --this.#keptFor < 0) this.#counts = undefined;
  }

  #add(holding: BodyHolding, bytes: number): void {
    holding.heldBytes += bytes;
    this.#heldBytes += bytes;
    figures.bodyBytes += bytes;
    if (this.#counts !== undefined) count(this.#counts, holding.network, bytes);
  }

  #counted(): ReadonlyMap<string, number> {
    if (this.#counts !== undefined) return this.#counts;
    const counts = new Map<string, number>();
    for (const { network, heldBytes } of this.#holders) count(counts, network, heldBytes);
    this.#counts = counts;
    // Counting took one step for each holder, so as many are released before counting may start again.
    this.#keptFor = this.#holders.length;
    return counts;
  }
}

function count(counts: Map<string, number>, network: string | undefined, bytes: number): void {
  if (network === undefined) return;
  const held = (counts.get(network) ?? 0) + bytes;
  if (held === 0) counts.delete(network);
  else counts.set(network, held);
}
