/**
 * Profiles a server: `node bench/profile.mjs [candidate] [text|inputs|post]` prints the functions with the most self time.
 * It uses connections in memory: over real ones the kernel's `writev` takes four fifths. It measures the last build.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digits, table } from "./harness/figures.mjs";
import { fresh } from "./harness/fresh.mjs";

const [, , who = "usher", which = "inputs"] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "usher-profile-"));
const execArgv = ["--expose-gc", "--cpu-prof", "--cpu-prof-interval", "100", `--cpu-prof-dir=${folder}`];
const perRequest = await fresh(new URL("server/in-memory.mjs", import.meta.url), [who, which, 4000], {
  execArgv,
  stderr: "ignore",
});

const file = readdirSync(folder).find((name) => name.endsWith(".cpuprofile"));
const profile = JSON.parse(readFileSync(join(folder, file), "utf8"));
rmSync(folder, { recursive: true });

const own = new Map();
for (const [i, id] of profile.samples.entries()) own.set(id, (own.get(id) ?? 0) + profile.timeDeltas[i]);
const byFunction = new Map();
for (const { id, callFrame } of profile.nodes) {
  const { functionName, url, lineNumber } = callFrame;
  const place = url === "" ? "" : `${url.replace(/^.*\/(?=dist\/|bench\/|node_modules\/)/, "")}:${lineNumber + 1}`;
  const name = `\`${functionName || "(anonymous)"}\` ${place}`;
  byFunction.set(name, (byFunction.get(name) ?? 0) + (own.get(id) ?? 0));
}
byFunction.delete("`(idle)` ");

const total = [...byFunction.values()].reduce((sum, time) => sum + time, 0);
const rows = [...byFunction].toSorted(([, a], [, b]) => b - a).slice(0, 50);
const shown = rows.map(([name, time]) => [
  name,
  digits((perRequest * time) / total),
  `${((100 * time) / total).toFixed(1)} %`,
]);
process.stdout.write(
  `${table([`${who}, ${which}`, "ns a request", "share"], [...shown, ["all", digits(perRequest), "100 %"]])}\n`,
);
