import { fresh } from "../../harness/fresh.mjs";
import { section } from "../../harness/series.mjs";
import { grown, growthOf } from "../grow.mjs";

const names = { usher: "usher", hono: "Hono and Valibot", h3: "h3 and Valibot" };

/** Bodies with one to 1,000 problems, each of which is in the answer. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const sizes = quick ? [1, 100] : [1, 10, 100, 1000];
  const play = (who, count) => fresh(new URL("measure.mjs", import.meta.url), [who, count, quick ? 20 : 200]);
  const figures = await grown({ sizes, whos: Object.keys(names), rounds, play });
  const about = /** @type {const} */ ({ better: "less", x: "problems", unit: "µs" });
  const parts = [
    growthOf({ ...about, title: "CPU of a 400 that lists every problem" }, names, figures, "all"),
    growthOf({ ...about, title: "The same, of one problem" }, names, figures, "each"),
    growthOf({ ...about, title: "Length of that 400", unit: "KiB" }, names, figures, "length"),
  ];
  return section(
    [
      "## Growth with problems",
      `A \`POST\` of a list of that many items, each with one mistake, in process: the body is read and checked, and each problem is in the ` +
        `answer, which is read. Usher has \`maxProblems: 1000\`. Rounds: ${rounds}, medians, each in a fresh process.`,
      ...parts.map(({ text }) => text),
    ],
    parts.map(({ series }) => series),
  );
}
