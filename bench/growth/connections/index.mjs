import { section } from "../../harness/series.mjs";
import { grown, growthOf } from "../grow.mjs";
import { kinds } from "./kinds.mjs";

/** One to 10,000 kept connections, event streams and WebSockets. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const sizes = quick ? [1, 100] : [1, 10, 100, 1000, 10_000];
  const paragraphs = [];
  const series = [];
  for (const { title, names, cost, play } of kinds) {
    // What a few cost in memory is lost in what the process needs anyway.
    const measured = async (who, size) => {
      const { held, ...figures } = await play(who, size, quick ? 2000 : 20_000);
      return size < 100 ? figures : { ...figures, held };
    };
    const figures = await grown({ sizes, whos: Object.keys(names), rounds, play: measured });
    const about = /** @type {const} */ ({ better: "less", x: title });
    const parts = [
      growthOf({ ...about, title: cost, unit: "µs" }, names, figures, "cpu"),
      growthOf({ ...about, title: `Memory held of each of the ${title}`, unit: "KiB" }, names, figures, "held"),
    ];
    paragraphs.push(...parts.map(({ text }) => text));
    series.push(...parts.map((part) => part.series));
  }
  return section(
    [
      "## Growth with connections",
      `The clients are another process. Rounds: ${rounds}, medians, each with new processes. Memory is what a full collection leaves, of each ` +
        "connection that waits.",
      ...paragraphs,
    ],
    series,
  );
}
