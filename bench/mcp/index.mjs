import { digits, median, table } from "../harness/figures.mjs";
import { bars, section } from "../harness/series.mjs";
import { fresh } from "../harness/fresh.mjs";

/** A tool's call beside the HTTP request that it makes, and the list of 1,000 tools. @param {{ quick: boolean, rounds?: number }} options */
export async function run({ quick, rounds = quick ? 1 : 7 }) {
  const found = { request: [], call: [], list: [] };
  for (let round = 0; round < rounds; round++) {
    const times = await fresh(new URL("measure.mjs", import.meta.url), [quick ? 4_000 : 8000]);
    for (const what of Object.keys(found)) found[what].push(...times[what]);
  }
  const { request, call, list } = found;
  // A ratio within a slice: other work of the machine affects both alike.
  const ratio = median(call.map((time, i) => time / request[i]));
  return section(
    [
      "## Tools of an agent",
      "Processor time of the server, on a connection that is kept: a `POST` with a validated body, and the call of the tool that it is. The list is of 1,000 tools in one page.",
      table(
        ["a request, µs", "the tool's call, µs", "ratio", "bar", "1,000 tools listed, ms", "bar"],
        [[digits(median(request)), digits(median(call)), digits(ratio), "≤ 1.50", digits(median(list) / 1000), "≤ 20"]],
      ),
    ],
    [
      bars(
        { title: "CPU of a tool's call", unit: "µs", better: "less", baseline: "the request" },
        { "": { "the request": request, "the tool's call": call } },
      ),
    ],
  );
}
