import { digits, median, table } from "../harness/figures.mjs";
import { bars, section } from "../harness/series.mjs";
import { fresh } from "../harness/fresh.mjs";

/** Parsing forms, also hostile ones, compared with the platform's parser. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const found = [];
  for (let round = 0; round < rounds; round++) {
    found.push(await fresh(new URL("measure.mjs", import.meta.url), [quick ? 3 : 5]));
  }
  const rows = Object.keys(found[0]).map((text) => {
    const [platform, usher] = ["URLSearchParams", "usher"].map((who) => median(found.map((each) => each[text][who])));
    return [text, digits(platform), digits(usher), digits(usher / platform)];
  });
  const groups = Object.keys(found[0]).map((text) => {
    return [
      text,
      Object.fromEntries(["URLSearchParams", "usher"].map((who) => [who, found.map((each) => each[text][who])])),
    ];
  });
  return section(
    [
      "## Forms",
      `A form's text of 1 MiB, five fields, milliseconds of CPU; rounds: ${rounds}.`,
      table(["", "`new URLSearchParams`", "usher", "ratio (bar: 2)"], rows),
    ],
    [
      bars(
        { title: "A form of 1 MiB", unit: "ms", better: "less", baseline: "URLSearchParams" },
        Object.fromEntries(groups),
      ),
    ],
  );
}
