/**
 * Draws `docs/images/cpu.svg`: CPU per request next to other frameworks, from the figures of `bench/results/cpu.json`, and writes
 * what it shows into README. `--check` fails where either is not what the figures say.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const picture = `${root}docs/images/cpu.svg`;
const readme = `${root}README.md`;
/**
 * @typedef {{ name: string, micros: number, ratios: Record<string, number> }} Request
 * @typedef {{ title: string, baseline: string, requests: Request[] }} Panel
 * @type {{ date: string, command: string, machine: string, versions: string, panels: Panel[] }}
 */
const figures = JSON.parse(readFileSync(`${root}bench/results/cpu.json`, "utf8"));

const width = 860;
const margin = 24;
const panelWidth = (width - 3 * margin) / 2;
const labelWidth = 92;
const valueWidth = 56;
const barHeight = 15;
const rowHeight = 20;
const maxRatio = Math.max(
  ...figures.panels.flatMap(({ requests }) => requests.flatMap(({ ratios }) => Object.values(ratios))),
);
const unit = (panelWidth - labelWidth - valueWidth) / maxRatio;

const rows = Math.max(...figures.panels.map(({ requests }) => requests.reduce((sum, one) => sum + rowsOf(one), 0)));
const height = 84 + rows * rowHeight + 76;
const drawn = new Map([
  [picture, svg()],
  [readme, readFileSync(readme, "utf8").replace(/!\[CPU per request[^\]]*\]/, `![${shortAlt()}]`)],
]);

for (const [file, text] of drawn) {
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`${file} is not what bench/results/cpu.json says: run node scripts/draw-bench.mjs`);
    process.exitCode = 1;
  }
}

/** A heading, the baseline, a bar each, and a gap. @param {Request} request */
function rowsOf({ ratios }) {
  return Object.keys(ratios).length + 2.6;
}

function svg() {
  const panels = figures.panels.map((panel, i) => drawPanel(panel, margin + i * (panelWidth + margin)));
  const { date, command, machine, versions } = figures;
  const notes = [
    `${date}, ${command}, ${machine}, without logs. The dotted line is the same server by hand.`,
    `${versions}.`,
    "Each response of Usher has a request id, and it checks the Host and the origin of each request. The others do neither.",
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${alt()}">
<style>
  .card { fill: #ffffff; stroke: #d0d7de }
  text { fill: #1f2328; font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
  .title { font-size: 16px; font-weight: 600 }
  .head { font-weight: 600 }
  .small { fill: #59636e; font-size: 12px }
  .own { fill: #0969da }
  .other { fill: #afb8c1 }
  .line { stroke: #59636e; stroke-dasharray: 2 3 }
  .strong { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .small { fill: #9198a1 }
    .own { fill: #4493f8 }
    .other { fill: #656c76 }
    .line { stroke: #9198a1 }
  }
</style>
<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="title" x="${margin}" y="34">CPU per request: less is better</text>
${panels.join("\n")}
${notes.map((note, i) => `<text class="small" x="${margin}" y="${height - 48 + i * 16}">${note}</text>`).join("\n")}
</svg>
`;
}

/** @param {Panel} panel @param {number} x */
function drawPanel({ title, baseline, requests }, x) {
  let y = 84;
  const parts = [`<text class="head" x="${x}" y="62">${title}</text>`];
  for (const { name, micros, ratios } of requests) {
    const top = y;
    parts.push(`<text class="small" x="${x}" y="${y + 12}">${name}</text>`);
    y += rowHeight;
    for (const [label, ratio] of Object.entries({ [baseline]: 1, ...ratios })) {
      parts.push(
        bar(x, y, label.replace(" by hand", ""), ratio, label === baseline ? `${micros} µs` : ratio.toFixed(2)),
      );
      y += rowHeight;
    }
    const at = x + labelWidth + unit;
    parts.push(`<line class="line" x1="${at}" y1="${top + rowHeight}" x2="${at}" y2="${y - 4}"/>`);
    y += 0.6 * rowHeight;
  }
  return parts.join("\n");
}

/** The value is right of the dotted line. @param {number} x @param {number} y @param {string} label @param {number} ratio @param {string} value */
function bar(x, y, label, ratio, value) {
  const own = label === "Usher";
  const start = x + labelWidth;
  const text = `<text${own ? ' class="strong"' : ""} x="${x}" y="${y + 12}">${label}</text>`;
  const drawn = `<rect class="${own ? "own" : "other"}" x="${start}" y="${y}" width="${(ratio * unit).toFixed(1)}" height="${barHeight}" rx="2"/>`;
  const at = (start + Math.max(ratio, 1) * unit + 7).toFixed(1);
  return `${text}${drawn}<text class="${own ? "strong" : "small"}" x="${at}" y="${y + 12}">${value}</text>`;
}

function alt() {
  return `CPU per request, to the same server by hand. ${figures.panels.map(inWords).join(". ")}`;
}

/** @param {Panel} panel */
function inWords({ title, requests }) {
  const each = requests.map(({ name, ratios }) => {
    const values = Object.entries(ratios).map((pair) => pair.join(" "));
    return `${name}: ${values.join(", ")}`;
  });
  return `${title}, ${each.join("; ")}`;
}

/** The range of each server's ratios. */
function shortAlt() {
  const each = figures.panels.map(({ title, baseline, requests }) => {
    const ranges = Object.keys(requests[0]?.ratios ?? {}).map((name) => {
      const ratios = requests.map((request) => request.ratios[name] ?? Number.NaN);
      return `${name} ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    });
    return `on ${title}, of ${baseline}: ${ranges.join(", ")}`;
  });
  return `CPU per request, ${each.join("; ")}`;
}
