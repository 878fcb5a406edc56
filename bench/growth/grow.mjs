import { digits, median, rotated, table } from "../harness/figures.mjs";
import { curves } from "../harness/series.mjs";

/**
 * Measures each candidate at each size, once a round, another candidate first in each.
 *
 * @template Figures
 * @param {object} what
 * @param {readonly number[]} what.sizes
 * @param {readonly string[]} what.whos
 * @param {number} what.rounds
 * @param {(who: string, size: number) => Promise<Figures>} what.play
 * @returns {Promise<Readonly<Record<string, ReadonlyMap<number, readonly Figures[]>>>>} By candidate and size: each round.
 */
export async function grown({ sizes, whos, rounds, play }) {
  const figures = Object.fromEntries(whos.map((who) => [who, new Map(sizes.map((size) => [size, []]))]));
  for (let round = 0; round < rounds; round++) {
    for (const size of sizes) {
      for (const who of rotated(whos, round)) figures[who].get(size).push(await play(who, size));
    }
  }
  return figures;
}

/**
 * One figure of what was measured, as a table of its medians and as a series. A candidate has no point where it has no figure.
 *
 * @param {Omit<import("../harness/series.mjs").Curves, "kind" | "lines">} about
 * @param {Readonly<Record<string, string>>} names By candidate.
 * @param {Readonly<Record<string, ReadonlyMap<number, readonly any[]>>>} figures
 * @param {string} key Of the figure.
 */
export function growthOf(about, names, figures, key) {
  const lines = {};
  for (const [who, name] of Object.entries(names)) {
    const points = [...figures[who]].map(([size, each]) => [size, each.map((one) => one[key])]);
    const known = points.filter(([, values]) => values.every((value) => Number.isFinite(value)));
    if (known.length > 0) lines[name] = new Map(known);
  }
  const sizes = [...new Set(Object.values(lines).flatMap((points) => [...points.keys()]))].toSorted((a, b) => a - b);
  const rows = Object.entries(lines).map(([name, points]) => [
    name,
    ...sizes.map((size) => digits(points.has(size) ? median(points.get(size)) : Number.NaN)),
  ]);
  const head = [`${about.title}, ${about.unit}; ${about.x}`, ...sizes.map((size) => size.toLocaleString("en"))];
  return { text: table(head, rows), series: curves(about, lines) };
}
