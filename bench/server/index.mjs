import { rotated, spread, table } from "../harness/figures.mjs";
import { fresh } from "../harness/fresh.mjs";
import { quietRounds, roundsText } from "../harness/quiet.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { candidates } from "./candidates.mjs";
import { byHand, measured, playRound } from "./round.mjs";
import { costSeries, costs, memory } from "./tables.mjs";

const targets = {
  usher: "≤ 1.10",
  "usher-logged": "≤ 1.30",
};

/** The CPU of a request with the Node listener. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const size = quick ? { count: 12_000, slices: 4, warmUp: 6000 } : { count: 40_000, slices: 10, warmUp: 10_000 };
  const quiet = await quietRounds(roundCount, (round) => playRound({ ...size, round }), byHand);
  const played = quiet.rounds;
  const inMemory = [];
  for (let round = 0; round < roundCount; round++) inMemory.push(await playInMemory(round, quick ? 250 : 500));
  return section(
    [
      "## Server on Node",
      `${size.count.toLocaleString("en")} requests a round over 64 kept connections, no pipelining, the load in ` +
        `another process; ${roundsText(quiet)}. Medians, with the least and the most. A ratio is taken within a round, in which the ` +
        "servers are loaded in turns, each after a full collection.",
      ...Object.entries(measured).map(([which, { name }]) => costs(which, name, candidates, played, targets)),
      memory(candidates, played),
      "The same over connections in memory, without the kernel, whose part is four fifths of the above and alike for all:",
      inMemoryCosts(inMemory),
    ],
    [...costSeries("on Node", candidates, played), inMemorySeries(inMemory)],
  );
}

/** Nanoseconds per request by candidate and case, each in a new process. */
async function playInMemory(round, ms) {
  const figures = {};
  for (const who of rotated(Object.keys(candidates), round)) {
    const options = { execArgv: ["--expose-gc"], stderr: candidates[who].logs ? "ignore" : "inherit" };
    figures[who] = {};
    for (const which of Object.keys(measured)) {
      figures[who][which] = await fresh(new URL("in-memory.mjs", import.meta.url), [who, which, ms], options);
    }
  }
  return figures;
}

function inMemoryCosts(rounds) {
  const rows = Object.entries(candidates).map(([who, { name }]) => {
    return [name, ...Object.keys(measured).map((which) => spread(rounds.map((round) => round[who][which])))];
  });
  return table(["ns a request", ...Object.values(measured).map(({ name }) => `\`${name}\``)], rows);
}

function inMemorySeries(rounds) {
  const whos = Object.keys(candidates);
  const groups = Object.entries(measured).map(([which, { name }]) => {
    return [name, byName(candidates, whos, (who) => rounds.map((round) => round[who][which]))];
  });
  return bars(
    { title: "The same without the kernel", unit: "ns", better: "less", baseline: candidates.raw.name },
    Object.fromEntries(groups),
  );
}
