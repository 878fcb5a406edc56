/** The one reader of a body on Node: each state and each event, and what each reader gets of any sequence. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArrivingBody } from "../../../adapters/node/arriving-body.ts";
import type { BodyState, BodyUse } from "../../../adapters/node/arriving-body.ts";
import { bodyTooLarge, endedEarly, isFailure, noRoom, tooSlow } from "../../../src/inputs/body-source.ts";
import type { BodyFailure } from "../../../src/inputs/body-source.ts";
import type { Deadline, Deadlines } from "../../../src/server/deadlines.ts";
import { played } from "../../models/seeds.ts";

const limit = 4;
const allowed = 6;
const part = new Uint8Array(3);

/** What a source of parts does, and what the readers of its body got. */
class Source extends ArrivingBody {
  readonly got: string[] = [];
  isOpen = false;
  flows = false;
  hasRoom = true;
  holdsBack = false;
  /** The deadlines, and whether each runs or is paused. */
  readonly deadlines: Map<Deadline, "runs" | "paused">;
  readonly #begin: () => Deadline;
  /** The bytes that gave a deadline more time. */
  credited = 0;

  constructor() {
    const open = new Map<Deadline, "runs" | "paused">();
    const begin = (): Deadline => {
      const deadline: Deadline = {
        arrived: (bytes) => void (this.credited += bytes),
        pause: () => open.set(deadline, "paused"),
        resume: () => open.set(deadline, "runs"),
        restart: () => open.set(deadline, "runs"),
        goOn: () => false,
        clear: () => open.delete(deadline),
      };
      open.set(deadline, "runs");
      return deadline;
    };
    super(undefined, { body: begin, time: begin } as unknown as Deadlines);
    this.#begin = begin;
    this.deadlines = open;
  }

  /** Whether its client is charged for the time that passes. */
  get isCharged(): boolean {
    return [...this.deadlines.values()].includes("runs");
  }

  get at(): BodyState["at"] {
    return this.state.at;
  }

  protected open(use: BodyUse): void {
    this.got.push(...(this.isOpen ? ["opened twice"] : []));
    this.isOpen = true;
    this.flows ||= use === "whole";
  }
  protected resume(): void {
    this.flows = true;
  }
  protected pause(): void {
    this.flows = false;
  }
  protected shut(): void {
    this.got.push(...(this.isOpen ? [] : ["shut twice"]));
    this.isOpen = false;
    this.flows = false;
  }
  protected override get isHeldBack(): boolean {
    return this.holdsBack;
  }

