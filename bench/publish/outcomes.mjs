/** What became of the bars in a run. */
import { median } from "../harness/figures.mjs";

/**
 * @typedef {object} Outcome
 * @property {string} id
 * @property {string} what
 * @property {string} limit `≤ 1.10`, `≥ 1.00` or `≤ 10 ms more`.
 * @property {number} [value] The median of the rounds; without it the part was not measured.
 * @property {number} [low]
 * @property {number} [high]
 * @property {boolean} [isMet]
 */

/**
 * The outcome of each bar, in each group of its series. Throws where a measured part has not what a bar names.
 *
 * @param {readonly import("./bars.mjs").Bar[]} bars
 * @param {Readonly<Record<string, import("./records.mjs").Part>>} parts
 * @returns {readonly Outcome[]}
 */
export function outcomesOf(bars, parts) {
  return bars.flatMap((bar) => {
    const part = parts[bar.part];
    if (part === undefined) return [{ id: bar.id, what: named(bar, bar.group ?? ""), limit: limitOf(bar) }];
    const series = part.series.find((one) => one.kind === "bars" && one.title === bar.series);
    if (series?.kind !== "bars") throw lacks(bar, `no series "${bar.series}"`);
    const groups = series.groups.filter(({ name }) => bar.group === undefined || bar.group === name);
    if (groups.length === 0) throw lacks(bar, `no group "${bar.group}" in "${bar.series}"`);
    return groups.map((group) => outcomeOf(bar, group));
  });
}

function outcomeOf(bar, { name, rows }) {
  const valuesOf = (wanted) => {
    const row = rows.find((one) => one.name === wanted);
    if (row === undefined) throw lacks(bar, `no row "${wanted}" in "${bar.series}"`);
    return row.values;
  };
  const others = valuesOf(bar.to);
  const values = valuesOf(bar.row).map((value, round) =>
    bar.by === "ratio" ? value / others[round] : value - others[round],
  );
  const value = median(values);
  return {
    id: bar.id,
    what: named(bar, name),
    limit: limitOf(bar),
    value: short(value),
    low: short(Math.min(...values)),
    high: short(Math.max(...values)),
    isMet: value <= (bar.max ?? Infinity) && value >= (bar.min ?? -Infinity),
  };
}

function named({ what }, group) {
  return group === "" ? what : `${what}, ${group}`;
}

function limitOf({ by, max, min, unit }) {
  const sign = max === undefined ? "≥" : "≤";
  const bound = max ?? min;
  return by === "ratio" ? `${sign} ${bound.toFixed(2)}` : `${sign} ${bound} ${unit}`;
}

function lacks({ id, part }, what) {
  return new Error(`the bar "${id}": ${part} has ${what}; bench/publish/bars.mjs names it`);
}

/** More digits say nothing. */
function short(figure) {
  return Number(figure.toPrecision(4));
}
