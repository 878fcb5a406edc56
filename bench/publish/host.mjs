/** The machine: what it is, and whether it is quiet enough to publish what it measures. */
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { cases } from "../apps/cases.mjs";
import { maxSpread, spreadOf } from "../harness/quiet.mjs";
import { Process } from "../server/processes.mjs";

const rounds = 7;
const requests = 8000;
const attempts = 5;

/** @returns {Omit<import("./records.mjs").Part["host"], "loadBefore" | "loadAfter">} */
export function host() {
  return {
    cores: cpus().length,
    model: cpus()[0]?.model ?? "?",
    memoryGb: Math.round(totalmem() / 1e9),
    os: `${type()} ${release()}`,
  };
}

/** The load average of the last minute. */
export function load() {
  return Number((loadavg()[0] ?? 0).toFixed(2));
}

/** Microseconds of CPU of a request to the hand-written server, in rounds of a few milliseconds. @returns {Promise<number[]>} */
export async function probe() {
  const server = new Process("serve.mjs", ["raw"], { execArgv: ["--expose-gc"] });
  const { port } = await server.next();
  const client = new Process("load.mjs", []);
  await client.ask({ open: { port, asked: cases.inputs } });
  await client.ask({ count: 4 * requests });
  await server.ask("settle");
  // Behind a collection of all garbage, Node 24 compiles once more.
  await client.ask({ count: 3 * requests });
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    const before = await server.ask("usage");
    await client.ask({ count: requests });
    const after = await server.ask("usage");
    figures.push(Number(((after.cpu - before.cpu) / requests).toPrecision(4)));
  }
  await client.ask({ close: true });
  await client.stop();
  await server.stop();
  return figures;
}

/** The first probe of a quiet host; the last one if it is not quiet in that many attempts. */
export async function quietProbe() {
  let figures = await probe();
  for (let attempt = 1; attempt < attempts && spreadOf(figures) > maxSpread; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 5000));
    figures = await probe();
  }
  return figures;
}
