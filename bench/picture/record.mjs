/** What README's picture shows, made of the records of `server` and `runtimes`, in `results/cpu.json`. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { digits, median } from "../harness/figures.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The names of the cases and of the candidates, in a series and in the picture. */
const requests = {
  "GET /": "GET, plain text",
  "GET /id/7?name=x": "GET, three inputs",
  "POST /orders": "POST, validated JSON",
};
const panels = [
  {
    title: "Node",
    series: "CPU of a request, on Node",
    baseline: "node:http by hand",
    names: { usher: "Usher", Fastify: "Fastify", "Hono, node-server": "Hono", h3: "h3" },
  },
  {
    title: "Bun",
    series: "CPU of a request, on Bun",
    baseline: "Bun.serve by hand",
    names: { usher: "Usher", Elysia: "Elysia", Hono: "Hono" },
  },
];

/** @param {readonly import("../publish/records.mjs").Part[]} records */
export function pictureOf(records) {
  const series = records.flatMap((record) => record.series);
  const [{ date, command, versions, host }] = records;
  return {
    date,
    command,
    machine: `a machine with ${host.cores} cores`,
    versions: ["Node", "Bun", "Fastify", "Hono", "h3", "Elysia"].map((name) => `${name} ${versions[name]}`).join(", "),
    note: "Recorded by npm run bench -- --publish. Microseconds of the server by hand, and the ratios to it: medians of the rounds.",
    panels: panels.map(({ title, series: of, baseline, names }) => {
      const found = series.find((one) => one.kind === "bars" && one.title === of);
      if (found === undefined) throw new Error(`no record has the series "${of}"`);
      return { title, baseline, requests: found.groups.map((group) => requestOf(group, baseline, names)) };
    }),
  };
}

function requestOf({ name, rows }, baseline, names) {
  const valuesOf = (row) => rows.find(({ name }) => name === row)?.values ?? [];
  const byHand = valuesOf(baseline);
  const ratios = Object.entries(names).map(([row, shown]) => {
    return [shown, Number(median(valuesOf(row).map((value, round) => value / byHand[round])).toFixed(2))];
  });
  return { name: requests[name], micros: Number(digits(median(byHand))), ratios: Object.fromEntries(ratios) };
}

/**
 * Writes them, and draws the picture.
 *
 * @param {readonly import("../publish/records.mjs").Part[]} records
 * @param {string} [into] The repository.
 */
export function recordPicture(records, into = root) {
  writeFileSync(join(into, "bench/results/cpu.json"), `${JSON.stringify(pictureOf(records), undefined, 2)}\n`);
  const { status } = spawnSync(process.execPath, ["bench/charts/draw-picture.mjs", into], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`bench/charts/draw-picture.mjs ended with ${status}`);
}
