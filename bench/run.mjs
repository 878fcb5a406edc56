/**
 * The benchmarks: `node bench/run.mjs [part…] [--quick] [--rounds N] [--out FILE]`. Builds the package, measures it, and prints
 * markdown: all parts unless some are named. `--quick` is less exact: it shows that everything runs, and large regressions.
 * `picture` runs only if named: it records what README's picture shows. `--against COMMIT [--bound RATIO]` compares with a commit.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { versions } from "./harness/versions.mjs";

const parts = [
  "database",
  "orders",
  "dispatch",
  "around",
  "server",
  "runtimes",
  "http2",
  "uploads",
  "fanout",
  "logging",
  "sockets",
  "start",
  "shapes",
  "forms",
  "compress",
  "html",
  "files",
  "overload",
  "tokens",
  "mcp",
];
const named = ["picture"];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    out: { type: "string" },
    rounds: { type: "string" },
    against: { type: "string" },
    bound: { type: "string", default: "1.05" },
  },
});
const all = [...parts, ...named];
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(", ")}; there are ${all.join(", ")}`);
const rounds = values.rounds === undefined ? undefined : positive("rounds", values.rounds);
const bound = positive("bound", values.bound);
if (values.against !== undefined && positionals.length > 0)
  throw new Error("--against measures the servers on Node: name no part with it");

const built = spawnSync("npm", ["run", "--silent", "build"], { stdio: "inherit", cwd: new URL("..", import.meta.url) });
if (built.status !== 0) process.exit(1);

const report = [`# Benchmarks${values.quick ? " (quick)" : ""}`, versions()];
print(report.join("\n\n"));
if (values.against === undefined) await runParts();
else await runAgainst(values.against);
if (values.out !== undefined) writeFileSync(values.out, `${report.join("\n\n")}\n`);

async function runParts() {
  for (const part of positionals.length > 0 ? positionals : parts) {
    const { run } = await import(`./${part}/index.mjs`);
    add(await run({ quick: values.quick, rounds }));
  }
}

async function runAgainst(commit) {
  const { compare } = await import("./against/index.mjs");
  const { section, isSlower } = await compare(commit, { quick: values.quick, rounds, bound });
  add(section);
  if (isSlower) process.exitCode = 1;
}

function add(section) {
  report.push(section);
  print(section);
}

function print(section) {
  process.stdout.write(`${section}\n\n`);
}

function positive(name, text) {
  const value = Number(text);
  if (!(value > 0 && value < Infinity)) throw new Error(`--${name} ${text}: it is a number above 0`);
  return value;
}
