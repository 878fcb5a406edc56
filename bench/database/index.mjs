import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { candidates } from "./candidates.mjs";
import { database } from "./server.mjs";

const require = createRequire(import.meta.url);
const bin = (name) => join(dirname(require.resolve("vitest/package.json")), "..", ".bin", name);
const runtimes = {
  [`Node ${process.versions.node}`]: [process.execPath],
  Bun: [bin("bun"), "run"],
  Deno: [bin("deno"), "run", "--allow-all", "--node-modules-dir=manual"],
};
const targets = {
  "8 at a time": "≥ 1.0 on Node, 0.95 on Bun and Deno",
  "64 at a time": "≥ 1.0 on Node, 0.95 on Bun and Deno",
  "behind six slow ones, p99 ms": "≤ 60",
};

/** A row by its id through eight connections, on every runtime. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const { url, ...opened } = await database();
  const sections = [
    "## Database",
    `\`select id, name from item where id = $1\` of 10,000 rows, eight connections; statements a second, and in brackets the ratio to \`postgres\` of the same round. Rounds: ${rounds}.`,
  ];
  const series = [];
  for (const [name, command] of Object.entries(runtimes)) {
    const figures = Object.fromEntries(Object.keys(candidates).map((who) => [who, []]));
    for (let round = 0; round < rounds; round++)
      for (const who of rotated(Object.keys(candidates), round))
        figures[who].push(await measured(command, [who, url, quick ? 200 : 500]));
    sections.push(tableOf(name, figures));
    series.push(...seriesOf(name, figures));
  }
  await opened.close();
  return section(sections, series);
}

function tableOf(runtime, figures) {
  const rows = Object.keys(figures.postgres[0]).map((what) => [
    what,
    ...Object.keys(candidates).map((who) => {
      const found = figures[who].map((each) => each[what]);
      const ratios = found.map((figure, round) => figure / figures.postgres[round][what]);
      return what.endsWith("ms") ? spread(found) : `${digits(median(found))} (${spread(ratios)})`;
    }),
    targets[what] ?? "",
  ]);
  return table([runtime, ...Object.values(candidates).map(({ name }) => name), "target"], rows);
}

function seriesOf(runtime, figures) {
  const kinds = Object.keys(figures.postgres[0]);
  const about = { baseline: candidates.postgres.name };
  const groupsOf = (whats) =>
    Object.fromEntries(
      whats.map((what) => [
        what,
        byName(candidates, Object.keys(candidates), (who) => figures[who].map((each) => each[what])),
      ]),
    );
  const [slow, fast] = [kinds.filter((what) => what.endsWith("ms")), kinds.filter((what) => !what.endsWith("ms"))];
  return [
    bars({ title: `Statements a second, ${runtime}`, unit: "per s", better: "more", ...about }, groupsOf(fast)),
    bars({ title: `Time of a statement, ${runtime}`, unit: "ms", better: "less", ...about }, groupsOf(slow)),
  ];
}

async function measured([file, ...before], args) {
  const module = fileURLToPath(new URL("measure.mjs", import.meta.url));
  const child = spawn(file, [...before, module, ...args.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
  const said = text(child.stdout);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${code}`);
  return JSON.parse(await said);
}
