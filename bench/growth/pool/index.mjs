import { candidates } from "../../database/candidates.mjs";
import { database } from "../../database/server.mjs";
import { fresh } from "../../harness/fresh.mjs";
import { section } from "../../harness/series.mjs";
import { grown, growthOf } from "../grow.mjs";

const names = Object.fromEntries(Object.entries(candidates).map(([who, { name }]) => [who, name]));
const shown = [
  ["perSecond", "Statements a second", "per s", "more"],
  ["cpu", "CPU of a statement", "µs", "less"],
  ["p99", "p99 of a statement", "ms", "less"],
];

/** One to 512 clients of a pool of eight connections. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const sizes = quick ? [1, 64] : [1, 4, 8, 32, 128, 512];
  const { url, ...opened } = await database();
  const play = (who, clients) => fresh(new URL("measure.mjs", import.meta.url), [who, url, clients, quick ? 100 : 400]);
  try {
    const figures = await grown({ sizes, whos: Object.keys(names), rounds, play });
    const parts = shown.map(([key, title, unit, better]) =>
      growthOf({ title, unit, better, x: "clients" }, names, figures, key),
    );
    return section(
      [
        "## Growth with clients of a pool",
        `A row by its id of 10,000 through eight connections, each client one statement after another; rounds: ${rounds}, medians. CPU is of ` +
          "the client's process, PostgreSQL runs on the same machine.",
        ...parts.map(({ text }) => text),
      ],
      parts.map(({ series }) => series),
    );
  } finally {
    await opened.close();
  }
}
