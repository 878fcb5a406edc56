import { digits, median, medianInterval, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { mounted, passed } from "./candidates.mjs";

const asked = { method: "GET", target: "/hello/world", headers: { accept: "*/*", "user-agent": "bench" }, status: 200 };

/** CPU of a mounted handler, and of an answer that is passed on. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 6 : 24 }) {
  const requests = quick ? 1500 : 4000;
  const load = new Process("load.mjs", []);
  const behind = new Process("../mounts/serve.mjs", ["upstream"]);
  const { port } = await behind.next();
  const play = (candidates) => played(load, candidates, `http://127.0.0.1:${port}`, requests, rounds);
  const ofMounts = await play(mounted);
  const ofPassed = await play(passed);
  await behind.stop();
  await load.stop();
  return section(
    [
      "## Mounts",
      `CPU µs per request, rounds of ${requests} requests over 64 connections: ${rounds}; the ratio is of one round. A handler that reads the URL and answers with a short text. Bar: 1.15 of \`srvx\`.`,
      tableOf(mounted, ofMounts, "srvx"),
      "An answer of 10 KB of another server, passed on. Bar: 1.2 of `node:http` piped by hand.",
      tableOf(passed, ofPassed, "hand"),
    ],
    [
      seriesOf("CPU of a mounted handler", mounted, ofMounts, "srvx"),
      seriesOf("CPU of an answer that is passed on", passed, ofPassed, "hand"),
    ],
  );
}

/** @returns {Promise<Readonly<Record<string, readonly number[]>>>} The CPU of a request by candidate, one figure a round. */
async function played(load, candidates, upstream, requests, rounds) {
  const servers = Object.fromEntries(
    Object.keys(candidates).map((who) => [who, new Process("../mounts/serve.mjs", [who, upstream])]),
  );
  const ports = {};
  for (const [who, server] of Object.entries(servers)) ports[who] = (await server.next()).port;
  const slice = async (who, count) => {
    await load.ask({ open: { port: ports[who], asked } });
    const before = await servers[who].ask("usage");
    await load.ask({ count });
    const after = await servers[who].ask("usage");
    await load.ask({ close: true });
    return (after.cpu - before.cpu) / count;
  };
  for (const who of Object.keys(candidates)) await slice(who, 8000);
  const figures = Object.fromEntries(Object.keys(candidates).map((who) => [who, []]));
  for (let round = 0; round < rounds; round++)
    for (const who of rotated(Object.keys(candidates), round)) figures[who].push(await slice(who, requests));
  for (const server of Object.values(servers)) await server.stop();
  return figures;
}

function tableOf(candidates, figures, to) {
  const rows = Object.entries(candidates).map(([who, { name }]) => {
    const ratios = figures[who].map((figure, round) => figure / figures[to][round]);
    const { low, high } = medianInterval(ratios);
    return [name, spread(figures[who]), `${digits(median(ratios))} (${digits(low)} to ${digits(high)})`];
  });
  return table(["", "CPU µs", `to ${candidates[to].name}`], rows);
}

function seriesOf(title, candidates, figures, to) {
  const group = byName(candidates, Object.keys(candidates), (who) => figures[who]);
  return bars({ title, unit: "µs", better: "less", baseline: candidates[to].name }, { "": group });
}
