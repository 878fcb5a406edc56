import { Process } from "../server/processes.mjs";
import { byHand, measured, playRound } from "../server/round.mjs";
import { quietRounds, roundsText } from "../harness/quiet.mjs";
import { section } from "../harness/series.mjs";
import { costSeries, costs } from "../server/tables.mjs";
import { candidates } from "./candidates.mjs";

const targets = { "usher-logged": "≤ 1.30" };

/** The cost of logs and metrics per request on Node. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const size = quick ? { count: 6000, slices: 2, warmUp: 3000 } : { count: 100_000, slices: 20, warmUp: 20_000 };
  const launch = (who, stderr) => new Process("../logging/serve.mjs", [who], { stderr, execArgv: ["--expose-gc"] });
  const quiet = await quietRounds(roundCount, (round) => playRound({ ...size, round, candidates, launch }), byHand);
  const { rounds } = quiet;
  return section(
    [
      "## Logs",
      `${size.count.toLocaleString("en")} requests a round over 64 kept connections; ${roundsText(quiet)}. Every server is in a ` +
        "process of its own and writes its lines to a file.",
      ...Object.entries(measured).map(([which, { name }]) => costs(which, name, candidates, rounds, targets)),
    ],
    costSeries("with logs, on Node", candidates, rounds),
  );
}
