import { section } from "../../harness/series.mjs";
import { Process } from "../../server/processes.mjs";
import { candidates } from "../../uploads/candidates.mjs";
import { send } from "../../uploads/send.mjs";
import { grown, growthOf } from "../grow.mjs";

const whos = ["raw", "stream"];
const names = Object.fromEntries(whos.map((who) => [who, candidates[who].name]));
/** Small bodies are sent one after another until they are that much, or that many. */
const enough = 1 << 24;
const maxTimes = 1000;
const shown = [
  ["cpu", "CPU of a body", "µs", "less"],
  ["perKib", "CPU of 1 KiB of a body", "µs", "less"],
  ["speed", "Speed of a body", "MiB/s", "more"],
  ["grown", "Memory that a body adds to the peak", "MiB", "less"],
];

/** Bodies of 1 KiB to 1 GiB, hashed as they arrive. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const sizes = quick ? [2 ** 10, 2 ** 20] : [2 ** 10, 2 ** 14, 2 ** 17, 2 ** 20, 2 ** 24, 2 ** 27, 2 ** 30];
  const figures = await grown({ sizes, whos, rounds, play });
  const parts = shown.map(([key, title, unit, better]) =>
    growthOf({ title, unit, better, x: "bytes of the body" }, names, figures, key),
  );
  return section(
    [
      "## Growth with bodies",
      `A body over loopback from another process' connection, hashed (SHA-1) by the handler; rounds: ${rounds}, medians. Small ones are sent ` +
        `one after another, ${enough >> 20} MiB of them or ${maxTimes.toLocaleString("en")}. Memory is how far the peak of the process rose.`,
      ...parts.map(({ text }) => text),
    ],
    parts.map(({ series }) => series),
  );
}

async function play(who, bytes) {
  const server = new Process("../uploads/serve.mjs", [who]);
  const { port } = await server.next();
  const times = Math.max(1, Math.min(maxTimes, Math.floor(enough / bytes)));
  for (let i = 0; i < Math.min(times, 200); i++)
    await send(port, { bytes: Math.min(bytes, 1 << 22), multipart: false });
  const before = await server.ask("used");
  const startedAt = performance.now();
  for (let i = 0; i < times; i++) await send(port, { bytes, multipart: false });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await server.ask("used");
  await server.stop();
  const cpu = (after.cpu - before.cpu) / times;
  return {
    cpu,
    perKib: cpu / (bytes / 1024),
    speed: (bytes * times) / (1 << 20) / seconds,
    grown: Math.max(0, after.peak - before.peak) / (1 << 20),
  };
}
