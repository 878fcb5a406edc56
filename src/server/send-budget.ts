import { OldestFirst } from "../oldest-first.ts";

/** A client, as the budget sees it: a connection, or a stream of HTTP/2. */
export interface Recipient {
  /** Its client network, which has one share; undefined where no address is known. Read when bytes begin to wait. */
  readonly network: string | undefined;
  /** A number that grows with each byte that its system takes; undefined where the runtime does not tell. */
  readonly taken: number | undefined;
  /** Ends it, for too many bytes wait. */
  cut(): void;
}

/** The limits of a budget, in bytes. */
export interface SendLimits {
  /** For all clients. */
  readonly sendBudget: number;
  /** For the clients of one network. */
  readonly sendShare: number;
}

/**
 * What waits for a client.
 *
 *   idle     nothing
 *   waiting  bytes that its system has not taken: since `since` it has taken none of them, as far as was looked
 *   over     nothing any more: it has gone, or was cut
 */
type UnsentState =
  | { readonly at: "idle" }
  | {
      readonly at: "waiting";
      bytes: number;
      taken: number | undefined;
      since: number;
      readonly network: NetworkUnsent | undefined;
    }
  | { readonly at: "over" };

const idle: UnsentState = { at: "idle" };
const over: UnsentState = { at: "over" };

/** What waits for the clients of one network. */
interface NetworkUnsent {
  readonly name: string;
  bytes: number;
  /** Those of `bytes` that were held. */
  held: number;
  readonly waiting: OldestFirst<Unsent>;
}

/** Bytes that a runtime holds until their client has taken them or has gone: nothing else frees them. */
export interface HeldBytes {
  /** They are freed. Called once. */
  free(): void;
}

/** Why a client is disconnected: too many bytes wait for clients, or it takes its own too slowly. */
export type SendCut = "past budget" | "slow";

/** How long a client must have taken nothing before it is cut for the share of its network alone. */
const leastMuteMs = 1000;

/**
 * The bytes that wait to be sent, of all clients of a server. Where they are too many, the client that has taken none for the
 * longest time is cut. A single client is never cut: its answer is the application's, whatever its length.
 */
export class SendBudget {
  readonly #limits: SendLimits;
  readonly #clock: { readonly now: number };
  readonly #onCut: (why: SendCut) => void;
  /** All clients with bytes that wait. The one that has taken none for the longest time is first. */
  readonly #waiting = new OldestFirst<Unsent>();
  readonly #networks = new Map<string, NetworkUnsent>();
  #bytes = 0;
  /** Those of `#bytes` that were held. */
  #held = 0;
  #made = 0;

  /**
   * @param clock The time in milliseconds, which may be half a second old.
   * @param onCut Called for each client that is cut, and for each for which `slow` is called.
   */
  constructor(limits: SendLimits, clock: { readonly now: number }, onCut: (why: SendCut) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onCut = onCut;
  }

  /** The bytes that wait now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so little waits that a runtime may get long parts, of which a cut does not free the one that it holds. */
  get isRoomy(): boolean {
    return this.#bytes <= this.#limits.sendBudget / 8;
  }

