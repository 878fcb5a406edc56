/** A program of one route, from `node main.mjs` to its first answer. */
import { get } from "node:http";
import { pathToFileURL } from "node:url";
import { median, rotated, spread, table } from "../harness/figures.mjs";
import { bars } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { withBundles } from "./bundles.mjs";

/** @typedef {{ readonly ms: number, readonly cpu: number, readonly rss: number }} Figures */

const programs = {
  "by-hand": "`node:http` by hand",
  hono: "Hono, node-server",
  fastify: "Fastify",
  usher: "usher",
  "usher-table": "usher, 1,000 routes more",
  "hono-lambda": "Hono, `app.fetch` as on Lambda",
  "usher-lambda": "usher, `app.fetch` as on Lambda",
  "hono-lambda, bundled": "Hono, the same in one file",
  "usher-lambda, bundled": "usher, the same in one file",
};
const names = Object.keys(programs);

/** By program. */
const targets = {
  usher: "time and memory ≤ 1.15 of Hono's",
  "usher-table": "≤ 60 ms more",
  "usher-lambda": "≤ Hono's + 10 ms",
  "usher-lambda, bundled": "≤ Hono's + 10 ms",
};

/** Each program once a round, each time another one first; ratios are taken within a round. @param {number} rounds */
export async function firstAnswers(rounds) {
  return withBundles("node", ["hono-lambda", "usher-lambda"], async (bundles) => {
    /** @type {Record<string, string>} */
    const files = Object.fromEntries(names.map((name) => [name, `../start/hello/${name}.mjs`]));
    for (const [name, file] of Object.entries(bundles)) files[`${name}, bundled`] = pathToFileURL(file).href;
    return report(await played(files, rounds));
  });
}

/** @param {Record<string, string>} files The program's file, by its name. @param {number} rounds */
async function played(files, rounds) {
  /** @type {Record<string, Figures[]>} */
  const figures = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) figures[name].push(await started(files[name]));
  }
  return figures;
}

/** @param {Record<string, Figures[]>} figures */
function report(figures) {
  const toHono = (name, what) => median(figures[name].map((each, i) => each[what] / figures.hono[i][what])).toFixed(2);
  const rows = names.map((name) => [
    programs[name],
    ...["ms", "cpu", "rss"].flatMap((what) => [spread(figures[name].map((each) => each[what])), toHono(name, what)]),
    targets[name] ?? "",
  ]);
  const head = ["one route", "first answer, ms", "to Hono", "CPU, ms", "to Hono", "memory, MB", "to Hono", "target"];
  const bar = (title, unit, what) => {
    const values = names.map((name) => [programs[name], figures[name].map((each) => each[what])]);
    return bars({ title, unit, better: "less", baseline: programs.hono }, { "": Object.fromEntries(values) });
  };
  const series = [
    bar("From start to the first answer", "ms", "ms"),
    bar("CPU until the first answer", "ms", "cpu"),
    bar("Memory after the first answer", "MB", "rss"),
  ];
  return { text: table(head, rows), series };
}

/** @param {string} file @returns {Promise<Figures>} */
async function started(file) {
  const start = performance.now();
  const server = new Process(file, []);
  const { port, answer = await answered(port) } = await server.next();
  const ms = performance.now() - start;
  if (answer !== "Hello.") throw new Error(`${file} answered ${answer}`);
  const { cpu, rss } = await server.ask("figures");
  await server.stop();
  return { ms, cpu, rss };
}

/** @param {number} port @returns {Promise<string>} */
function answered(port) {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, agent: false }, async (response) => {
      resolve(Buffer.concat(await response.toArray()).toString());
    }).once("error", reject);
  });
}
