/** What waits to be sent, of all clients: who is cut where it is too much. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SendBudget } from "../../src/server/send-budget.ts";
import type { HeldBytes, Recipient, Unsent } from "../../src/server/send-budget.ts";
import { rounds } from "../support/wide.ts";

/** A client that takes as many bytes as the test gives. */
class Client implements Recipient {
  readonly network: string | undefined;
  readonly unsent: Unsent;
  readonly #onCut: (client: Client) => void;
  taken = 0;
  left = 0;
  /** When it last took bytes, or they began to wait. */
  since = 0;
  hasTaken = false;
  isOver = false;

  constructor(budget: SendBudget, network: string | undefined, onCut: (client: Client) => void = () => {}) {
    this.network = network;
    this.#onCut = onCut;
    this.unsent = budget.of(this);
  }

  answer(bytes: number, now: number): void {
    if (this.isOver) return;
    if (this.left === 0) this.since = now;
    this.left += bytes;
    this.unsent.wait(this.left);
  }

  /** Its system takes some: the budget learns it once all is taken. */
  take(bytes: number, now: number): void {
    const taken = Math.min(bytes, this.left);
    if (taken === 0 || this.isOver) return;
    this.left -= taken;
    this.taken += taken;
    this.since = now;
    this.hasTaken = true;
    if (this.left === 0) this.unsent.wait(0);
  }

  leave(): void {
    this.isOver = true;
    this.left = 0;
    this.unsent.end();
  }

  cut(): void {
    this.#onCut(this);
    this.isOver = true;
    this.left = 0;
  }
}

/** A budget of 100 bytes, with 40 for a network, and its clock. */
function budgetOf(sendBudget = 100, sendShare = 40) {
  const clock = { now: 0 };
  let cut = 0;
  const budget = new SendBudget({ sendBudget, sendShare }, clock, () => cut++);
  return { budget, clock, cuts: () => cut, client: (network?: string) => new Client(budget, network) };
}

describe("the budget of bytes that wait: who is cut", () => {
  it("is the client that has taken nothing for the longest time, by one new byte past the budget", () => {
    const { budget, clock, client, cuts } = budgetOf();
    const [first, second, third] = [client(), client(), client()];
    first.answer(50, clock.now);
    clock.now += 1000;
    second.answer(50, clock.now);
    expect(cuts()).toBe(0);
    clock.now += 1000;
    third.answer(1, clock.now);
    expect([first.isOver, second.isOver, third.isOver, budget.bytes, cuts()]).toEqual([true, false, false, 51, 1]);
  });

  it("is not one that takes its bytes slowly, though its answer is older", () => {
    const { clock, client } = budgetOf();
    const [slow, mute, next] = [client(), client(), client()];
    slow.answer(50, clock.now);
    clock.now += 500;
    mute.answer(50, clock.now);
    clock.now += 1000;
    slow.take(1, clock.now);
    next.answer(10, clock.now);
    expect([slow.isOver, mute.isOver]).toEqual([false, true]);
  });

  it("is not one client that alone has more than the budget: the answer is the application's", () => {
    const { budget, client, clock } = budgetOf();
    const only = client("a");
    only.answer(1000, clock.now);
    expect([only.isOver, budget.bytes]).toEqual([false, 1000]);
  });

  it("is one of the network past its share, after a second, and none of another network", () => {
    const { clock, client } = budgetOf();
    const [other, first, second, third] = [client("b"), client("a"), client("a"), client("a")];
    other.answer(30, clock.now);
    first.answer(30, clock.now);
    second.answer(30, clock.now);
    expect([first.isOver, second.isOver]).toEqual([false, false]);
    clock.now += 1000;
    third.answer(1, clock.now);
    expect([other.isOver, first.isOver, second.isOver, third.isOver]).toEqual([false, true, false, false]);
  });

  it("is at once one of the network past its share, where the whole budget is used up", () => {
    const { clock, client } = budgetOf();
    const [other, first, second, third] = [client("b"), client("a"), client("a"), client("a")];
    other.answer(30, clock.now);
    first.answer(30, clock.now);
    second.answer(30, clock.now);
    third.answer(30, clock.now);
    expect([other.isOver, first.isOver, second.isOver, third.isOver]).toEqual([false, true, false, false]);
  });

  it("has no share where no address is known", () => {
    const { clock, client, cuts } = budgetOf();
    for (let i = 0; i < 4; i++) client().answer(25, clock.now);
    expect(cuts()).toBe(0);
  });
});

describe("the budget of bytes that wait: what ends", () => {
  it.each(["leave", "cut"] as const)("counts nothing after its client's end: %s", (how) => {
    const { budget, clock, client } = budgetOf();
    const gone = client("a");
    gone.answer(50, clock.now);
    if (how === "leave") gone.leave();
    else gone.unsent.cut();
    expect(budget.bytes).toBe(0);
    gone.unsent.wait(70);
    gone.unsent.end();
    expect([budget.bytes, gone.unsent.bytes]).toEqual([0, 0]);
  });

  it("keeps no network whose clients have taken everything", () => {
    const { budget, clock, client, cuts } = budgetOf();
    for (let i = 0; i < 100; i++) {
      const one = client("a");
      one.answer(39, clock.now);
      clock.now += 2000;
      one.take(39, clock.now);
    }
    expect([budget.bytes, cuts()]).toEqual([0, 0]);
  });
});