  #gets(read: Uint8Array | BodyFailure | undefined): void {
    this.got.push(isFailure(read) ? read.detail : `${read?.byteLength ?? "end"}`);
  }

  reads(): void {
    void this.read().then((read) => this.#gets(read));
  }
  readsWhole(): void {
    this.whole(limit, { take: () => this.hasRoom, done: (read) => this.#gets(read) });
  }
  drains(): void {
    this.drain(allowed, this.#begin, () => this.got.push("drained"));
  }
}

/** How each state is reached. */
const ways: { readonly [at in BodyState["at"]]: (body: Source) => void } = {
  unread: () => {},
  "between parts": (body) => {
    body.reads();
    body.take(part);
  },
  "awaiting a part": (body) => body.reads(),
  "reading whole": (body) => body.readsWhole(),
  discarding: (body) => body.discard(),
  draining: (body) => body.drains(),
  ended: (body) => {
    body.readsWhole();
    body.end();
  },
  failed: (body) => {
    body.readsWhole();
    body.fail(endedEarly);
  },
  released: (body) => {
    body.reads();
    body.release();
  },
};

const events = {
  read: (body: Source) => body.reads(),
  whole: (body: Source) => body.readsWhole(),
  part: (body: Source) => body.take(part),
  end: (body: Source) => body.end(),
  fail: (body: Source) => body.fail(endedEarly),
  late: (body: Source) => body.expire(),
  release: (body: Source) => body.release(),
};
type What = keyof typeof events;

const whats = Object.keys(events) as What[];
const [early, late, slow] = [endedEarly.detail, "the request was answered before its body was read", tooSlow.detail];

/** Where each event leads, and what is got by it, in the order of `whats`; `-` where nothing changes and nothing is got. */
const table: { readonly [at in BodyState["at"]]: readonly (string | readonly [to: string, got: string])[] } = {
  unread: ["awaiting a part", "reading whole", "-", "-", "-", "-", "-"],
  "between parts": ["awaiting a part", ["-", late], "failed", "ended", "failed", "failed", "released"],
  "awaiting a part": [
    "-",
    ["-", late],
    ["between parts", "3"],
    ["ended", "end"],
    ["failed", early],
    ["failed", slow],
    ["released", late],
  ],
  "reading whole": [
    ["-", late],
    ["-", late],
    "-",
    ["ended", "0"],
    ["failed", early],
    ["failed", slow],
    ["failed", early],
  ],
  // Where its rest was dropped, an end would make it look complete.
  discarding: [["-", late], ["-", late], "-", "released", "-", "-", "released"],
  draining: [
    ["-", late],
    ["-", late],
    "-",
    ["released", "drained"],
    ["released", "drained"],
    ["released", "drained"],
    "-",
  ],
  ended: [["-", "end"], ["-", late], "-", "-", "-", "-", "-"],
  failed: [["-", early], ["-", early], "-", "-", "-", "-", "-"],
  released: [["-", late], ["-", late], "-", "-", "-", "-", "-"],
};

const rows = (Object.keys(table) as BodyState["at"][]).flatMap((at) =>
  whats.map((what, i) => {
    const [to, got] = [table[at][i]].flat() as [string, string?];
    return [at, what, to === "-" ? at : to, got] as const;
  }),
);

async function settled(): Promise<void> {
  await new Promise(setImmediate);
}

describe("a body that arrives", () => {
  it.each(rows)("%s, on %s: %s", async (at, what, to, got) => {
    const body = new Source();
    ways[at](body);
    await settled();
    expect(body.at).toBe(at);
    body.got.length = 0;
    const { credited } = body;
    events[what](body);
    await settled();
    expect(body.at).toBe(to);
    expect(body.got).toEqual(got === undefined ? [] : [got]);
    const isRead = !["unread", "ended", "failed", "released"].includes(to);
    expect(body.isOpen).toBe(isRead);
    expect(body.flows).toBe(isRead && to !== "between parts");
    expect(body.isCharged).toBe(["awaiting a part", "reading whole", "draining"].includes(to));
    const isTimed = ["awaiting a part", "reading whole", "draining"].includes(at);
    expect(body.credited - credited).toBe(what === "part" && isTimed ? part.byteLength : 0);
    if (!isRead) expect(body.deadlines.size).toBe(0);
  });

  it.each([
    ["too long", true, bodyTooLarge.detail],
    ["without room", false, noRoom.detail],
  ])("is %s", async (_how, hasRoom, detail) => {
    const body = new Source();
    body.hasRoom = hasRoom;
    body.readsWhole();
    body.take(part);
    body.take(part);
    body.end();
    await settled();
    expect([body.at, body.got]).toEqual(["failed", [detail]]);
  });

  it("waits at the next check of the deadlines for a client that sends what is discarded", () => {
    const body = new Source();
    body.discard();
    for (let i = 0; i < 2; i++) {
      body.take(new Uint8Array(65_535));
      expect(body.flows).toBe(true);
      body.take(part);
      expect(body.flows).toBe(false);
      body.expire();
      expect(body.flows).toBe(true);
    }
    expect(body.dropped).toBe(2 * 65_538);
  });

  it("drains no further than the limit", () => {
    const body = new Source();
    body.drains();
    body.take(part);
    body.take(part);
    expect([body.at, body.got]).toEqual(["draining", []]);
    body.take(part);
    expect([body.at, body.got]).toEqual(["released", ["drained"]]);
  });

  it("is not charged for the time in which the server does not read", () => {
    const body = new Source();
    body.readsWhole();
    body.holdsBack = true;
    body.expire();
    expect([body.at, body.got]).toEqual(["reading whole", []]);
  });

  it("gives each reader what it asks for, once, in any sequence", async () => {
    const play = fc.array(fc.constantFrom(...whats), { maxLength: 20 });
    const anyPlay = fc.asyncProperty(play, fc.boolean(), async (order, drops) => {
      const body = new Source();
      let asked = 0;
      for (const what of order) {
        if (what === "part" && !body.flows) continue;
        // One read at a time, as a handler's reader has it.
        if (what === "read" && body.at === "awaiting a part") continue;
        if (what === "read" || what === "whole") asked++;
        events[what](body);
        await settled();
      }
      body.release();
      // The response's writer drops the rest.
      if (drops && ["unread", "failed", "released"].includes(body.at)) {
        asked++;
        body.drains();
      }
      body.end();
      await settled();
      expect(body.got.length).toBe(asked);
      expect([body.flows, body.deadlines.size]).toEqual([false, 0]);
      expect(body.isOpen).toBe(false);
    });
    await fc.assert(anyPlay, played(300));
  });
});
