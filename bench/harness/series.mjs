/**
 * What a part measured, as data: its text for readers, and its series for charts and later comparisons. Each figure is of one
 * round, in the order of the rounds, so that ratios can be taken within a round.
 *
 * @typedef {object} Bars
 * @property {"bars"} kind
 * @property {string} title
 * @property {string} unit
 * @property {"less" | "more"} better
 * @property {string} [baseline] The row that the ratios are to. Without it a chart shows the figures.
 * @property {boolean} [judgesHost] The baseline is a server that costs the same in each round of a quiet host.
 * @property {readonly { name: string, rows: readonly { name: string, values: readonly number[] }[] }[]} groups
 *
 * @typedef {object} Curves
 * @property {"curves"} kind
 * @property {string} title
 * @property {string} unit
 * @property {"less" | "more"} better
 * @property {string} x What grows: `routes`.
 * @property {readonly { name: string, points: readonly { x: number, values: readonly number[] }[] }[]} lines
 *
 * @typedef {Bars | Curves} Series
 * @typedef {{ readonly text: string, readonly series: readonly Series[] }} Section
 */

/** @param {readonly string[]} paragraphs @param {readonly Series[]} series @returns {Section} */
export function section(paragraphs, series) {
  return { text: paragraphs.join("\n\n"), series };
}

/**
 * @param {Omit<Bars, "kind" | "groups">} about
 * @param {Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>} groups By group and by row: one figure for each round.
 * @returns {Bars}
 */
export function bars(about, groups) {
  const rowsOf = (rows) =>
    Object.entries(rows).map(([name, values]) => ({ name: plain(name), values: values.map(short) }));
  return {
    kind: "bars",
    ...about,
    ...(about.baseline === undefined ? {} : { baseline: plain(about.baseline) }),
    groups: Object.entries(groups).map(([name, rows]) => ({ name: plain(name), rows: rowsOf(rows) })),
  };
}

/**
 * @param {Omit<Curves, "kind" | "lines">} about
 * @param {Readonly<Record<string, ReadonlyMap<number, readonly number[]>>>} lines By name and by x: one figure for each round.
 * @returns {Curves}
 */
export function curves(about, lines) {
  const pointsOf = (points) => [...points].map(([x, values]) => ({ x, values: values.map(short) }));
  return {
    kind: "curves",
    ...about,
    lines: Object.entries(lines).map(([name, points]) => ({ name: plain(name), points: pointsOf(points) })),
  };
}

/** Of candidates that have names: the figure of each round under the name. */
export function byName(candidates, whos, valuesOf) {
  return Object.fromEntries(whos.map((who) => [candidates[who].name, valuesOf(who)]));
}

/** Without the marks of code. */
function plain(name) {
  return name.replaceAll("`", "");
}

/** More digits say nothing. */
function short(figure) {
  return Number(figure.toPrecision(4));
}
