/** What the charts share: colors for light and dark, texts, and the card around a chart. */

/** @typedef {{ readonly svg: string, readonly height: number }} Drawn */

export const width = 860;
export const margin = 24;
export const rowHeight = 20;

/** Of the lines and bars: the first one is Usher's. */
export const colors = 7;
const light = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#7d6100", "#57606a"];
const dark = ["#4493f8", "#f0883e", "#3fb950", "#ab7df8", "#f778ba", "#d4a72c", "#9198a1"];

/** A card with a title, a line below it, and what is drawn under both. @param {{ title: string, note: string, drawn: Drawn, alt: string }} chart */
export function card({ title, note, drawn, alt }) {
  const height = Math.ceil(74 + drawn.height + 12);
  return frame({
    height,
    title,
    alt,
    parts: [
      label({ x: margin, y: 54, text: note, classes: "small" }),
      `<g transform="translate(0 74)">`,
      drawn.svg,
      "</g>",
    ],
  });
}

/** The card around a chart, with its title and the styles of all that is drawn in it. @param {{ height: number, title: string, alt: string, parts: readonly string[] }} chart */
export function frame({ height, title, alt, parts }) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(alt)}">
<style>
  .card { fill: #ffffff; stroke: #d0d7de }
  text { fill: #1f2328; font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
  .title { font-size: 16px; font-weight: 600 }
  .head, .strong { font-weight: 600 }
  .small { fill: #59636e; font-size: 12px }
  .own { fill: #0969da }
  .other { fill: #afb8c1 }
  .spread { stroke: #1f2328; stroke-width: 1.5; fill: none }
  .line { stroke: #59636e; stroke-dasharray: 2 3 }
  .grid { stroke: #d0d7de }
  .end { text-anchor: end }
  .middle { text-anchor: middle }
${colorRules(light)}
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .small { fill: #9198a1 }
    .own { fill: #4493f8 }
    .other { fill: #656c76 }
    .spread { stroke: #f0f6fc }
    .line { stroke: #9198a1 }
    .grid { stroke: #3d444d }
${colorRules(dark)}
  }
</style>
<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="title" x="${margin}" y="34">${escaped(title)}</text>
${parts.join("\n")}
</svg>
`;
}

/** @param {readonly string[]} list */
function colorRules(list) {
  return list
    .map(
      (color, i) =>
        `    .c${i} { stroke: ${color} } .d${i} { fill: ${color} } .e${i} { fill: ${color}; opacity: 0.14 }`,
    )
    .join("\n");
}

/** @param {{ x: number, y: number, text: string, classes?: string }} at */
export function label({ x, y, text, classes = "" }) {
  return `<text${classes === "" ? "" : ` class="${classes}"`} x="${short(x)}" y="${short(y)}">${escaped(text)}</text>`;
}

/** A coordinate with one digit after the point. @param {number} at */
export function short(at) {
  return String(Math.round(at * 10) / 10);
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** About how wide a text of 13 px is; the name of the framework is bold. @param {string} text */
export function widthOf(text) {
  return text.length * (isOwn(text) ? 7.7 : 6.9);
}

/** Whether a name is of this framework. @param {string} name */
export function isOwn(name) {
  return /^usher\b/i.test(name);
}

/** @param {readonly number[]} figures */
export function median(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/** A figure with three significant digits: `0.123`, `12.3`, `1,234`, `1.2 M`. @param {number} figure */
export function digits(figure) {
  const size = Math.abs(figure);
  if (size >= 1e9) return `${trimmed(figure / 1e9)} G`;
  if (size >= 1e6) return `${trimmed(figure / 1e6)} M`;
  if (size >= 100) return Math.round(figure).toLocaleString("en");
  if (size >= 10) return figure.toFixed(1);
  return size >= 0.1 || size === 0 ? figure.toFixed(2) : figure.toPrecision(2);
}

/** @param {number} figure */
function trimmed(figure) {
  return figure.toPrecision(3).replace(/\.?0+$/, "");
}
