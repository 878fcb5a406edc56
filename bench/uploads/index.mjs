import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { Process } from "../server/processes.mjs";
import { send } from "./send.mjs";
import { candidates } from "./candidates.mjs";

/** A large body, hashed as it arrives: speed and memory. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds: roundCount = quick ? 1 : 7 }) {
  const bytes = quick ? 1 << 26 : 1 << 30;
  const rounds = [];
  for (let round = 0; round < roundCount; round++) rounds.push(await playRound(bytes, round));
  const rows = Object.entries(candidates).map(([who, { name, against }]) => {
    const of = (figure) => rounds.map((round) => round[who][figure]);
    const ratios = rounds.map((round) => round[who].speed / round[against ?? who].speed);
    const target = against === undefined ? "" : "≥ 0.8, < 64 MiB";
    return [name, digits(median(of("speed"))), spread(ratios), spread(of("cpu")), spread(of("grown")), target];
  });
  const bar = (title, unit, figure, better) => {
    const of = (whos) => byName(candidates, whos, (who) => rounds.map((round) => round[who][figure]));
    return bars({ title, unit, better }, { "a stream": of(["raw", "stream"]), multipart: of(["busboy", "multipart"]) });
  };
  return section(
    [
      "## Uploads on Node",
      `${bytes >> 20} MiB sent over loopback by another process and hashed (SHA-1) by the handler as they arrive. Rounds: ` +
        `${rounds.length}; a ratio is taken within a round. Memory is how far the process' peak rose above what it had before.`,
      table(["", "MiB/s", "to by hand", "CPU ns a KiB", "memory, MiB", "target"], rows),
    ],
    [
      bar(`Speed of an upload of ${bytes >> 20} MiB`, "MiB/s", "speed", "more"),
      bar("CPU of an upload", "ns per KiB", "cpu", "less"),
      bar("Memory grown by an upload", "MiB", "grown", "less"),
    ],
  );
}

async function playRound(bytes, round) {
  const figures = {};
  for (const who of rotated(Object.keys(candidates), round)) figures[who] = await play(who, bytes);
  return figures;
}

async function play(who, bytes) {
  const server = new Process("../uploads/serve.mjs", [who]);
  const { port } = await server.next();
  const { multipart } = candidates[who];
  // Warm up: compilation and first allocations must not count.
  await send(port, { bytes: 1 << 22, multipart });
  const before = await server.ask("used");
  const startedAt = performance.now();
  await send(port, { bytes, multipart });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await server.ask("used");
  await server.stop();
  return {
    speed: bytes / (1 << 20) / seconds,
    cpu: ((after.cpu - before.cpu) * 1e3) / (bytes / 1024),
    grown: (after.peak - before.rss) / (1 << 20),
  };
}
