/**
 * The benchmarks: `node bench/run.mjs [part…] [--quick] [--rounds N] [--out FILE]`. Builds the package, measures it, and prints
 * markdown: all parts unless some are named. `--quick` is less exact: it shows that everything runs, and large regressions.
 * `soak [--minutes N]` runs only if it is named.
 * `--publish [--continue] [--into FOLDER]` writes the figures to `bench/results`, or to that folder. `--against COMMIT [--bound RATIO]` compares with a commit.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { linkOwn, notInstalled } from "./harness/packages.mjs";
import { versionLine } from "./harness/versions.mjs";
import { partsOf } from "./parts.mjs";
import { binaries } from "./runtimes/binaries.mjs";

const minRounds = 7;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    out: { type: "string" },
    rounds: { type: "string" },
    minutes: { type: "string" },
    publish: { type: "boolean", default: false },
    continue: { type: "boolean", default: false },
    into: { type: "string" },
    against: { type: "string" },
    bound: { type: "string", default: "1.05" },
  },
});
const { quick } = values;
const parts = partsOf(positionals);
const rounds = values.rounds === undefined ? undefined : positive("rounds", values.rounds);
const minutes = values.minutes === undefined ? undefined : positive("minutes", values.minutes);
const bound = positive("bound", values.bound);
if (values.against !== undefined && positionals.length > 0)
  throw new Error("--against measures the servers on Node: name no part with it");
if (minutes !== undefined && !parts.includes("soak")) throw new Error("--minutes is for the part soak");
if (values.against !== undefined && values.publish) throw new Error("--against publishes nothing: leave --publish out");
if ((values.continue || values.into !== undefined) && !values.publish)
  throw new Error("--continue and --into are for --publish");
if (values.publish && quick && values.into === undefined)
  throw new Error("--publish --quick: bench/results has no quick figures; name another folder by --into");
if (values.publish && !quick && rounds !== undefined && rounds < minRounds)
  throw new Error(`--rounds ${rounds}: what is published has at least ${minRounds} rounds`);
// Published figures are of one version of Node, whichever runs npm.
if (values.publish && !process.version.startsWith("v24.")) {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.exit(spawnSync(binaries.node(), args, { stdio: "inherit" }).status ?? 1);
}

const toDo = notInstalled();
if (toDo !== undefined) {
  console.error(toDo);
  process.exit(1);
}
linkOwn();
const built = spawnSync("npm", ["run", "--silent", "build"], { stdio: "inherit", cwd: new URL("..", import.meta.url) });
if (built.status !== 0) process.exit(1);

const report = [];
add([`# Benchmarks${quick ? " (quick)" : ""}`, versionLine()].join("\n\n"));
if (values.publish) await runPublish();
else if (values.against === undefined) await runParts();
else await runAgainst(values.against);
if (values.out !== undefined) writeFileSync(values.out, `${report.join("\n\n")}\n`);

async function runParts() {
  for (const part of parts) {
    const { run } = await import(`./${part}/index.mjs`);
    const { text } = await run({ quick, rounds, minutes });
    add(text);
  }
}

async function runPublish() {
  const { publish } = await import("./publish/index.mjs");
  const isPublished = await publish(parts, {
    rounds,
    minutes,
    quick,
    into: values.into,
    isContinued: values.continue,
    print: add,
  });
  if (!isPublished) process.exitCode = 1;
}

async function runAgainst(commit) {
  const { compare } = await import("./against/index.mjs");
  const { section, isSlower } = await compare(commit, { quick, rounds, bound });
  add(section);
  if (isSlower) process.exitCode = 1;
}

function add(section) {
  report.push(section);
  process.stdout.write(`${section}\n\n`);
}

function positive(name, text) {
  const value = Number(text);
  if (!(value > 0 && value < Infinity)) throw new Error(`--${name} ${text}: it is a number above 0`);
  return value;
}