  /** Begins to count what waits for a client. */
  of(recipient: Recipient): Unsent {
    return new Unsent(this, recipient, String(++this.#made));
  }

  /**
   * Counts bytes that no cut would free. They have half of each limit, so that the rest is left for bytes that a cut frees. A response that
   * alone is longer than that has it all.
   *
   * @param name The client network.
   * @returns Undefined where they have no room.
   */
  hold(length: number, name: string | undefined): HeldBytes | undefined {
    const { sendBudget, sendShare } = this.#limits;
    const bytes = Math.min(length, sendBudget / 2);
    const ofNetwork = name === undefined ? 0 : (this.#networks.get(name)?.held ?? 0);
    if (this.#held + bytes > sendBudget / 2 || (ofNetwork > 0 && ofNetwork + bytes > sendShare / 2)) return undefined;
    const network = this.#networkOf(name);
    const held = (more: number): void => {
      this.#held += more;
      if (network !== undefined) network.held += more;
      this.add(more, network);
    };
    held(bytes);
    return {
      free: () => {
        held(-bytes);
        this.#forget(network);
      },
    };
  }

  /** The time in milliseconds. */
  get now(): number {
    return this.#clock.now;
  }

  /** Bytes begin to wait: it is the last one to be cut. */
  enter(unsent: Unsent, name: string | undefined): NetworkUnsent | undefined {
    const network = this.#networkOf(name);
    this.moved(unsent, network);
    return network;
  }

  /** No byte waits any more. */
  leave(unsent: Unsent, network: NetworkUnsent | undefined): void {
    this.#waiting.delete(unsent.key);
    network?.waiting.delete(unsent.key);
    this.#forget(network);
  }

  #networkOf(name: string | undefined): NetworkUnsent | undefined {
    if (name === undefined) return undefined;
    let network = this.#networks.get(name);
    if (network === undefined)
      this.#networks.set(name, (network = { name, bytes: 0, held: 0, waiting: new OldestFirst() }));
    return network;
  }

  /** Forgets a network for which no bytes wait. */
  #forget(network: NetworkUnsent | undefined): void {
    if (network?.waiting.size === 0 && network.held === 0) this.#networks.delete(network.name);
  }

  /** A client has taken some: it is the last one to be cut. Returns the time. */
  moved(unsent: Unsent, network: NetworkUnsent | undefined): number {
    this.#waiting.set(unsent.key, unsent);
    network?.waiting.set(unsent.key, unsent);
    return this.#clock.now;
  }

  add(bytes: number, network: NetworkUnsent | undefined): void {
    this.#bytes += bytes;
    if (network !== undefined) network.bytes += bytes;
    if (bytes > 0) this.#enforce(network);
  }

  #enforce(network: NetworkUnsent | undefined): void {
    const { sendBudget, sendShare } = this.#limits;
    const isOverShare = (): boolean => network !== undefined && network.bytes > sendShare;
    while (isOverShare()) {
      const mute = this.#mute(network?.waiting);
      if (mute === undefined) break;
      this.#cut(mute);
    }
    while (this.#bytes > sendBudget && this.#waiting.size > 1) {
      // A network over its share pays first; but no client that takes its bytes is cut while one takes nothing.
      const own = isOverShare() ? network?.waiting : undefined;
      const chosen = this.#mute(own) ?? this.#mute(this.#waiting) ?? own?.oldest ?? this.#waiting.oldest;
      if (chosen === undefined) return;
      this.#cut(chosen);
    }
  }

  /** The one that has taken nothing for the longest time, and for long enough to tell; undefined where there is none. */
  #mute(waiting: OldestFirst<Unsent> | undefined): Unsent | undefined {
    if (waiting === undefined || waiting.size < 2) return undefined;
    const before = this.#clock.now - leastMuteMs;
    for (let left = waiting.size; left > 0; left--) {
      const oldest = waiting.oldest as Unsent;
      // Those that are found to take bytes go to the end, so that each is looked at once.
      if (!oldest.look()) return oldest.since <= before ? oldest : undefined;
    }
    return undefined;
  }

  #cut(unsent: Unsent): void {
    this.#onCut("past budget");
    unsent.cut();
  }

  /** Counts a client that is disconnected because it takes fewer bytes than `minSendRate`. */
  slow(): void {
    this.#onCut("slow");
  }
}

/** What waits for one client. */
export class Unsent {
  /** Its name in the lists of the budget. */
  readonly key: string;
  readonly #budget: SendBudget;
  readonly #recipient: Recipient;
  #state: UnsentState = idle;

  constructor(budget: SendBudget, recipient: Recipient, key: string) {
    this.#budget = budget;
    this.#recipient = recipient;
    this.key = key;
  }

  /** The bytes that wait. */
  get bytes(): number {
    return this.#state.at === "waiting" ? this.#state.bytes : 0;
  }

  /** Since when it is known to have taken nothing. */
  get since(): number {
    return this.#state.at === "waiting" ? this.#state.since : Number.POSITIVE_INFINITY;
  }

  /** Sets how many bytes wait now. It may be cut for them, before this returns. */
  wait(bytes: number): void {
    const state = this.#state;
    if (state.at === "over") return;
    if (state.at === "idle") {
      if (bytes === 0) return;
      const { network: name, taken } = this.#recipient;
      const network = this.#budget.enter(this, name);
      this.#state = { at: "waiting", bytes, taken, since: this.#budget.now, network };
      this.#budget.add(bytes, network);
    } else if (bytes === 0) this.#leave(idle);
    else {
      const more = bytes - state.bytes;
      state.bytes = bytes;
      if (more < 0) state.since = this.#budget.moved(this, state.network);
      if (more !== 0) this.#budget.add(more, state.network);
    }
  }

  /** Its client has gone: nothing waits from now on. */
  end(): void {
    this.#leave(over);
  }

  /** Looks whether it has taken bytes since the last look. */
  look(): boolean {
    const state = this.#state;
    if (state.at !== "waiting") return false;
    const { taken } = this.#recipient;
    if (taken === state.taken) return false;
    state.taken = taken;
    state.since = this.#budget.moved(this, state.network);
    return true;
  }

  cut(): void {
    this.#leave(over);
    this.#recipient.cut();
  }

  #leave(next: UnsentState): void {
    const state = this.#state;
    if (state.at === "over") return;
    this.#state = next;
    if (state.at !== "waiting") return;
    this.#budget.leave(this, state.network);
    this.#budget.add(-state.bytes, state.network);
  }
}
