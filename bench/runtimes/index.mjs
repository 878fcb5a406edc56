import { createRequire } from "node:module";
import { quietRounds, roundsText } from "../harness/quiet.mjs";
import { section } from "../harness/series.mjs";
import { costSeries, costs, memory } from "../server/tables.mjs";
import { Process } from "../server/processes.mjs";
import { byHand, measured, playRound } from "../server/round.mjs";
import { runtimes } from "./candidates.mjs";
import { binaries } from "./binaries.mjs";

const require = createRequire(import.meta.url);
const names = { bun: "Bun", deno: "Deno" };

/** The CPU of a request with Bun's and Deno's own listeners. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const size = quick ? { count: 12_000, slices: 4, warmUp: 6000 } : { count: 40_000, slices: 10, warmUp: 10_000 };
  const sections = [];
  const series = [];
  for (const [runtime, candidates] of Object.entries(runtimes)) {
    const { path, args } = binaries[runtime]();
    const launch = (who, stderr) => {
      return new Process("../runtimes/serve.mjs", [runtime, who], { stderr, execPath: path, execArgv: args });
    };
    const quiet = await quietRounds(roundCount, (round) => playRound({ ...size, round, candidates, launch }), byHand);
    const { rounds } = quiet;
    sections.push(
      `### ${names[runtime]} ${require(`${runtime}/package.json`).version}, ${roundsText(quiet)}`,
      ...Object.entries(measured).map(([which, { name }]) => costs(which, name, candidates, rounds)),
      memory(candidates, rounds),
    );
    series.push(...costSeries(`on ${names[runtime]}`, candidates, rounds));
  }
  return section(
    [
      "## Servers on Bun and Deno",
      `As on Node: ${size.count.toLocaleString("en")} requests a round over 64 kept connections.`,
      ...sections,
    ],
    series,
  );
}
