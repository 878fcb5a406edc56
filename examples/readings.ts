/**
 * Readings of sensors as JSON lines, in and out. An import of any length needs the memory of one line and of a sum for each sensor,
 * a wrong line is a 400 with its number, and an export is made as fast as its client takes it. Run `node examples/readings.ts`, then
 * `curl localhost:8080/readings -H 'content-type: application/x-ndjson' --data-binary @readings.ndjson`.
 */
import { Codec, Path, Query, Refusal, Returns, Shape, get, jsonLines, post, refuse } from "usher-http";
import { serve } from "usher-http/node";
import * as v from "valibot";

const { PORT = "8080", MAX_BYTES = "1073741824" } = process.env;

const sensor = v.pipe(v.string(), v.maxLength(100));
// Of numbers without a bound the sum may be infinite, and JSON has no infinity.
const celsius = v.pipe(v.number(), v.minValue(-273.15), v.maxValue(1e6));
const Reading = v.object({ sensor, celsius, at: Shape.instant });

/** The memory is that of the sensors, whose names a client chooses. */
const maxSensors = 10_000;
const tooMany = Refusal.code("too_many_sensors", {
  status: 409,
  doc: `There would be more than ${maxSensors} sensors.`,
});

interface Total {
  count: number;
  celsius: number;
}
const totals = new Map<string, Total>();

const store = post(
  Path.of("readings"),
  {
    summary: "Add readings",
    inputs: { readings: jsonLines(Reading, { max: Number(MAX_BYTES), maxLine: 1000 }) },
    returns: Returns.json(v.object({ added: v.number() })),
    refuses: [tooMany],
  },
  async ({ readings }) => {
    // Added to the others once every line was read: a wrong line adds nothing.
    const sums = new Map<string, Total>();
    let added = 0;
    for await (const { sensor, celsius } of readings) {
      add(sums, sensor, { count: 1, celsius });
      added++;
      if (sums.size > maxSensors) return refuse(tooMany, "These are too many sensors.");
    }
    const sensors = new Set([...totals.keys(), ...sums.keys()]);
    if (sensors.size > maxSensors) return refuse(tooMany, "With these there are too many sensors.");
    for (const [sensor, sum] of sums) add(totals, sensor, sum);
    return { added };
  },
);

function add(all: Map<string, Total>, sensor: string, { count, celsius }: Total): void {
  const total = all.get(sensor) ?? { count: 0, celsius: 0 };
  all.set(sensor, { count: total.count + count, celsius: total.celsius + celsius });
}

const Mean = v.object({ sensor: v.string(), count: v.number(), celsius: v.number() });

const means = get(
  Path.of("means"),
  {
    summary: "The mean of each sensor",
    inputs: { least: Query.default("least", Codec.int, 1) },
    returns: Returns.jsonLines(Mean, { doc: "A line for each sensor." }),
  },
  async function* ({ least }) {
    for (const [sensor, { count, celsius }] of totals) {
      if (count >= least) yield { sensor, count, celsius: celsius / count };
    }
  },
);

await serve([store, means], { port: Number(PORT) });
