import { digits, median, spread, table } from "../harness/figures.mjs";
import { candidates } from "./candidates.mjs";
import { measured, playRound } from "./round.mjs";

const targets = {
  usher: "≤ 1.10",
  "usher-logged": "≤ 1.30",
};

/** The Node listener: what a request costs the server's process. @param {{ quick: boolean }} options */
export async function run({ quick }) {
  const size = quick ? { count: 8000, slices: 4, warmUp: 6000 } : { count: 100_000, slices: 20, warmUp: 20_000 };
  const rounds = [];
  for (let round = 0; round < (quick ? 2 : 5); round++) rounds.push(await playRound({ ...size, round }));

  const costs = Object.entries(measured).map(([which, { name }]) => {
    const rows = Object.entries(candidates).map(([who, candidate]) => {
      const used = rounds.map((round) => round.get(who).used[which]);
      const ratios = rounds.map((round) => round.get(who).used[which].cpu / round.get("raw").used[which].cpu);
      const perSecond = median(used.map(({ seconds }) => 1 / seconds));
      return [
        candidate.name,
        spread(used.map(({ cpu }) => cpu)),
        spread(ratios),
        targets[who] ?? "",
        digits(perSecond),
      ];
    });
    return table([`\`${name}\``, "CPU µs a request", "to `node:http`", "target", "requests/s"], rows);
  });
  const memory = table(
    ["", "peak memory, MB"],
    Object.entries(candidates).map(([who, { name }]) => [
      name,
      digits(median(rounds.map((round) => round.get(who).peakRss / 1e6))),
    ]),
  );
  return [
    "## Server on Node",
    `${rounds.length} rounds of ${size.count.toLocaleString("en")} requests over 64 kept connections, no pipelining, the load in ` +
      "another process. Medians, with the least and the most; a ratio is taken within a round, in which the servers are loaded in turns.",
    ...costs,
    memory,
  ].join("\n\n");
}
