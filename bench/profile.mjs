/**
 * Where a server's time goes: `node bench/profile.mjs [candidate] [text|inputs|post]` prints the functions that take the
 * most of it by themselves, in microseconds a request. Measures what was built last.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { table } from "./harness/figures.mjs";
import { Process } from "./server/processes.mjs";
import { measured } from "./server/round.mjs";

const [, , who = "usher", which = "inputs"] = process.argv;
const count = 200_000;
const folder = mkdtempSync(join(tmpdir(), "usher-profile-"));

const options = {
  stderr: join(folder, "lines"),
  execArgv: ["--cpu-prof", "--cpu-prof-interval", "200", `--cpu-prof-dir=${folder}`],
};
const server = new Process("serve.mjs", [who], options);
const { port } = await server.next();
const load = new Process("load.mjs", []);
await load.ask({ open: { port, asked: measured[which] } });
await load.ask({ count });
await server.stop().finally(() => load.stop());

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
const shown = rows.map(([name, time]) => [name, (time / count).toFixed(3), `${((100 * time) / total).toFixed(1)} %`]);
process.stdout.write(
  `${table([`${who}, ${which}`, "µs a request", "share"], [...shown, ["all", (total / count).toFixed(3), "100 %"]])}\n`,
);
