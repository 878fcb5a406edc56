/**
 * The benchmarks: `node bench/run.mjs [part…] [--quick] [--out FILE]`. Builds the package, measures it, and prints markdown. The parts are `database`, `orders`, `dispatch`, `server`, `runtimes`, `uploads`, `fanout`, `logging`, `sockets`, `start`, `shapes`, `forms`, `compress`, `html`, `files`, `overload` and `tokens`; all unless named.
 * `--quick` takes about a minute and is less exact: it shows that everything runs, and large regressions. `picture` runs only if
 * named: it records what README's picture shows.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { versions } from "./harness/versions.mjs";

const parts = [
  "database",
  "orders",
  "dispatch",
  "server",
  "runtimes",
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
];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, out: { type: "string" } },
});
const all = [...parts, "picture"];
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(", ")}; there are ${all.join(", ")}`);

const built = spawnSync("npm", ["run", "--silent", "build"], { stdio: "inherit", cwd: new URL("..", import.meta.url) });
if (built.status !== 0) process.exit(1);

const report = [`# Benchmarks${values.quick ? " (quick)" : ""}`, versions()];
print(report.join("\n\n"));
for (const part of positionals.length > 0 ? positionals : parts) {
  const { run } = await import(`./${part}/index.mjs`);
  const section = await run({ quick: values.quick });
  report.push(section);
  print(section);
}
if (values.out !== undefined) writeFileSync(values.out, `${report.join("\n\n")}\n`);

function print(section) {
  process.stdout.write(`${section}\n\n`);
}
