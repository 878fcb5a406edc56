import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { binaries } from "../runtimes/binaries.mjs";
import { Process } from "../server/processes.mjs";
import { candidates } from "./candidates.mjs";

const sizes = [1, 4, 16];
const largeBytes = 100 * 1024 * 1024;

/** Small files, a 304 and a large file: CPU a request, speed and memory. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const folder = mkdtempSync(join(tmpdir(), "usher-bench-files-"));
  for (const size of sizes) writeFileSync(join(folder, `${size}.txt`), "x".repeat(size * 1024));
  writeFileSync(join(folder, "large.bin"), new Uint8Array(largeBytes));
  const size = quick ? { count: 6000, slices: 3, warmUp: 3000 } : { count: 12_000, slices: 6, warmUp: 5000 };
  const play = { node: [], bun: [], large: [] };
  for (let round = 0; round < roundCount; round++) {
    play.node.push(await playRound("node", folder, size, round));
    play.bun.push(await playRound("bun", folder, size, round));
    play.large.push(await playLarge(folder, round, quick ? 3 : 5));
  }
  rmSync(folder, { recursive: true });
  return section(
    [
      "## Files",
      `${size.count.toLocaleString("en")} requests a round and case over 64 kept connections, rounds: ${play.node.length}; medians, ` +
        "with the least and the most. CPU µs a request; a ratio is taken within a round, in which the servers are loaded in turns.",
      "### Node",
      costs(candidates.node, play.node),
      "### Bun",
      costs(candidates.bun, play.bun),
      `### ${largeBytes >> 20} MiB on Node`,
      largeCosts(play.large),
    ],
    [
      smallBars("on Node", candidates.node, play.node),
      smallBars("on Bun", candidates.bun, play.bun),
      largeBars("Speed of 100 MiB, on Node", "MiB/s", "speed", "more", play.large),
      largeBars("CPU of 100 MiB, on Node", "µs per MiB", "cpu", "less", play.large),
    ],
  );
}

function smallBars(where, set, rounds) {
  const groups = Object.keys(rounds[0].usher).map((which) => [
    which,
    byName(
      set,
      Object.keys(set).filter((who) => which in rounds[0][who]),
      (who) => rounds.map((round) => round[who][which]),
    ),
  ]);
  const about = { title: `CPU of a request for a file, ${where}`, unit: "µs", better: /** @type {const} */ ("less") };
  return bars({ ...about, baseline: set.usher.name }, Object.fromEntries(groups));
}

function largeBars(title, unit, figure, better, rounds) {
  const set = candidates.large;
  const values = byName(set, Object.keys(set), (who) => rounds.map((round) => round[who][figure]));
  return bars({ title, unit, better, baseline: set.raw.name }, { "": values });
}

function costs(set, rounds) {
  const cases = Object.keys(rounds[0].usher);
  const ratio = (who, which) =>
    who === "usher" ? "" : digits(median(rounds.map((round) => round[who][which] / round.usher[which])));
  const rows = Object.entries(set).flatMap(([who, { name }]) => [
    [name, ...cases.map((which) => (which in rounds[0][who] ? spread(rounds.map((round) => round[who][which])) : ""))],
    ...(who === "usher"
      ? []
      : [["… to usher", ...cases.map((which) => (which in rounds[0][who] ? ratio(who, which) : ""))]]),
  ]);
  const toEmpty = Object.entries(set).flatMap(([who, { name }]) =>
    "empty" in rounds[0][who]
      ? [
          `A 304 of ${name} to its empty answer: ${spread(rounds.map((round) => round[who]["a 304"] / round[who].empty))}.`,
        ]
      : [],
  );
  return `${table(["CPU µs a request", ...cases], rows)}\n\n${toEmpty.join("\n")}`;
}