describe("the budget of bytes that wait: those that are held, which no cut frees", () => {
  it("have half of the budget, and half of the share of their network", () => {
    const { budget } = budgetOf();
    expect([budget.hold(10, "a"), budget.hold(10, "a"), budget.hold(1, "a")].map(Boolean)).toEqual([true, true, false]);
    expect([budget.hold(20, "b"), budget.hold(11, "c"), budget.hold(10, "c")].map(Boolean)).toEqual([
      true,
      false,
      true,
    ]);
    expect([budget.hold(1, undefined), budget.bytes]).toEqual([undefined, 50]);
  });

  it("have room for one response that alone is longer, which counts as that half", () => {
    const { budget } = budgetOf();
    const alone = budget.hold(1000, "a");
    expect([budget.bytes, budget.hold(1, "b")]).toEqual([50, undefined]);
    alone?.free();
    expect([budget.bytes, budget.hold(1, "b") === undefined]).toEqual([0, false]);
  });

  it("have clients cut that read nothing, where both together are past the budget", () => {
    const { budget, clock, client, cuts } = budgetOf();
    const [first, second] = [client(), client()];
    first.answer(30, clock.now);
    second.answer(40, clock.now);
    budget.hold(50, "a");
    expect([first.isOver, second.isOver, budget.bytes, cuts()]).toEqual([true, false, 90, 1]);
  });
});

type Step =
  | { readonly do: "answer"; readonly who: number; readonly bytes: number }
  | { readonly do: "take"; readonly who: number; readonly bytes: number }
  | { readonly do: "leave"; readonly who: number }
  | { readonly do: "hold"; readonly who: number; readonly bytes: number }
  | { readonly do: "free" }
  | { readonly do: "pass"; readonly ms: number };

const limits = { sendBudget: 1000, sendShare: 300 };
const networks = ["a", "b", "c", undefined];
/** Of twelve clients the first four are healthy: after each step they take a part of what waits for them. */
const healthy = 4;

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("answer" as const), who: fc.nat(11), bytes: fc.integer({ min: 1, max: 200 }) }),
    fc.record({ do: fc.constant("take" as const), who: fc.nat(11), bytes: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ do: fc.constant("leave" as const), who: fc.nat(11) }),
    fc.record({ do: fc.constant("hold" as const), who: fc.nat(11), bytes: fc.integer({ min: 1, max: 600 }) }),
    fc.record({ do: fc.constant("free" as const) }),
    fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 100, max: 900 }) }),
  ),
  { minLength: 1, maxLength: 120 },
);

/** Plays steps. A client that has gone is replaced by a new one, as clients come all the time. */
function play(sequence: readonly Step[]): void {
  const clock = { now: 0 };
  const budget = new SendBudget(limits, clock, () => {});
  const waiting = (): readonly Client[] => clients.filter(({ left }) => left > 0);
  const onCut = (cut: Client): void => {
    // One that takes its bytes is cut only where none is left that has taken nothing for a second.
    const isHealthy = clock.now - cut.since < 1000;
    const mute = waiting().filter((other) => other !== cut && !other.hasTaken && clock.now - other.since >= 1000);
    if (isHealthy && mute.length > 0) throw new Error("a client that takes its bytes was cut in place of a mute one");
    if (waiting().length < 2) throw new Error("the only client was cut");
  };
  const make = (i: number): Client => new Client(budget, networks[i % networks.length], onCut);
  const clients = Array.from({ length: 12 }, (_, i) => make(i));
  const holds: { readonly bytes: number; readonly held: HeldBytes }[] = [];
  for (const step of sequence) {
    if (step.do === "pass") clock.now += step.ms;
    else if (step.do === "hold") {
      const held = budget.hold(step.bytes, networks[step.who % networks.length]);
      if (held !== undefined) holds.push({ bytes: Math.min(step.bytes, limits.sendBudget / 2), held });
    } else if (step.do === "free") holds.shift()?.held.free();
    else {
      const client = clients[step.who] as Client;
      if (step.do === "answer") client.answer(step.bytes, clock.now);
      else if (step.do === "leave") client.leave();
      else if (step.who < healthy) client.take(step.bytes, clock.now);
      else if (step.bytes > 250) client.take(1, clock.now);
    }
    for (const client of clients.slice(0, healthy)) client.take(20, clock.now);
    clients.forEach((client, i) => {
      if (client.isOver) clients[i] = make(i);
    });
    const heldBytes = holds.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(heldBytes).toBeLessThanOrEqual(limits.sendBudget / 2);
    const sum = clients.reduce((bytes, { unsent }) => bytes + unsent.bytes, 0);
    expect(budget.bytes).toBe(sum + heldBytes);
    if (waiting().length > 1) expect(budget.bytes).toBeLessThanOrEqual(limits.sendBudget);
  }
}

describe("the budget of bytes that wait: any sequence", () => {
  it("keeps to the budget, and cuts no client that takes its bytes in place of a mute one", () => {
    fc.assert(fc.property(steps, play), { numRuns: rounds(3000) });
  });
});
