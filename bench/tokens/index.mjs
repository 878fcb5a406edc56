import { digits, median, table } from "../harness/figures.mjs";
import { bars, section } from "../harness/series.mjs";
import { fresh } from "../harness/fresh.mjs";

/** A verified token: `jose` alone, by hand in an input, and by `Jwt.bearer`. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const rows = [];
  const groups = {};
  for (const algorithm of ["HS256", "ES256", "RS256"]) {
    const found = { jose: [], open: [], hand: [], closed: [] };
    for (let round = 0; round < rounds; round++) {
      const times = await fresh(new URL("measure.mjs", import.meta.url), [algorithm, quick ? 4_000 : 8000]);
      for (const who of Object.keys(found)) found[who].push(...times[who]);
    }
    const { jose, open, hand, closed } = found;
    // A ratio within a slice: other work of the machine affects both alike.
    const ratio = median(closed.map((time, i) => time / hand[i]));
    groups[algorithm] = {
      "jwtVerify in an input": hand,
      "usher, Jwt.bearer": closed,
      "jwtVerify alone": jose,
      "without a token": open,
    };
    rows.push([
      algorithm,
      ...[jose, open, hand, closed].map((times) => digits(median(times))),
      digits(ratio),
      "≤ 1.10",
    ]);
  }
  return section(
    [
      "## Tokens",
      "Processor time of all threads in microseconds: `jwtVerify` alone, and `app.fetch` of a route without a token, with `jwtVerify` in an input by hand, and with `Jwt.bearer`.",
      table(["", "`jwtVerify`", "no token", "by hand", "`Jwt.bearer`", "ratio to by hand", "bar"], rows),
    ],
    [
      bars(
        { title: "CPU of a request with a token", unit: "µs", better: "less", baseline: "jwtVerify in an input" },
        groups,
      ),
    ],
  );
}