/** CPU µs a request by candidate and case. */
async function playRound(set, folder, { count, slices, warmUp }, round) {
  const load = new Process("load.mjs", []);
  const servers = [];
  for (const who of Object.keys(candidates[set])) {
    const options = set === "bun" ? { execPath: binaries.bun().path } : {};
    const process = new Process("../files/serve.mjs", [set, who, folder], options);
    const { port } = await process.next();
    servers.push({ who, process, port, cases: await casesOf(who, port), used: {} });
  }
  for (const server of servers) {
    for (const asked of Object.values(server.cases)) await slice(load, server, asked, warmUp);
  }
  // The cases take turns too: a 304 is compared with an empty answer of the same server.
  for (let i = 0; i < slices; i++) {
    for (const which of rotated(Object.keys(servers[0].cases), round + i)) {
      for (const server of rotated(servers, round + i)) {
        const asked = server.cases[which];
        if (asked === undefined) continue;
        const cpu = await slice(load, server, asked, count / slices);
        server.used[which] = (server.used[which] ?? 0) + cpu / count;
      }
    }
  }
  for (const { process } of servers) await process.stop();
  await load.stop();
  return Object.fromEntries(servers.map(({ who, used }) => [who, used]));
}

async function casesOf(who, port) {
  const asked = {};
  for (const size of sizes) {
    const response = await fetch(`http://127.0.0.1:${port}/${size}.txt`);
    const { length } = await response.text();
    if (response.status !== 200 || length !== size * 1024) throw new Error(`${who} sent ${response.status}, ${length}`);
    asked[`${size} KiB`] = { method: "GET", target: `/${size}.txt`, status: 200, headers: {} };
    const etag = response.headers.get("etag");
    if (etag !== null) {
      // No name that looks like an index, which would be measured first, before the server is warm.
      asked["a 304"] = { method: "GET", target: `/${size}.txt`, status: 304, headers: { "if-none-match": etag } };
    }
  }
  if (who === "usher" || who === "raw") asked.empty = { method: "GET", target: "/empty", status: 204, headers: {} };
  return asked;
}

async function slice(load, { process, port }, asked, count) {
  await load.ask({ open: { port, asked } });
  const before = await process.ask("usage");
  await load.ask({ count });
  const after = await process.ask("usage");
  await load.ask({ close: true });
  return after.cpu - before.cpu;
}

async function playLarge(folder, round, times) {
  const figures = {};
  for (const who of rotated(Object.keys(candidates.large), round)) {
    const server = new Process("../files/serve.mjs", ["large", who, folder]);
    const { port } = await server.next();
    await download(port);
    const before = await server.ask("used");
    const startedAt = performance.now();
    for (let i = 0; i < times; i++) await download(port);
    const seconds = (performance.now() - startedAt) / 1000;
    const after = await server.ask("used");
    await server.stop();
    const mebibytes = (times * largeBytes) / (1 << 20);
    figures[who] = {
      speed: mebibytes / seconds,
      cpu: (after.cpu - before.cpu) / mebibytes,
      peak: after.peak / (1 << 20),
    };
  }
  return figures;
}

/** @param {number} port @returns {Promise<void>} */
function download(port) {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: "/large.bin" }, (response) => {
      let length = 0;
      response.on("data", (/** @type {Buffer} */ part) => (length += part.length));
      response.on("end", () => (length === largeBytes ? resolve() : reject(new Error(`${length} bytes came`))));
    }).on("error", reject);
  });
}

function largeCosts(rounds) {
  const rows = Object.entries(candidates.large).map(([who, { name }]) => {
    const of = (figure) => rounds.map((round) => round[who][figure]);
    const ratios = rounds.map((round) => round[who].speed / round.raw.speed);
    const cpu = rounds.map((round) => round[who].cpu / round.raw.cpu);
    const more = rounds.map((round) => round[who].peak - round.raw.peak);
    return [
      name,
      digits(median(of("speed"))),
      spread(ratios),
      spread(of("cpu")),
      spread(cpu),
      spread(of("peak")),
      spread(more),
    ];
  });
  const head = [
    "",
    "MiB/s",
    "to by hand (bar: ≥ 0.95)",
    "CPU µs a MiB",
    "to by hand",
    "peak memory, MiB",
    "more than by hand (bar: 32)",
  ];
  return table(head, rows);
}
