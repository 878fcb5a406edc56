/** The tables of a connection's two halves, and a connection that does whatever it may in any order. */
import fc from "fast-check";
import type { Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { readings, writings } from "../../../adapters/node/connection-state.ts";
import type { ConnectionEvent, ReadState, WriteState } from "../../../adapters/node/connection-state.ts";
import { ConnectionReading } from "../../../adapters/node/reading.ts";
import type { ConnectionWriting } from "../../../adapters/node/writing.ts";
import { played } from "../../models/seeds.ts";
import { messages } from "../../support/logs.ts";
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

describe("a connection that is not read, because its requests wait", () => {
  const sendTimeoutMs = 100;
  const paused = () => {
    const did: string[] = [];
    const note = (what: string) => (): void => void did.push(what);
    const socket = { pause: note("pause"), resume: note("resume"), destroy: note("destroy") } as unknown as Socket;
    const writing = { isSending: false, pendingAnswers: 100 } as ConnectionWriting;
    const reading = new ConnectionReading(socket, writing, sendTimeoutMs);
    reading.pause();
    return { reading, did };
  };

  it.each([
    ["is closed, with a line", () => {}, ["pause", "destroy"], 1],
    ["stays open where it is read again", (reading: ConnectionReading) => reading.resume(), ["pause", "resume"], 0],
    ["has no line where it has closed before", (reading: ConnectionReading) => reading.closed(), ["pause"], 0],
  ] as const)("%s", (_what, act, does, lines) => {
    vi.useFakeTimers();
    const { reading, did } = paused();
    act(reading);
    vi.advanceTimersByTime(2 * sendTimeoutMs);
    vi.useRealTimers();
    expect(did).toEqual(does);
    expect(messages("info")).toEqual(lines === 0 ? [] : ["closed a connection with 100 requests unanswered for 0.1s"]);
  });
});
