/** The tables of a connection's two halves, and a connection that does whatever it may in any order. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readings, writings } from "../../../adapters/node/connection-state.ts";
import type { ConnectionEvent, ReadState, WriteState } from "../../../adapters/node/connection-state.ts";
import { played } from "../../models/seeds.ts";
import { PlayedConnection, steps } from "./played-connection.ts";

const events = ["begins", "last", "session", "breaks", "line", "closes", "ends", "idle", "cut"] as const;
const allEvents: readonly ConnectionEvent[] = events;

/** Where each event leads, in the order of `events`; `-` where it changes nothing. */
const readingRows: { readonly [R in ReadState["at"]]: string } = {
  fresh: "heads|last|session|broken|-|over|-|-|over",
  heads: "-|last|-|broken|-|over|-|-|over",
  last: "-|-|-|broken|-|over|-|-|over",
  session: "-|-|-|-|-|-|-|-|over",
  broken: "-|-|-|-|broken line|over|-|-|over",
  "broken line": "-|-|-|-|-|over|-|-|over",
  over: "-|-|-|-|-|-|-|-|-",
};
const writingRows: { readonly [W in WriteState["at"]]: string } = {
  open: "-|-|-|-|-|-|ending|-|cut",
  ending: "-|-|-|-|-|-|-|open|cut",
  cut: "-|-|-|-|-|-|-|-|-",
};

describe("the tables of a connection", () => {
  it.each(Object.entries(readingRows))("what is read, from %s", (at, row) => {
    const moves = readings[at as ReadState["at"]];
    expect(allEvents.map((event) => moves[event] ?? "-").join("|")).toBe(row);
  });

  it.each(Object.entries(writingRows))("what is written, from %s", (at, row) => {
    const moves = writings[at as WriteState["at"]];
    expect(allEvents.map((event) => moves[event] ?? "-").join("|")).toBe(row);
  });
});

it("a connection is where its tables say, and begins and ends each thing once, in any order", () => {
  const play = fc.array(fc.constantFrom(...steps), { maxLength: 60 });
  fc.assert(
    fc.property(play, (order) => {
      const one = new PlayedConnection();
      for (const step of order) one.does(step);
      one.ends();
      expect(new Set(one.done).size).toBe(one.done.length);
    }),
    played(2000),
  );
});
