import { loadavg } from "node:os";
import { digits, median, rotated, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { candidates, connections, serviceMs } from "./candidates.mjs";
import { load } from "./load.mjs";

/** What a server bears of each route, in requests a second. */
const capacities = { "/waits": (connections * 1000) / serviceMs, "/computes": 1000 / serviceMs };
const times = 5;
const lightly = 0.2;

/** The times of what is admitted under five times the load that a server bears. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const seconds = quick ? 2 : 3;
  const figures = {};
  const loads = [];
  for (let round = 0; round < rounds; round++) {
    for (const who of rotated(Object.keys(candidates), round)) {
      for (const path of Object.keys(capacities)) {
        loads.push(loadavg()[0]);
        ((figures[who] ??= {})[path] ??= []).push(await played(who, path, seconds));
      }
    }
  }
  const bar = (title, unit, key, better) => {
    const groups = Object.keys(capacities).map((path) => [
      path,
      byName(candidates, Object.keys(candidates), (who) => figures[who][path].map((one) => one[key])),
    ]);
    return bars({ title, unit, better }, Object.fromEntries(groups));
  };
  return section(
    [
      "## Overload",
      `An open load for ${seconds} s, ${times} times what the server bears; first a fifth of it, "unloaded". ${rounds} rounds, medians. ` +
        `Load average of the machine before each: ${digits(Math.min(...loads))} to ${digits(Math.max(...loads))}.`,
      ...Object.keys(capacities).map((path) => [titles[path], rows(figures, path)].join("\n\n")),
    ],
    [
      bar("p99 of the 200s under five times the load", "ms", "p99", "less"),
      bar("200s a second under five times the load", "per s", "admitted", "more"),
    ],
  );
}

const titles = {
  "/waits": `A route that waits for one of ${connections} connections for ${serviceMs} ms, ${capacities["/waits"] * times} requests a second:`,
  "/computes": `A route that computes for ${serviceMs} ms, ${capacities["/computes"] * times} requests a second:`,
};

/** One server in a process of its own: unloaded, and past what it bears. */
async function played(who, path, seconds) {
  const server = new Process("../overload/serve.mjs", [who]);
  const { port } = await server.next();
  const capacity = capacities[path];
  await load(port, path, capacity * lightly, 1);
  const light = await load(port, path, capacity * lightly, seconds);
  const heavy = await load(port, path, capacity * times, seconds);
  await server.stop();
  const admitted = timesOf(heavy.answers, 200);
  const refused = timesOf(heavy.answers, 503);
  return {
    unloaded: percentile(timesOf(light.answers, 200), 0.99),
    p50: percentile(admitted, 0.5),
    p99: percentile(admitted, 0.99),
    ratio: percentile(admitted, 0.99) / percentile(timesOf(light.answers, 200), 0.99),
    admitted: admitted.length / seconds,
    refused: refused.length / seconds,
    refusedP99: percentile(refused, 0.99),
    unanswered: heavy.sent - heavy.answers.length,
  };
}

function timesOf(answers, status) {
  return answers.filter((answer) => answer.status === status).map(({ ms }) => ms);
}

/** @param {readonly number[]} figures */
function percentile(figures, part) {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function rows(figures, path) {
  const head = ["", "p99 unloaded, ms", "p50 of the 200s", "p99 of the 200s", "to unloaded (bar: 2)", "200s a second"];
  return table(
    [...head, "503s a second", "p99 of the 503s", "unanswered after 2 s"],
    Object.entries(candidates).map(([who, { name }]) => {
      const of = (key) => digits(median(figures[who][path].map((one) => one[key])));
      const keys = ["unloaded", "p50", "p99", "ratio", "admitted", "refused", "refusedP99", "unanswered"];
      return [name, ...keys.map(of)];
    }),
  );
}
