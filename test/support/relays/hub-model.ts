/** Hubs of several processes over one broker, under random events, and what each subscriber may receive. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import fc from "fast-check";
import { Broadcast, Event } from "usher-http";
import type { Hub, Subscription } from "usher-http";
import type { OpenRelay } from "usher-http/postgres";

/** Where relays have their engine: each process its own way to it. */
export interface World {
  /** The number of checks before an event that did not arrive is published again. */
  readonly patience: number;
  open(member: number): Promise<OpenRelay>;
  cut(member: number): void;
  mend(member: number): void;
  /** The engine takes nothing from that process for a while. */
  stall(member: number): void;
  /** Lets due events happen; stalled connections continue. */
  pass(): Promise<void>;
  /** Waits until it is so. */
  until(what: string, isSo: () => boolean): Promise<void>;
  /** Nothing of a relay is left, here or at the engine. */
  isEmpty(): Promise<boolean>;
}

const members = 3;
const topics = ["a", "b"] as const;
const depth = 16;
const megabyte = 1_048_576;

export type Act =
  | { readonly do: "publish"; readonly member: number; readonly topic: number; readonly size: number }
  /** More than a relay holds back. */
  | { readonly do: "flood"; readonly member: number; readonly topic: number }
  | { readonly do: "subscribe"; readonly member: number; readonly topic: number; readonly isSlow: boolean }
  | { readonly do: "read" | "unsubscribe" | "leave"; readonly which: number }
  | { readonly do: "cut" | "mend" | "stall" | "close"; readonly member: number }
  | { readonly do: "pass" };

const member = fc.nat(members - 1);
const topic = fc.nat(topics.length - 1);
const which = fc.nat(20);

/** Random acts, of which this percentage are floods. */
export function acts(floods: number): fc.Arbitrary<readonly Act[]> {
  const act = fc.oneof(
    {
      weight: 40,
      arbitrary: fc.record({
        do: fc.constant("publish" as const),
        member,
        topic,
        // Past 7,999 bytes PostgreSQL carries it by reference.
        size: fc.constantFrom(0, 0, 0, 3000, 9000),
      }),
    },
    { weight: floods, arbitrary: fc.record({ do: fc.constant("flood" as const), member, topic }) },
    {
      weight: 20,
      arbitrary: fc.record({ do: fc.constant("subscribe" as const), member, topic, isSlow: fc.boolean() }),
    },
    {
      weight: 15,
      arbitrary: fc.record({
        do: fc.constantFrom("read" as const, "read" as const, "unsubscribe" as const, "leave" as const),
        which,
      }),
    },
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constantFrom("cut" as const, "mend" as const, "mend" as const, "stall" as const),
        member,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const), member }) },
    { weight: 12, arbitrary: fc.constant({ do: "pass" as const }) },
  );
  return fc.array(act, { minLength: 1, maxLength: 40, size: "max" });
}

const kind = Event.text("text");

interface Member {
  readonly relay: OpenRelay;
  readonly hub: Hub<typeof kind, number>;
  /** How many it published, by topic. */
  readonly published: number[];
  closing: Promise<void> | undefined;
}

interface Subscriber {
  readonly member: number;
  readonly topic: number;
  readonly isSlow: boolean;
  readonly subscription: Subscription<typeof kind>;
  readonly leaving: AbortController;
  /** How many each process had published before. */
  readonly before: readonly number[];
  /** The numbers that it received, by their publisher. */
  readonly heard: readonly number[][];
  hasLeft: boolean;
  isOver: boolean;
}

export class HubModel {
  readonly #world: World;
  readonly #members: readonly Member[];
  readonly #subscribers: Subscriber[] = [];
  /** Whether nothing was in anybody's way. */
  #isCalm = true;
  #hasFlooded = false;

  private constructor(world: World, all: readonly Member[]) {
    this.#world = world;
    this.#members = all;
  }

  static async open(world: World): Promise<HubModel> {
    const relays = await Promise.all(Array.from({ length: members }, (_, member) => world.open(member)));
    const all = relays.map((relay) => {
      const hub = Broadcast.create<typeof kind, number>({ depth, relay });
      return { relay, hub, published: topics.map(() => 0), closing: undefined };
    });
    return new HubModel(world, all);
  }

  async act(act: Act): Promise<void> {
    if (act.do === "flood") this.#hasFlooded = true;
    if (["flood", "cut", "stall", "close"].includes(act.do)) this.#isCalm = false;
    await this.#do(act);
    // Who reads at once is never behind.
    await new Promise(setImmediate);
  }

