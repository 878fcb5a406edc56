/** The lists themselves: valid names, and deviations of existing cases. */
import { describe, expect, it } from "vitest";
import {
  messageCases,
  socketCases,
  stoppedTakeoverCases,
  stoppingCases,
  takeoverCases,
  wireCases,
} from "./cases/index.ts";
import { deviations } from "./deviations/index.ts";

const names = [
  ...messageCases,
  ...wireCases,
  ...socketCases,
  ...takeoverCases,
  ...stoppingCases,
  ...stoppedTakeoverCases,
].map(({ name }) => name);

describe("the cases", () => {
  it("have a name each", () => {
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it("expect something of the server", () => {
    const acts = new Set(["send", "half-close", "leave", "discard", "stop-reading", "open", "signal"]);
    const stepped = [...wireCases, ...socketCases, ...takeoverCases, ...stoppingCases, ...stoppedTakeoverCases];
    expect(stepped.filter(({ steps }) => steps.every(({ does }) => acts.has(does)))).toEqual([]);
  });

  it("begin with the row that they are, or with its prefix", () => {
    expect(names.filter((name) => !/^[A-Z]{2}(?:-\d{2,3}(?:, (?:[A-Z]{2}-)?\d{2})*)? \S/.test(name))).toEqual([]);
  });
});

describe.each(Object.entries(deviations))("the deviations of %s", (_target, { cases, writes = {}, lacks = {} }) => {
  const listed = cases.flatMap(({ cases }) => Object.keys(cases));

  it("are of cases that there are, each once", () => {
    expect(listed.filter((name, i) => !names.includes(name) || listed.indexOf(name) !== i)).toEqual([]);
  });

  it("say why, in a sentence", () => {
    const reasons = [...cases.map(({ why }) => why), ...Object.values(writes), ...Object.values(lacks)];
    expect(reasons.filter((why) => !/^[@A-Za-z].*\.$/.test(why))).toEqual([]);
  });
});
