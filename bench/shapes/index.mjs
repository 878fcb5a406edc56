import { digits, median, rotated, table } from "../harness/figures.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { fresh } from "../harness/fresh.mjs";
import { candidates } from "./candidates.mjs";

const targets = {
  "check alone, valid": "≤ 576",
  "check alone, invalid": "≤ 1,266, Valibot's",
};

/** Reading and writing JSON by a shape. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const figures = Object.fromEntries(Object.keys(candidates).map((who) => [who, []]));
  for (let round = 0; round < rounds; round++) {
    for (const who of rotated(Object.keys(candidates), round)) {
      figures[who].push(await fresh(new URL("measure.mjs", import.meta.url), [who, quick ? 150 : 400]));
    }
  }
  const rows = Object.keys(figures.usher[0]).map((what) => [
    what,
    ...Object.values(figures).map((found) => digits(median(found.map((each) => each[what] ?? Number.NaN)))),
    targets[what] ?? "",
  ]);
  const groups = Object.keys(figures.usher[0]).map((what) => [
    what,
    byName(
      candidates,
      Object.keys(candidates).filter((who) => figures[who][0][what] !== undefined),
      (who) => figures[who].map((each) => each[what]),
    ),
  ]);
  return section(
    [
      "## Shapes",
      `An order of ten items, 431 bytes; the invalid one has three problems. Nanoseconds, each in a fresh process; rounds: ${rounds}.`,
      table(["", ...Object.values(candidates).map(({ name }) => name), "target"], rows),
    ],
    [bars({ title: "An order of ten items", unit: "ns", better: "less" }, Object.fromEntries(groups))],
  );
}
