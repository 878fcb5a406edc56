import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { fresh } from "../harness/fresh.mjs";
import { firstAnswers } from "./first-answer.mjs";
import { frameworks } from "./frameworks.mjs";
import { routers } from "./routers.mjs";

const matchTargets = { static: "≤ 20", "one parameter": "≤ 100", "early miss": "≤ 40", "deep miss": "≤ 40" };

/** A program's first answer; many routes: the time to make the app, and to match. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 5 }) {
  const sections = ["## Start and match", await firstAnswers(quick ? 3 : 21)];
  for (const count of [1000, 5000]) sections.push(await opened(count, rounds));
  sections.push(await matched(rounds, quick ? 60 : 300));
  return sections.join("\n\n");
}

async function opened(count, rounds) {
  const figures = await played(Object.keys(frameworks), rounds, (who) =>
    fresh(new URL("open.mjs", import.meta.url), [who, count]),
  );
  const rows = Object.entries(figures).map(([who, steps]) => {
    const of = (step) => (steps[0][step] === undefined ? "–" : spread(steps.map((each) => each[step])));
    const target = who === "usher" && count === 1000 ? "make ≤ 10, better 5; first ≤ 2" : "";
    return [who, ...["import", "list", "make", "first", "rss"].map(of), target];
  });
  return table(
    [`${count.toLocaleString("en")} routes, ms`, "import", "list", "make", "first request", "memory, MB", "target"],
    rows,
  );
}

async function matched(rounds, ms) {
  const figures = await played(Object.keys(routers), rounds, (who) =>
    fresh(new URL("match.mjs", import.meta.url), [who, ms]),
  );
  const kinds = Object.keys(figures.usher[0]);
  const rows = kinds.map((kind) => [
    kind,
    ...Object.values(figures).map((found) => digits(median(found.map((each) => each[kind] ?? Number.NaN)))),
    matchTargets[kind] ?? "",
  ]);
  return table(["1,000 routes, ns a match", ...Object.values(routers).map(({ name }) => name), "target"], rows);
}

/** Runs every candidate once per round, in rotated order. */
async function played(names, rounds, play) {
  const figures = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) figures[name].push(await play(name));
  }
  return figures;
}
