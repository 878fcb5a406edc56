import { fresh } from "../../harness/fresh.mjs";
import { section } from "../../harness/series.mjs";
import { grown, growthOf } from "../grow.mjs";

const names = { usher: "usher", hono: "Hono", h3: "h3", fastify: "Fastify" };
const shown = [
  ["make", "To make an app", "ms"],
  ["first", "The first answer of an app", "ms"],
  ["hit", "A path that a route has", "ns"],
  ["miss", "A path that ends beyond a route, 404", "ns"],
  ["nowhere", "A path that no route begins with, 404", "ns"],
  ["refused", "A method that no route of the path has, 405", "ns"],
  ["memory", "Memory of an app", "MB"],
];

/** Ten to 10,000 routes: to make an app, its first answer, matches and misses, memory. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const sizes = quick ? [10, 1000] : [10, 100, 1000, 10_000];
  const play = (who, count) =>
    fresh(new URL("measure.mjs", import.meta.url), [who, count, quick ? 20 : 80], { execArgv: ["--expose-gc"] });
  const figures = await grown({ sizes, whos: Object.keys(names), rounds, play });
  const parts = shown.map(([key, title, unit]) =>
    growthOf({ title, unit, better: "less", x: "routes" }, names, figures, key),
  );
  return section(
    [
      "## Growth with routes",
      `Each in a fresh process, by \`app.fetch\` without a socket; rounds: ${rounds}, medians. Memory is what a full collection leaves of the ` +
        "app and its list. Of Fastify, whose call in process imitates a socket, the calls are not compared. Hono and h3 answer a 404 for a " +
        "method that no route has.",
      ...parts.map(({ text }) => text),
    ],
    parts.map(({ series }) => series),
  );
}
