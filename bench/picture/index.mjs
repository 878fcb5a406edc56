/** Records the figures of README's picture of CPU per request, and draws it. It takes four minutes on a quiet machine. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { digits, median } from "../harness/figures.mjs";
import { versionOf } from "../harness/versions.mjs";
import { binaries } from "../runtimes/binaries.mjs";
import { runtimes } from "../runtimes/candidates.mjs";
import { costs } from "../server/tables.mjs";
import { candidates as onNode } from "../server/candidates.mjs";
import { Process } from "../server/processes.mjs";
import { measured, playRound } from "../server/round.mjs";

const root = new URL("../../", import.meta.url);
const figures = new URL("bench/results/cpu.json", root);

/** The names of the cases and of the candidates in the picture. */
const requests = { text: "GET, plain text", inputs: "GET, three inputs", post: "POST, validated JSON" };
const names = { usher: "Usher", fastify: "Fastify", hono: "Hono", h3: "h3", elysia: "Elysia" };

const panels = [
  {
    title: "Node",
    baseline: "node:http by hand",
    candidates: only(onNode, ["raw", "usher", "fastify", "hono", "h3"]),
    launch: (who) => start("serve.mjs", [who], binaries.node(), ["--expose-gc"]),
  },
  {
    title: "Bun",
    baseline: "Bun.serve by hand",
    candidates: only(runtimes.bun, ["raw", "usher", "elysia", "hono"]),
    launch: (who) => start("../runtimes/serve.mjs", ["bun", who], binaries.bun().path, binaries.bun().args),
  },
];

/** @param {{ quick: boolean, rounds?: number }} options With `quick`, it prints the figures and records nothing. */
export async function run({ quick, rounds: roundCount = quick ? 1 : 5 }) {
  const size = quick ? { count: 6000, slices: 2, warmUp: 2000 } : { count: 50_000, slices: 10, warmUp: 10_000 };
  const played = panels.map(() => []);
  const load = loadavg()[0] ?? 0;
  for (let round = 0; round < roundCount; round++) {
    for (const [i, { candidates, launch }] of panels.entries())
      played[i]?.push(await playRound({ ...size, round, candidates, launch }));
  }
  if (!quick) record(played);
  const tables = panels.map(({ title, candidates }, i) => {
    const each = Object.entries(measured).map(([which, { name }]) => costs(which, name, candidates, played[i]));
    return [`### ${title}`, ...each].join("\n\n");
  });
  const warning =
    load > 0.5 ? [`The load was ${load.toFixed(1)} at the start: other work takes part in the figures.`] : [];
  return ["## The picture of CPU per request", ...warning, ...tables].join("\n\n");
}

function only(candidates, whos) {
  return Object.fromEntries(whos.map((who) => [who, candidates[who]]));
}

function start(script, args, execPath, execArgv) {
  return new Process(script, args, { execPath, execArgv });
}

function record(played) {
  const recorded = {
    date: new Date().toISOString().slice(0, 10),
    command: "npm run bench -- picture",
    machine: `a machine with ${cpus().length} cores`,
    versions: versionsOfAll(),
    note: "Recorded by bench/picture. Microseconds of the server by hand, and the ratios to it: medians of five rounds.",
    panels: panels.map((panel, i) => panelOf(panel, played[i])),
  };
  writeFileSync(figures, `${JSON.stringify(recorded, undefined, 2)}\n`);
  const tools = [
    ["node_modules/.bin/oxfmt", [fileURLToPath(figures)]],
    [process.execPath, ["scripts/draw-bench.mjs"]],
  ];
  for (const [tool, args] of tools) spawnSync(tool, args, { cwd: root, stdio: "inherit" });
}

function panelOf({ title, baseline, candidates }, rounds) {
  const of = (which) => {
    const cpu = (who) => rounds.map((round) => round.get(who).used[which].cpu);
    const byHand = cpu("raw");
    const ratios = Object.keys(candidates)
      .filter((who) => who !== "raw")
      .map((who) => [names[who], Number(median(cpu(who).map((used, i) => used / byHand[i])).toFixed(2))]);
    return { name: requests[which], micros: Number(digits(median(byHand))), ratios: Object.fromEntries(ratios) };
  };
  return { title, baseline, requests: Object.keys(measured).map(of) };
}

function versionsOfAll() {
  const { stdout } = spawnSync(binaries.node(), ["--version"], { encoding: "utf8" });
  const packages = { Bun: "bun", Fastify: "fastify", Hono: "hono", h3: "h3", Elysia: "elysia" };
  const each = Object.entries(packages).map(([name, of]) => `${name} ${versionOf(of)}`);
  return [`Node ${stdout.trim().replace("v", "")}`, ...each].join(", ");
}
