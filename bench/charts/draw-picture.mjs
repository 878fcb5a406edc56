/**
 * Draws `docs/images/cpu.svg`: CPU per request next to other frameworks, from the figures of `bench/results/cpu.json`, and writes
 * what it shows into README: of this repository, or of the folder that is named. `--check` fails where either is not what the
 * figures say.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { frame, isOwn, label, margin, rowHeight, short, width } from "./frame.mjs";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { check: { type: "boolean" } } });
const [root = fileURLToPath(new URL("../..", import.meta.url))] = positionals;
const picture = join(root, "docs/images/cpu.svg");
const readme = join(root, "README.md");
/**
 * @typedef {{ name: string, micros: number, ratios: Record<string, number> }} Request
 * @typedef {{ title: string, baseline: string, requests: Request[] }} Panel
 * @type {{ date: string, command: string, machine: string, versions: string, panels: Panel[] }}
 */
const figures = JSON.parse(readFileSync(join(root, "bench/results/cpu.json"), "utf8"));

const panelWidth = (width - 3 * margin) / 2;
const labelWidth = 92;
const valueWidth = 56;
const barHeight = 15;
const maxRatio = Math.max(
  ...figures.panels.flatMap(({ requests }) => requests.flatMap(({ ratios }) => Object.values(ratios))),
);
const unit = (panelWidth - labelWidth - valueWidth) / maxRatio;

const rows = Math.max(...figures.panels.map(({ requests }) => requests.reduce((sum, one) => sum + rowsOf(one), 0)));
const height = Math.ceil(84 + rows * rowHeight + 76);
const drawn = new Map([
  [picture, svg()],
  [readme, readFileSync(readme, "utf8").replace(/!\[CPU per request[^\]]*\]/, `![${shortAlt()}]`)],
]);

for (const [file, text] of drawn) {
  if (values.check !== true) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`${file} is not what bench/results/cpu.json says: run node bench/charts/draw-picture.mjs`);
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
  const lines = notes.map((text, i) => label({ x: margin, y: height - 48 + i * 16, text, classes: "small" }));
  return frame({ height, title: "CPU per request: less is better", alt: alt(), parts: [...panels, ...lines] });
}

/** @param {Panel} panel @param {number} x */
function drawPanel({ title, baseline, requests }, x) {
  let y = 84;
  const parts = [label({ x, y: 62, text: title, classes: "head" })];
  for (const { name, micros, ratios } of requests) {
    const top = y;
    parts.push(label({ x, y: y + 12, text: name, classes: "small" }));
    y += rowHeight;
    for (const [server, ratio] of Object.entries({ [baseline]: 1, ...ratios })) {
      const value = server === baseline ? `${micros} µs` : ratio.toFixed(2);
      parts.push(...bar({ x, y, server: server.replace(" by hand", ""), ratio, value }));
      y += rowHeight;
    }
    const at = short(x + labelWidth + unit);
    parts.push(`<line class="line" x1="${at}" y1="${top + rowHeight}" x2="${at}" y2="${short(y - 4)}"/>`);
    y += 0.6 * rowHeight;
  }
  return parts.join("\n");
}

/** The value is right of the dotted line. @param {{ x: number, y: number, server: string, ratio: number, value: string }} row */
function bar({ x, y, server, ratio, value }) {
  const own = isOwn(server);
  const start = x + labelWidth;
  return [
    label({ x, y: y + 12, text: server, classes: own ? "strong" : "" }),
    `<rect class="${own ? "own" : "other"}" x="${short(start)}" y="${short(y)}" width="${short(ratio * unit)}" height="${barHeight}" rx="2"/>`,
    label({ x: start + Math.max(ratio, 1) * unit + 7, y: y + 12, text: value, classes: own ? "strong" : "small" }),
  ];
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
