/** The table of a request's end: where its work and its reply are, and where each event leads. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Ending, start } from "../../src/app/ending.ts";
import type { EndActs, EndEvent, Point, ReplyAt, Task, WorkAt } from "../../src/app/ending.ts";
import { RunningWork } from "../../src/app/running-work.ts";
import type { RequestEnd } from "../../src/inputs/request.ts";
import { played } from "../models/seeds.ts";

const events: readonly EndEvent[] = ["begins", "keeps", "done", "kept", "expires", "chosen", "follows", "sent", "over"];

/** Where each event leads the work, in the order of `events`; `-` where it changes nothing. */
const workRows: { readonly [W in WorkAt]: string } = {
  none: "running - - - - - - - -",
  running: "- keeping over - late - - - -",
  late: "- - over - - - - - -",
  keeping: "- - - over - - - - -",
  over: "- - - - - - - - -",
};
const replyRows: { readonly [R in ReplyAt]: string } = {
  awaited: "- - - - overdue making - - -",
  overdue: "- - - - - making - - -",
  making: "- - - - - - following ended -",
  following: "- - - - ended - - - ended",
  ended: "- - - - - - - - -",
};

function moved(rows: string, event: EndEvent): string | undefined {
  const to = rows.split(" ")[events.indexOf(event)];
  return to === "-" ? undefined : to;
}

/** Every point that events lead to. */
function reached(): readonly Point[] {
  const points = new Set([start]);
  for (const { on } of points) for (const to of Object.values(on)) points.add(to);
  return [...points];
}

describe("the table of a request's end", () => {
  const points = reached();

  it("has 24 points", () => {
    expect(points.length).toBe(24);
    const late = points.filter(({ work }) => work === "late").map(({ reply }) => reply);
    // Work is late where its deadline passed, so that its reply is not awaited.
    expect(late.toSorted()).toEqual(["ended", "following", "making", "overdue"]);
  });

  const pairs = points.flatMap((point) => events.map((event) => ({ point, event })));
  it.each(pairs.map(({ point, event }) => [point.work, point.reply, event, point] as const))(
    "%s / %s, %s",
    (work, reply, event, point) => {
      const isCutShort = event === "expires" && moved(replyRows[reply], event) === undefined;
      const to = isCutShort ? [] : [moved(workRows[work], event), moved(replyRows[reply], event)];
      const [workTo, replyTo] = to;
      if (workTo === undefined && replyTo === undefined) expect(point.on[event]).toBeUndefined();
      else expect(point.on[event]).toMatchObject({ work: workTo ?? work, reply: replyTo ?? reply });
    },
  );

  it.each(points.map((point) => [point.work, point.reply, point] as const))(
    "%s / %s: what follows",
    (work, reply, point) => {
      const isAnswered = ["making", "following", "ended"].includes(reply);
      expect(point.isAnswered).toBe(isAnswered);
      expect(point.isFrozen).toBe(isAnswered || ["late", "keeping", "over"].includes(work));
      expect(point.isLeft).toBe(reply === "ended" && work !== "running");
    },
  );
});

/** What a request did. */
class Deeds implements EndActs<Deeds> {
  readonly app = { work: new RunningWork(10, "tasks") };
  readonly done: string[] = [];
  #held = 0;

  freeze(isCut: boolean): void {
    this.done.push(isCut ? "freeze, cut" : "freeze");
  }
  release(_request: Deeds, { how }: RequestEnd): void {
    for (; this.#held > 0; this.#held--) this.done.push(`release: ${how}`);
  }
  start(_request: Deeds, { always }: Task): void {
    this.done.push(always ? "task" : "task of a success");
    this.app.work.free();
  }
  expire(): void {}
  hold(ending: Ending<Deeds>): void {
    this.#held++;
    ending.hold({ release: () => {} });
  }
}

const lastMoves: readonly EndEvent[] = ["begins", "keeps", "done", "kept", "chosen"];

describe("a request that ends in any order", () => {
  it("does each thing once, and releases last", () => {
    const play = fc.array(fc.constantFrom(...events), { maxLength: 40 });
    fc.assert(
      fc.property(play, fc.boolean(), (order, follows) => {
        const deeds = new Deeds();
        const ending = new Ending(deeds, deeds);
        deeds.hold(ending);
        ending.add(() => {}, true);
        const moves: string[] = [];
        const does = (event: EndEvent): void => {
          const { work, reply } = ending.at;
          if (event === "sent" || event === "follows") ending.sent({ status: 200 } as never, event === "follows");
          else if (event === "over") ending.over("client gone");
          else ending.on(event);
          if (ending.at.work !== work) moves.push(ending.at.work);
          if (ending.at.reply !== reply) moves.push(ending.at.reply);
        };
        for (const event of order) does(event);
        for (const event of lastMoves) does(event);
        does(follows ? "follows" : "sent");
        does("over");
        expect(ending.at).toMatchObject({ work: "over", reply: "ended" });
        // No place is entered twice, so that nothing that belongs to a move is done twice.
        expect(new Set(moves).size).toBe(moves.length);
        const frozen = deeds.done.filter((deed) => deed.startsWith("freeze"));
        const released = deeds.done.filter((deed) => deed.startsWith("release"));
        expect([frozen.length, released.length]).toEqual([1, 1]);
        expect(deeds.done.filter((deed) => deed === "task")).toEqual(["task"]);
        expect(deeds.done.indexOf(frozen[0] as string)).toBe(0);
        const isCut = frozen[0] === "freeze, cut";
        const isLateFirst = moves.includes("late") && moves.indexOf("late") < moves.indexOf("making");
        if (isLateFirst) expect(isCut).toBe(true);
        if (moves.includes("late") || moves.includes("overdue")) expect(released).toEqual(["release: timed out"]);
        // What is acquired later is released at once, and a task that is added later runs.
        deeds.hold(ending);
        ending.add(() => {}, false);
        expect(deeds.done.slice(-2)).toEqual([released[0], "task of a success"]);
      }),
      played(2000),
    );
  });

  it("lets the worst decide how it ended", () => {
    const how = (...mishaps: readonly ("client gone" | "failed")[]): string | undefined => {
      const deeds = new Deeds();
      const ending = new Ending(deeds, deeds);
      deeds.hold(ending);
      for (const mishap of mishaps) ending.went(mishap);
      ending.on("chosen");
      ending.sent({ status: 200 } as never, true);
      ending.over("stopped");
      return deeds.done.at(-1);
    };
    expect(how()).toBe("release: stopped");
    expect(how("client gone")).toBe("release: client gone");
    expect(how("client gone", "failed")).toBe("release: failed");
    expect(how("failed", "client gone")).toBe("release: failed");
  });
});
