/**
 * Writes the pages of `bench/results`, and draws their charts, from the figures of `bench/results/<date>.json`, or of
 * the folder that is named. `--check` fails where a page or a chart is not what the figures say, or a bar is missed for no
 * written reason.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { reasons } from "../publish/bars.mjs";
import { drawBars } from "./bars.mjs";
import { drawCurves } from "./curves.mjs";

/**
 * @typedef {import("./bars.mjs").Bars | import("./curves.mjs").Curves} Series
 * @typedef {object} Part
 * @property {string} part
 * @property {string} date
 * @property {string} startedAt
 * @property {string} commit
 * @property {string} command
 * @property {Record<string, string>} versions
 * @property {{ cores: number, model: string, memoryGb: number, os: string, loadBefore: number, loadAfter: number }} host
 * @property {number} seconds
 * @property {number[][]} probes
 * @property {string} text
 * @property {Series[]} series
 *
 * @typedef {object} Published
 * @property {string} date
 * @property {string} commit
 * @property {string} command
 * @property {readonly Outcome[]} [bars] Without them where it was published before there were any.
 * @property {Record<string, Part>} parts
 *
 * @typedef {{ id: string, what: string, limit: string, value?: number, low?: number, high?: number, isMet?: boolean }} Outcome
 */

const { values, positionals } = parseArgs({ allowPositionals: true, options: { check: { type: "boolean" } } });
const [results = fileURLToPath(new URL("../results", import.meta.url))] = positionals;
const isCheck = values.check === true;
const dates = readdirSync(results).flatMap((file) => /^(\d{4}-\d\d-\d\d)\.json$/.exec(file)?.[1] ?? []);

for (const date of dates) {
  /** @type {Published} */
  const published = JSON.parse(readFileSync(join(results, `${date}.json`), "utf8"));
  const charts = Object.values(published.parts).flatMap(chartsOf);
  const files = new Map(charts.map(({ file, svg }) => [join(results, date, file), svg]));
  files.set(join(results, `${date}.md`), page(published));
  if (isCheck) {
    check(files);
    checkReasons(published);
  } else {
    rmSync(join(results, date), { recursive: true, force: true });
    mkdirSync(join(results, date), { recursive: true });
    for (const [file, text] of files) writeFileSync(file, text);
  }
}

const index = new Map([[join(results, "README.md"), indexOf(dates)]]);
if (isCheck) check(index);
else for (const [file, text] of index) writeFileSync(file, text);

/** Where the pages are, the newest first. @param {readonly string[]} dates */
function indexOf(dates) {
  const pages = dates.toSorted().toReversed();
  return `# Published figures

The newest page has every part: those that were not measured that day have the figures of the last time, with its date.

${pages.map((date) => `- [${date}](${date}.md)`).join("\n")}
`;
}

/** @param {ReadonlyMap<string, string>} files */
function check(files) {
  for (const [file, text] of files) {
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    console.error(`${file} is not what the figures say: run node bench/charts/draw-results.mjs`);
    process.exitCode = 1;
  }
}

/** @param {Published} published */
function checkReasons({ date, bars = [] }) {
  for (const { id, isMet } of bars) {
    if (isMet !== false || reasons[id] !== undefined) continue;
    console.error(`${date}: the bar "${id}" is missed: write its reason into bench/publish/bars.mjs`);
    process.exitCode = 1;
  }
}

/** @param {Part} part */
function chartsOf({ part, series }) {
  return series.map((one, i) => ({
    file: `${part.replaceAll("/", "-")}-${i + 1}.svg`,
    title: one.title,
    svg: one.kind === "bars" ? drawBars(one) : drawCurves(one),
  }));
}

/** @param {Published} published */
function page({ date, commit, command, bars = [], parts }) {
  const all = Object.values(parts);
  const sections = all.map((part) => {
    const charts = chartsOf(part).map(({ file, title }) => `![${title}](${date}/${file})`);
    // The text has a heading of the second level.
    const [heading = "", ...rest] = part.text.split("\n\n");
    return [heading, measuredOf(part), ...charts, ...rest].join("\n\n");
  });
  return `# Benchmarks of ${date}

\`${command}\` at commit \`${commit}\`. [How it is measured](../README.md#how-it-is-measured); the same as data: [${date}.json](${date}.json).

${[...barsOf(bars), ...sections, ...versionsOf(all)].join("\n\n")}
`;
}

/** A table for each list of versions: parts that were measured together have the same one. @param {readonly Part[]} parts */
function versionsOf(parts) {
  /** @type {Map<string, Part[]>} */
  const lists = new Map();
  for (const part of parts) {
    const rows = Object.entries(part.versions).map((pair) => `| ${pair.join(" | ")} |`);
    const table = ["| | version |", "| --- | --- |", ...rows].join("\n");
    lists.set(table, [...(lists.get(table) ?? []), part]);
  }
  const tables = [...lists].flatMap(([table, parts]) => [`Of ${parts.map(({ part }) => part).join(", ")}:`, table]);
  return ["## Versions", ...(lists.size === 1 ? [...lists.keys()] : tables)];
}

/** @param {readonly Outcome[]} bars */
function barsOf(bars) {
  if (bars.length === 0) return [];
  const rows = bars.map(({ id, what, limit, value, low, high, isMet }) => {
    if (value === undefined) return [what, limit, "not measured", ""];
    const is = `${figure(value)} (${figure(low)} to ${figure(high)})`;
    return [what, limit, isMet ? is : `**${is}**`, isMet ? "" : (reasons[id] ?? "no reason is written yet")];
  });
  const head = ["bar", "limit", "is: median (least to most)", "why it is missed"];
  const table = [head, ["---", "---", "---:", "---"], ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return ["## Bars", "What we require of ourselves. A figure in bold misses its bar.", table.join("\n")];
}

/** @param {number} [value] */
function figure(value = Number.NaN) {
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

/** @param {Part} part */
function measuredOf({ date, commit, host, seconds, probes }) {
  const { cores, model, memoryGb, os, loadBefore, loadAfter } = host;
  const percent = probes.map((rounds) => Math.round((Math.max(...rounds) / Math.min(...rounds) - 1) * 100));
  return [
    `Measured on ${date} at \`${commit}\` in ${Math.round(seconds)} s: ${cores} cores of ${model}, ${memoryGb} GB, ${os}.`,
    `Load before ${loadBefore}, after ${loadAfter}; the rounds of the hand-written server differed by ${percent.join(" % and ")} %.`,
  ].join(" ");
}
