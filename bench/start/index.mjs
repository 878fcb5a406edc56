import { digits, median, rotated, spread, table } from "../harness/figures.mjs";
import { fresh } from "../harness/fresh.mjs";
import { bars, section } from "../harness/series.mjs";
import { firstAnswers } from "./first-answer.mjs";
import { frameworks } from "./frameworks.mjs";
import { routers } from "./routers.mjs";
import { workerAnswers } from "./worker.mjs";

const matchTargets = { static: "≤ 20", "one parameter": "≤ 100", "early miss": "≤ 40", "deep miss": "≤ 40" };

/** A program's first answer; many routes: the time to make the app, and to match. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const answers = await firstAnswers(quick ? 3 : 21);
  const parts = [
    answers,
    await workerAnswers(quick ? 3 : 21),
    await opened(1000, rounds),
    await opened(5000, rounds),
    await matched(rounds, quick ? 60 : 200),
  ];
  return section(
    ["## Start and match", ...parts.map(({ text }) => text)],
    parts.flatMap(({ series }) => series),
  );
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
  const steps = ["make", "first", "rss"].map((step) => [
    step,
    Object.fromEntries(Object.keys(figures).map((who) => [who, figures[who].map((each) => each[step])])),
  ]);
  const text = table(
    [`${count.toLocaleString("en")} routes, ms`, "import", "list", "make", "first request", "memory, MB", "target"],
    rows,
  );
  const { rss, ...times } = Object.fromEntries(steps);
  const title = `${count.toLocaleString("en")} routes`;
  return {
    text,
    series: [
      bars({ title: `${title}: to make the app, and to answer first`, unit: "ms", better: "less" }, times),
      bars({ title: `${title}: memory`, unit: "MB", better: "less" }, { "": rss }),
    ],
  };
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
  const groups = kinds.map((kind) => [
    kind,
    Object.fromEntries(
      Object.keys(figures)
        .filter((who) => figures[who][0][kind] !== undefined)
        .map((who) => [routers[who].name, figures[who].map((each) => each[kind])]),
    ),
  ]);
  const text = table(["1,000 routes, ns a match", ...Object.values(routers).map(({ name }) => name), "target"], rows);
  const about = { title: "A match among 1,000 routes", unit: "ns", better: /** @type {const} */ ("less") };
  return { text, series: [bars(about, Object.fromEntries(groups))] };
}

/** Runs every candidate once per round, in rotated order. */
async function played(names, rounds, play) {
  const figures = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) figures[name].push(await play(name));
  }
  return figures;
}
