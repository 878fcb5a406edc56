/** The records of a run: what each part measured, on what host, and whether that can be published. */
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digits } from "../harness/figures.mjs";
import { maxSpread, spreadOf } from "../harness/quiet.mjs";

/**
 * @typedef {object} Part
 * @property {string} part
 * @property {string} date
 * @property {string} startedAt
 * @property {string} commit
 * @property {string} command
 * @property {Readonly<Record<string, string>>} versions
 * @property {{ cores: number, model: string, memoryGb: number, os: string, loadBefore: number, loadAfter: number }} host
 * @property {number} seconds
 * @property {readonly (readonly number[])[]} probes CPU of the hand-written server, round by round: before and after.
 * @property {string} text
 * @property {readonly import("../harness/series.mjs").Series[]} series
 *
 * @typedef {{ readonly parts: Readonly<Record<string, Part>> }} Published
 */

/** @param {readonly number[]} rounds */
function isNoisy(rounds) {
  return !(spreadOf(rounds) <= maxSpread);
}

/** Why a record cannot be published: one sentence each. @param {Part} record @returns {readonly string[]} */
export function doubtsOf({ part, probes, series }) {
  const percent = (rounds) => `${Math.round((spreadOf(rounds) - 1) * 100)} %`;
  const span = (rounds, unit) => `${digits(Math.min(...rounds))} to ${digits(Math.max(...rounds))} ${unit}`;
  if (probes.length === 0) return [`${part}: the host was not probed`];
  const ofHost = probes
    .filter(isNoisy)
    .map((rounds) => `${part}: rounds of the host's probe differ by ${percent(rounds)} (${span(rounds, "µs")})`);
  const judging = series.filter((one) => one.kind === "bars" && one.judgesHost === true);
  const ofSeries = judging.flatMap(({ title, unit, baseline, groups }) =>
    groups.flatMap(({ name, rows }) =>
      rows
        .filter((row) => row.name === baseline && isNoisy(row.values))
        .map(({ values }) => {
          return `${part}: rounds of ${baseline}, ${name}, differ by ${percent(values)} (${title}, ${span(values, unit)})`;
        }),
    ),
  );
  return [...ofHost, ...ofSeries];
}

/** The parts to measure: those without a record that can be published. @param {readonly string[]} names @param {readonly Part[]} records */
export function leftOf(names, records) {
  const done = new Set(records.filter((record) => doubtsOf(record).length === 0).map(({ part }) => part));
  return names.filter((name) => !done.has(name));
}

/** What a publication has: the new records, and of other parts the newest ones. @param {Published | undefined} previous @param {readonly Part[]} records */
export function mergedWith(previous, records) {
  return { ...previous?.parts, ...Object.fromEntries(records.map((record) => [record.part, record])) };
}

/** How long parts took when they were published last. @param {readonly string[]} names @param {Published | undefined} previous */
export function durationOf(names, previous) {
  const known = names.flatMap((name) => previous?.parts[name] ?? []);
  return {
    seconds: known.reduce((sum, { seconds }) => sum + seconds, 0),
    unknown: names.filter((name) => previous?.parts[name] === undefined),
  };
}

/** A part of a folder of parts is one file, too. @param {string} part */
function fileOf(part) {
  return part.replaceAll("/", "-");
}

/** The records of a run that is not published yet, in a file each. @param {string} folder */
export function store(folder) {
  mkdirSync(folder, { recursive: true });
  return {
    /** @returns {readonly Part[]} */
    read() {
      const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
      return files.toSorted().map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
    },
    /** @param {Part} record */
    write(record) {
      // A process that ends while it writes leaves no half a record.
      const file = join(folder, `${fileOf(record.part)}.json`);
      writeFileSync(`${file}.part`, JSON.stringify(record));
      renameSync(`${file}.part`, file);
    },
  };
}
