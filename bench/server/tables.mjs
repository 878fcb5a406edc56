import { digits, median, spread, table } from "../harness/figures.mjs";
import { bars, byName } from "../harness/series.mjs";
import { measured } from "./round.mjs";

/** @typedef {Readonly<Record<string, import("./candidates.mjs").Candidate>>} Candidates */

/** The cost of a request for each candidate, and its ratio to the first one, by hand. @param {Candidates} candidates */
export function costs(which, name, candidates, rounds, targets = {}) {
  const rows = Object.entries(candidates).map(([who, candidate]) => {
    const used = rounds.map((round) => round.get(who).used[which]);
    const ratios = rounds.map((round) => round.get(who).used[which].cpu / round.get("raw").used[which].cpu);
    const perSecond = median(used.map(({ seconds }) => 1 / seconds));
    return [candidate.name, spread(used.map(({ cpu }) => cpu)), spread(ratios), targets[who] ?? "", digits(perSecond)];
  });
  return table([`\`${name}\``, "CPU µs a request", "to by hand", "target", "requests/s"], rows);
}

/** @param {Candidates} candidates */
export function memory(candidates, rounds) {
  const rows = Object.entries(candidates).map(([who, { name }]) => {
    return [name, digits(median(rounds.map((round) => round.get(who).peakRss / 1e6)))];
  });
  return table(["", "peak memory, MB"], rows);
}

/**
 * The series of what `costs` and `memory` show.
 *
 * @param {string} where
 * @param {Candidates} candidates
 * @returns {import("../harness/series.mjs").Bars[]}
 */
export function costSeries(where, candidates, rounds) {
  const whos = Object.keys(candidates);
  const baseline = candidates.raw.name;
  const cpu = Object.entries(measured).map(([which, { name }]) => {
    return [name, byName(candidates, whos, (who) => rounds.map((round) => round.get(who).used[which].cpu))];
  });
  const peak = byName(candidates, whos, (who) => rounds.map((round) => round.get(who).peakRss / 1e6));
  return [
    bars(
      { title: `CPU of a request, ${where}`, unit: "µs", better: "less", baseline, judgesHost: true },
      Object.fromEntries(cpu),
    ),
    bars({ title: `Peak memory, ${where}`, unit: "MB", better: "less" }, { "": peak }),
  ];
}
