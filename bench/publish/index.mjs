/** Measures parts, one after the other, and publishes what they measured, if the host was quiet. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { maxSpread, spreadOf } from "../harness/quiet.mjs";
import { versions } from "../harness/versions.mjs";
import { parts as allParts } from "../parts.mjs";
import { recordPicture } from "../picture/record.mjs";
import { listed } from "./bars.mjs";
import { host, load, probe, quietProbe } from "./host.mjs";
import { outcomesOf } from "./outcomes.mjs";
import { doubtsOf, durationOf, leftOf, mergedWith, store } from "./records.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const ownResults = join(root, "bench/results");
const percent = Math.round((maxSpread - 1) * 100);

/**
 * What measures: the host's rounds before and after a part, and the part itself. Tests give others.
 *
 * @typedef {object} Meter
 * @property {() => Promise<readonly number[]>} quietProbe
 * @property {() => Promise<readonly number[]>} probe
 * @property {(part: string, options: object) => Promise<import("../harness/series.mjs").Section>} run
 * @property {readonly import("./bars.mjs").Bar[]} bars
 * @property {string} kept The folder of the records of runs that are not published yet.
 */

/** @type {Meter} */
const ownMeter = {
  quietProbe,
  probe,
  run: async (part, options) => (await import(`../${part}/index.mjs`)).run(options),
  bars: listed,
  kept: join(root, "node_modules/.cache/usher-bench/publish"),
};

/**
 * @param {readonly string[]} names
 * @param {object} options
 * @param {number | undefined} options.rounds
 * @param {number | undefined} options.minutes Of a soak.
 * @param {boolean} options.quick Quick figures are of any host: they show what a publication looks like.
 * @param {string | undefined} options.into The folder of the pages.
 * @param {boolean} options.isContinued
 * @param {(text: string) => void} options.print
 * @param {Meter} [meter]
 * @returns {Promise<boolean>} Whether it was published.
 */
export async function publish(names, { rounds, minutes, quick, into, isContinued, print }, meter = ownMeter) {
  const results = into === undefined ? ownResults : resolve(into);
  const published = newestOf(results);
  const date = new Date().toISOString().slice(0, 10);
  const commit = commitOf();
  const folder = join(meter.kept, `${date}-${commit}${quick ? "-quick" : ""}`);
  if (!isContinued) rmSync(folder, { recursive: true, force: true });
  const records = store(folder);
  const command = `npm run bench -- --publish${names.length === allParts.length ? "" : ` ${names.join(" ")}`}`;
  const about = { date, commit, command, versions: versions() };
  const left = () => (quick ? names.filter((name) => !has(records.read(), name)) : leftOf(names, records.read()));
  print(plan(left(), published, records.read().length));

  // A part that was measured on a noisy host is measured once more, after the others.
  for (let attempt = 0; attempt < 2; attempt++) {
    for (const part of left()) {
      const before = await (quick ? meter.probe() : meter.quietProbe());
      if (!quick && spreadOf(before) > maxSpread) {
        print(`${part}: the host is not quiet, so it is not measured now`);
        // A run that could not begin is not tried for an hour.
        if (records.read().length === 0) return refused([`rounds of the host's probe: ${before.join(", ")} µs`], print);
        continue;
      }
      const record = await measured(part, { rounds, minutes, quick, about, before, meter });
      records.write(record);
      print(`${record.text}\n\n${[`${part}: ${Math.round(record.seconds)} s`, ...doubtsOf(record)].join("\n")}`);
    }
  }
  const all = records.read().filter(({ part }) => names.includes(part));
  const missing = names.filter((name) => !has(all, name)).map((name) => `${name}: not measured`);
  const doubts = quick ? missing : [...all.flatMap(doubtsOf), ...missing];
  if (doubts.length > 0) return refused(doubts, print);
  const parts = sorted(mergedWith(published, all));
  write(results, { ...about, bars: outcomesOf(meter.bars, parts), parts });
  const { server, runtimes } = Object.fromEntries(all.map((record) => [record.part, record]));
  if (into === undefined && server !== undefined && runtimes !== undefined) recordPicture([server, runtimes]);
  print(`Published: ${join(results, date)}.md`);
  rmSync(folder, { recursive: true, force: true });
  return true;
}

async function measured(part, { rounds, minutes, quick, about, before, meter }) {
  const startedAt = new Date().toISOString();
  const loadBefore = load();
  const start = performance.now();
  const { text, series } = await meter.run(part, { quick, minutes, ...(rounds === undefined ? {} : { rounds }) });
  const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
  const probes = [before, await meter.probe()];
  return {
    part,
    ...about,
    startedAt,
    host: { ...host(), loadBefore, loadAfter: load() },
    seconds,
    probes,
    text,
    series,
  };
}

function refused(doubts, print) {
  print(
    [
      `Not published: rounds of the hand-written server may differ by ${percent} % on a quiet host, and here:`,
      ...doubts.map((doubt) => `- ${doubt}`),
      "End the other work of the machine and add --continue: what was measured well is kept, the rest is measured again.",
    ].join("\n"),
  );
  return false;
}

function plan(left, published, kept) {
  const { seconds, unknown } = durationOf(left, published);
  const minutes = `${Math.ceil(seconds / 60)} minutes by the last published run`;
  const others = unknown.length === 0 ? "" : `; no time is known for ${unknown.join(", ")}`;
  const before = kept === 0 ? "" : ` ${kept} are measured already.`;
  return `To measure: ${left.join(", ")}. ${minutes}${others}.${before}`;
}

function has(records, name) {
  return records.some(({ part }) => part === name);
}

/** The newest publication of a folder. @param {string} results @returns {any} */
function newestOf(results) {
  const files = existsSync(results) ? readdirSync(results).filter((file) => /^\d{4}-\d\d-\d\d\.json$/.test(file)) : [];
  const newest = files.toSorted().at(-1);
  return newest === undefined ? undefined : JSON.parse(readFileSync(join(results, newest), "utf8"));
}

function sorted(records) {
  const order = Object.keys(records).toSorted((a, b) => place(a) - place(b));
  return Object.fromEntries(order.map((part) => [part, records[part]]));
}

/** A part that there is no more is last. */
function place(part) {
  const at = allParts.indexOf(part);
  return at === -1 ? allParts.length : at;
}

function write(results, published) {
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, `${published.date}.json`), `${JSON.stringify(published, undefined, 1)}\n`);
  draw(results);
}

/** The page and its charts. */
function draw(results) {
  const { status } = spawnSync(process.execPath, ["bench/charts/draw-results.mjs", results], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`bench/charts/draw-results.mjs ended with ${status}`);
}

/** With a mark where files differ from it. */
function commitOf() {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results") !== "";
  return `${git("rev-parse", "--short=12", "HEAD")}${changed ? "-changed" : ""}`;
}