  async #do(act: Act): Promise<void> {
    switch (act.do) {
      case "publish":
        return this.#publish(act.member, act.topic, act.size);
      case "flood":
        for (let i = 0; i < depth + 2; i++) this.#publish(act.member, act.topic, megabyte);
        return;
      case "subscribe":
        this.#subscribe(act.member, act.topic, act.isSlow);
        return;
      case "read":
      case "unsubscribe":
      case "leave":
        return this.#atSubscriber(act.do, this.#subscribers[act.which % Math.max(1, this.#subscribers.length)]);
      case "close":
        return this.#close(act.member);
      case "pass":
        return this.#world.pass();
      default:
        return this.#world[act.do](act.member);
    }
  }

  #publish(from: number, topic: number, size: number): void {
    const { hub, published, closing } = this.#member(from);
    if (closing !== undefined) return;
    published[topic] = (published[topic] ?? 0) + 1;
    hub.publish(topics[topic] ?? "", Event.make(kind, `${from} ${topic} ${published[topic]} ${"x".repeat(size)}`));
  }

  #subscribe(member: number, topic: number, isSlow: boolean): Subscriber | undefined {
    const { hub, closing } = this.#member(member);
    if (closing !== undefined) return undefined;
    const subscriber: Subscriber = {
      member,
      topic,
      isSlow,
      subscription: hub.subscribe(topics[topic] ?? "", this.#subscribers.length),
      leaving: new AbortController(),
      before: this.#members.map(({ published }) => published[topic] ?? 0),
      heard: this.#members.map(() => []),
      hasLeft: false,
      isOver: false,
    };
    this.#subscribers.push(subscriber);
    if (!isSlow) void this.#readAll(subscriber);
    return subscriber;
  }

  #atSubscriber(what: "read" | "unsubscribe" | "leave", subscriber: Subscriber | undefined): void {
    if (subscriber !== undefined && what !== "read") subscriber.hasLeft = true;
    if (what === "unsubscribe") subscriber?.subscription.unsubscribe();
    else if (what === "leave") subscriber?.leaving.abort();
    else if (subscriber?.isSlow === true) void this.#read(subscriber);
  }

  /** Whether there was one. */
  async #read(subscriber: Subscriber): Promise<boolean> {
    const event = await subscriber.subscription.next({ until: subscriber.leaving.signal });
    const [, from, topic, n] = /^data: (\d) (\d) (\d+) /m.exec(event?.wire ?? "") ?? [];
    if (event === undefined) subscriber.isOver = true;
    else assert.equal(Number(topic), subscriber.topic);
    if (event !== undefined) subscriber.heard[Number(from)]?.push(Number(n));
    return event !== undefined;
  }

  async #readAll(subscriber: Subscriber): Promise<void> {
    while (await this.#read(subscriber));
  }

  #close(member: number): void {
    const one = this.#member(member);
    one.hub.close();
    one.closing ??= one.relay.close();
  }

  #member(member: number): Member {
    return this.#members[member] as Member;
  }

  /** Everything is repaired: each subscriber has received every event, and a client with a gap is not subscribed. */
  async ends(): Promise<void> {
    const world = this.#world;
    for (let member = 0; member < members; member++) world.mend(member);
    await world.pass();
    for (const subscriber of this.#subscribers) if (subscriber.isSlow) void this.#readAll(subscriber);
    await this.#areServed();
    // By now each has received its gap, so that a client that is still subscribed has missed nothing.
    for (const one of this.#subscribers) if (!one.isOver) await this.#hasAll(one);
    for (const one of this.#subscribers) this.#isWhole(one);
    if (this.#isCalm)
      assert.deepEqual(
        this.#subscribers.filter((one) => one.isOver && !one.hasLeft && !one.isSlow),
        [],
      );
    for (let member = 0; member < members; member++) this.#close(member);
    for (const { closing } of this.#members) await closing;
    for (const { hub } of this.#members) assert.deepEqual(hub.topics(), []);
    await world.until("every subscription is over", () => this.#subscribers.every(({ isOver }) => isOver));
    assert.deepEqual(
      this.#subscribers.flatMap(({ leaving }) => getEventListeners(leaving.signal, "abort")),
      [],
    );
    assert.equal(await world.isEmpty(), true);
  }

  /** A later subscriber receives the events that each open one then publishes, nearly as many as a relay buffers. */
  async #areServed(): Promise<void> {
    const open = this.#members.flatMap(({ closing }, member) => (closing === undefined ? [member] : []));
    for (const there of open) {
      for (const here of open) {
        let asked = 0;
        let last: Subscriber | undefined;
        await this.#world.until(`member ${here} hears member ${there}`, () => {
          if ((last?.heard[there]?.length ?? 0) > 0) return true;
          // After a gap it subscribes again, and events that it did not receive are published again.
          if (last === undefined || last.isOver || ++asked % this.#world.patience === 0) {
            if (last === undefined || last.isOver) last = this.#subscribe(here, 0, false);
            this.#publish(there, 0, this.#hasFlooded && here !== there ? 15 * megabyte : 0);
          }
          return false;
        });
      }
    }
    for (const from of open) topics.forEach((_, topic) => this.#publish(from, topic, 0));
  }

  async #hasAll(one: Subscriber): Promise<void> {
    await this.#world.until("who is subscribed has heard all", () => {
      const isLast = ({ published, closing }: Member, from: number): boolean =>
        closing !== undefined || one.heard[from]?.at(-1) === published[one.topic];
      return one.isOver || this.#members.every(isLast);
    });
  }

  /** In its order, each once, and none left out. */
  #isWhole({ heard, member, before }: Subscriber): void {
    heard.forEach((numbers, from) => {
      const next = (before[from] ?? 0) + 1;
      // It may receive events of another process that were in transit.
      const first = from === member ? next : Math.min(numbers[0] ?? next, next);
      assert.deepEqual(
        numbers,
        numbers.map((_, i) => first + i),
        `what member ${member} heard of ${from}`,
      );
    });
  }
}
