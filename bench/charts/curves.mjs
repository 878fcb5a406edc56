/** Curves: how a figure grows. Both axes are logarithmic where the figures span more than a factor of 20. */
import { card, colors, digits, isOwn, label, margin, median, short, width, widthOf } from "./frame.mjs";

/**
 * @typedef {{ readonly x: number, readonly values: readonly number[] }} Point
 * @typedef {object} Curves
 * @property {"curves"} kind
 * @property {string} title
 * @property {string} unit
 * @property {"less" | "more"} better
 * @property {string} x
 * @property {readonly { readonly name: string, readonly points: readonly Point[] }[]} lines
 *
 * @typedef {{ readonly x: number, readonly y: number, readonly low: number, readonly high: number }} Spot
 * @typedef {{ readonly of: (value: number) => number, readonly ticks: readonly number[] }} Scale
 */

const height = 260;
const maxRatio = 20;
const labelHeight = 16;

/** @param {Curves} series @returns {string} */
export function drawCurves(series) {
  const lines = series.lines
    .filter(({ points }) => points.length > 0)
    .toSorted((a, b) => Number(isOwn(b.name)) - Number(isOwn(a.name)))
    .map(({ name, points }, i) => ({ name, color: i % colors, spots: points.map(spotOf) }));
  const spots = lines.flatMap((line) => line.spots);
  const left = margin + 52;
  const right = width - margin - Math.max(...lines.map(({ name }) => widthOf(name))) - 14;
  const across = scale(
    spots.map(({ x }) => x),
    left,
    right,
    [...new Set(spots.map(({ x }) => x))],
  );
  const up = scale(
    spots.flatMap(({ low, high }) => [low, high]),
    height,
    16,
  );
  const parts = [
    label({ x: margin, y: 4, text: series.unit, classes: "small" }),
    ...up.ticks.map((tick) => {
      const y = short(up.of(tick));
      return `<line class="grid" x1="${left}" y1="${y}" x2="${short(right)}" y2="${y}"/>${label({ x: left - 8, y: up.of(tick) + 4, text: ticked(tick), classes: "small end" })}`;
    }),
    ...across.ticks.map((tick) =>
      label({ x: across.of(tick), y: height + 20, text: sized(series.x, tick), classes: "small middle" }),
    ),
    label({ x: (left + right) / 2, y: height + 40, text: series.x, classes: "small middle" }),
    ...lines.map((line) => drawLine(line, across, up)),
    ...names(lines, up).map(({ name, color, y }) =>
      label({ x: right + 12, y: y + 4, text: name, classes: `d${color}${isOwn(name) ? " strong" : ""}` }),
    ),
  ];
  const rounds = Math.max(...series.lines.flatMap(({ points }) => points.map(({ values }) => values.length)));
  const note = `${series.better === "less" ? "Less" : "More"} is better. Medians of ${rounds} rounds; the band is from the least to the most.`;
  return card({
    title: series.title,
    note,
    drawn: { svg: parts.join("\n"), height: height + 44 },
    alt: inWords(series),
  });
}

/** @param {Point} point @returns {Spot} */
function spotOf({ x, values }) {
  return { x, y: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** @param {{ color: number, spots: readonly Spot[] }} line @param {Scale} across @param {Scale} up */
function drawLine({ color, spots }, across, up) {
  /** @param {number} x @param {number} y */
  const at = (x, y) => `${short(across.of(x))} ${short(up.of(y))}`;
  const line = spots.map(({ x, y }) => at(x, y)).join("L");
  const band = [...spots.map(({ x, high }) => at(x, high)), ...spots.toReversed().map(({ x, low }) => at(x, low))];
  const dots = spots.map(
    ({ x, y }) => `<circle class="d${color}" cx="${short(across.of(x))}" cy="${short(up.of(y))}" r="3"/>`,
  );
  return [
    `<path class="e${color}" d="M${band.join("L")}Z"/>`,
    `<path class="c${color}" fill="none" stroke-width="2" d="M${line}"/>`,
    ...dots,
  ].join("");
}

/** The names at the ends of the lines, moved apart. @param {readonly { name: string, color: number, spots: readonly Spot[] }[]} lines @param {Scale} up */
function names(lines, up) {
  const sorted = lines
    .map(({ name, color, spots }) => ({ name, color, y: up.of(spots.at(-1)?.y ?? 0) }))
    .toSorted((a, b) => a.y - b.y);
  let free = Number.NEGATIVE_INFINITY;
  const placed = sorted.map((one) => {
    free = Math.max(one.y, free + labelHeight);
    return { ...one, y: free };
  });
  // What was pushed below the chart pushes the others up.
  let floor = height + 4;
  return placed.toReversed().map((one) => {
    const y = Math.min(one.y, floor);
    floor = y - labelHeight;
    return { ...one, y };
  });
}

/** @param {readonly number[]} values @param {number} from @param {number} to @param {readonly number[]} [wanted] Ticks. @returns {Scale} */
function scale(values, from, to, wanted) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const isLogarithmic = low > 0 && high / low > maxRatio;
  if (!isLogarithmic) {
    const bottom = wanted === undefined ? Math.min(0, low) : low;
    const step = nice((high - bottom) / 4);
    const end = wanted === undefined ? step * Math.ceil(high / step) || 1 : high;
    const count = wanted === undefined ? Math.round(end / step) : 0;
    const span = end - bottom || 1;
    const ticks = wanted ?? Array.from({ length: count + 1 }, (_, i) => i * step);
    return { of: (value) => from + ((value - bottom) / span) * (to - from), ticks };
  }
  const [bottom, end] =
    wanted === undefined
      ? [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))]
      : [Math.log10(low), Math.log10(high)];
  const ticks = wanted ?? Array.from({ length: end - bottom + 1 }, (_, i) => 10 ** (bottom + i));
  return { of: (value) => from + ((Math.log10(value) - bottom) / (end - bottom)) * (to - from), ticks };
}

/** The next 1, 2 or 5 with zeros. @param {number} step */
function nice(step) {
  if (!(step > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 5, 10].find((digit) => digit * power >= step) ?? 10);
}

/** @param {number} tick */
function ticked(tick) {
  const text = digits(tick);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** The text of a tick; bytes in the units that they are known by. @param {string} what @param {number} tick */
function sized(what, tick) {
  if (!what.includes("bytes")) return tick.toLocaleString("en");
  const [unit, size] = tick >= 2 ** 30 ? ["GiB", 2 ** 30] : tick >= 2 ** 20 ? ["MiB", 2 ** 20] : ["KiB", 2 ** 10];
  return `${Math.round(tick / size)} ${unit}`;
}

/** @param {Curves} series */
function inWords({ title, unit, x, lines }) {
  const each = lines.map(({ name, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return name;
    return `${name}: ${digits(median(first.values))} ${unit} at ${first.x}, ${digits(median(last.values))} ${unit} at ${last.x}`;
  });
  return `${title}, by ${x}. ${each.join("; ")}`;
}
