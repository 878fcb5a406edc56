import { digits, median, table } from "../harness/figures.mjs";
import { bars, section } from "../harness/series.mjs";
import { fresh } from "../harness/fresh.mjs";

const rows = {
  group: ["a route in a group", "0"],
  scoped: ["a scoped dependency", "≤ 0.3"],
  deadline: ["a deadline", "≤ 0.2"],
  waiting: ["a deadline, of a handler that waits", "≤ 0.2"],
};

/** What groups, scoped dependencies and deadlines add to a request. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const found = [];
  for (let round = 0; round < rounds; round++)
    found.push(await fresh(new URL("measure.mjs", import.meta.url), [quick ? 2000 : 6000]));
  const of = (name) => found.map((each) => each[name] / 1000);
  const shown = (name) =>
    `${digits(median(of(name)))} (${digits(Math.min(...of(name)))} to ${digits(Math.max(...of(name)))})`;
  const added = Object.fromEntries(Object.entries(rows).map(([name, [what]]) => [what, of(name)]));
  return section(
    [
      "## Around a route",
      `What each adds to a \`GET\` in process, in turns with the same route without it. Processes: ${rounds}.`,
      table(
        ["", "µs", "bar"],
        Object.entries(rows).map(([name, [what, bar]]) => [what, shown(name), bar]),
      ),
    ],
    [bars({ title: "Added to a request", unit: "µs", better: "less" }, { "": added })],
  );
}
