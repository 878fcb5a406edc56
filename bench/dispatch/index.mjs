import { cases, tableCases } from "../apps/cases.mjs";
import { digits, median, rotated, table } from "../harness/figures.mjs";
import { fresh } from "../harness/fresh.mjs";
import { bars, byName, section } from "../harness/series.mjs";
import { candidates } from "./candidates.mjs";

const measured = { get: cases.get, post: cases.post, ...tableCases };
const targets = {
  "usher-answer": "≤ 350 ns a request with inputs",
  "usher-fetch": "≤ by hand + 150 ns",
};

/** In process: from a request to its answer, no socket. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const ms = quick ? 160 : 300;
  const played = Object.keys(candidates).filter((who) => !quick || !who.endsWith("-logged"));
  const figures = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const which of Object.keys(measured)) {
      for (const who of rotated(played, round)) {
        if (which in tableCases && !candidates[who].hasTable) continue;
        const key = `${who} ${which}`;
        figures.set(key, [
          ...(figures.get(key) ?? []),
          await fresh(new URL("measure.mjs", import.meta.url), [who, which, ms]),
        ]);
      }
    }
  }
  const rows = played.map((who) => [
    candidates[who].name,
    ...Object.keys(measured).map((which) => digits(median(figures.get(`${who} ${which}`) ?? []))),
    targets[who] ?? "",
  ]);
  const names = Object.entries(measured).map(([which, { name }]) => (which in tableCases ? `${name} of 1,000` : name));
  const groups = Object.keys(measured).map((which, at) => [
    names[at],
    byName(
      candidates,
      played.filter((who) => figures.has(`${who} ${which}`)),
      (who) => figures.get(`${who} ${which}`),
    ),
  ]);
  return section(
    [
      "## Dispatch in process",
      `Nanoseconds a request, each in a fresh process; rounds: ${rounds}. A \`POST\` reads and checks its body; its \`Request\` is made ` +
        "outside the clock. On Node h3 answers with a `Response` of its own, which costs a tenth of the platform's.",
      table(["", ...names, "target"], rows),
    ],
    [bars({ title: "A request in process", unit: "ns", better: "less" }, Object.fromEntries(groups))],
  );
}
