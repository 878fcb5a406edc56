/** Bars: one for each candidate, as long as its ratio to the first, or as its figure; a thin line is the range of the rounds. */
import { card, digits, isOwn, label, margin, median, rowHeight, short, width, widthOf } from "./frame.mjs";

/**
 * @typedef {{ readonly name: string, readonly values: readonly number[] }} Row
 * @typedef {object} Bars
 * @property {"bars"} kind
 * @property {string} title
 * @property {string} unit
 * @property {"less" | "more"} better
 * @property {string} [baseline]
 * @property {readonly { readonly name: string, readonly rows: readonly Row[] }[]} groups
 *
 * @typedef {{ readonly name: string, readonly at: number, readonly low: number, readonly high: number, readonly figure: number }} Bar
 */

const barHeight = 14;
const maxLabel = 330;

/** @param {Bars} series @returns {string} */
export function drawBars(series) {
  const groups = series.groups.map(({ name, rows }) => ({ name, bars: barsOf(series, rows) }));
  const all = groups.flatMap(({ bars }) => bars);
  const labelWidth = Math.min(maxLabel, Math.max(...all.map(({ name }) => widthOf(name)))) + 12;
  const end = endOf(all);
  const valueWidth = Math.max(...all.map((bar) => widthOf(valueOf(series, bar)))) * 0.92 + 14;
  const unit = (width - 2 * margin - labelWidth - valueWidth) / end;
  const at = { left: margin + labelWidth, unit, end };
  let y = 0;
  const parts = groups.map(({ name, bars }) => {
    const top = y;
    const drawn = [];
    if (name !== "") drawn.push(label({ x: margin, y: y + 12, text: name, classes: "head" }));
    if (name !== "") y += rowHeight;
    const first = y;
    for (const bar of bars) {
      drawn.push(drawBar(series, bar, y, at));
      y += rowHeight;
    }
    if (series.baseline !== undefined && end > 1) {
      const x = short(at.left + unit);
      drawn.push(`<line class="line" x1="${x}" y1="${first - 2}" x2="${x}" y2="${y - 4}"/>`);
    }
    y = Math.max(y, top) + 10;
    return drawn.join("\n");
  });
  const wins = `${series.better} is better`;
  const rounds = Math.max(...series.groups.flatMap(({ rows }) => rows.map(({ values }) => values.length)));
  const note =
    series.baseline === undefined
      ? `In ${series.unit}, ${wins}. Medians of ${rounds} rounds; the line is from the least to the most.`
      : `To ${series.baseline} in the same round, ${wins}. Medians of ${rounds} rounds; the line is from the least to the most.`;
  return card({ title: series.title, note, drawn: { svg: parts.join("\n"), height: y }, alt: inWords(series, groups) });
}

/** Ratios where the group has its baseline, in the same round. @param {Bars} series @param {readonly Row[]} rows @returns {Bar[]} */
function barsOf({ baseline }, rows) {
  const base = rows.find(({ name }) => name === baseline)?.values;
  return rows.map(({ name, values }) => {
    const shown = base === undefined ? values : values.map((value, round) => value / (base[round] ?? Number.NaN));
    return { name, at: median(shown), low: Math.min(...shown), high: Math.max(...shown), figure: median(values) };
  });
}

/** Where the axis ends: a few that are far beyond the others are cut off. @param {readonly Bar[]} bars */
function endOf(bars) {
  const sorted = bars.map(({ at }) => at).toSorted((a, b) => a - b);
  const most = sorted.at(-1) ?? 1;
  const usual = sorted[Math.floor((sorted.length - 1) * 0.7)] ?? most;
  const end = most > 5 * usual ? 3 * usual : Math.max(...bars.map(({ high }) => Math.min(high, most * 1.5)));
  return end > 0 ? end : 1;
}

/** @param {Bars} series @param {Bar} bar @param {number} y @param {{ left: number, unit: number, end: number }} at */
function drawBar(series, bar, y, { left, unit, end }) {
  const own = isOwn(bar.name);
  const to = Math.min(bar.at, end);
  const tip = Math.max(to, Math.min(bar.high, end));
  const parts = [
    label({ x: margin, y: y + 12, text: fitted(bar.name), classes: own ? "strong" : "" }),
    `<rect class="${own ? "own" : "other"}" x="${short(left)}" y="${y}" width="${short(Math.max(1, to * unit))}" height="${barHeight}" rx="2"/>`,
  ];
  // A bar that is cut off has a gap before its end.
  if (bar.at > end)
    parts.push(
      `<rect class="card" stroke-width="0" x="${short(left + end * unit - 14)}" y="${y}" width="4" height="${barHeight}"/>`,
    );
  if (bar.at <= end && bar.high > bar.low) {
    const [from, until] = [left + bar.low * unit, left + Math.min(bar.high, end) * unit].map(short);
    const middle = y + barHeight / 2;
    parts.push(
      `<path class="spread" d="M${from} ${middle}H${until}M${from} ${middle - 3}v6M${until} ${middle - 3}v6"/>`,
    );
  }
  const after = Math.max(tip, series.baseline === undefined ? 0 : Math.min(1, end));
  parts.push(
    label({ x: left + after * unit + 8, y: y + 12, text: valueOf(series, bar), classes: own ? "strong" : "small" }),
  );
  return parts.join("");
}

/** @param {string} name */
function fitted(name) {
  const letters = Math.floor((maxLabel * name.length) / widthOf(name));
  return name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
}

/** @param {Bars} series @param {Bar} bar */
function valueOf({ baseline, unit }, { name, at, figure }) {
  if (baseline === undefined) return digits(figure);
  return name === baseline ? `${digits(figure)} ${unit}` : digits(at);
}

/** @param {Bars} series @param {readonly { name: string, bars: readonly Bar[] }[]} groups */
function inWords(series, groups) {
  const each = groups.map(({ name, bars }) => {
    const list = bars.map((bar) => `${bar.name} ${valueOf(series, bar)}`).join(", ");
    return name === "" ? list : `${name}: ${list}`;
  });
  return `${series.title}. ${each.join("; ")}`;
}
